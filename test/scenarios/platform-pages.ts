/** What a console of the platform asks. */

const rolledUp = 'status reason message culprit { kind metadata { name } } chain { kind metadata { name } }';

/** Of the state of all CloudManagers and applications; it is live over WebSocket. */
export const overview = `
  query Overview @live(throttle: 0) {
    cloudmanagercontrollerHuayunComCloudManagers(orderBy: [{ path: "metadata.name" }]) {
      totalCount
      nodes {
        metadata { name }
        status { phase }
        health { status source }
        owned: health(rollUp: OWNED) { ${rolledUp} }
        related: health(rollUp: RELATED) { ${rolledUp} }
      }
    }
    appInstances(orderBy: [{ path: "metadata.name" }]) {
      totalCount
      nodes { metadata { name } engine version health { status } object { kind } }
    }
  }
`;

export interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

export interface RolledUp {
  readonly status: string;
  readonly reason: string | null;
  readonly message: string | null;
  readonly culprit: Named | null;
  readonly chain: readonly Named[] | null;
}

export interface ManagerRow {
  readonly metadata: { readonly name: string };
  readonly status: { readonly phase: string } | null;
  readonly health: { readonly status: string; readonly source: string };
  readonly owned: RolledUp;
  readonly related: RolledUp;
}

export interface Overview {
  readonly cloudmanagercontrollerHuayunComCloudManagers: {
    readonly totalCount: number;
    readonly nodes: readonly ManagerRow[];
  };
  readonly appInstances: { readonly totalCount: number; readonly nodes: readonly unknown[] };
}

const names = '{ nodes { metadata { name } } }';

/** The joins of all kinds of the platform, in both directions, and the Events. */
export const joins = `
  {
    foos: samplecontrollerK8sIoFoos { nodes { metadata { name } deployment { metadata { name } } } }
    managers: cloudmanagercontrollerHuayunComCloudManagers {
      nodes {
        metadata { name }
        deployments ${names}
        statefulSets ${names}
        secrets ${names}
        owned(first: 50) { nodes { kind metadata { name } owners { nodes { kind metadata { name } } } } }
        storageClass { metadata { name } }
        events(first: 200) { totalCount nodes { metadata { name } } }
        allEvents: events(includeOwned: true, first: 200) { totalCount nodes { metadata { name } } }
      }
    }
    redises: appsTitanideCnRedis { nodes { metadata { name } template { metadata { name } } references { name state } } }
    mysqls: appsTitanideCnMySQLs { nodes { metadata { name } template { metadata { name } } references { name state } } }
    templates: appsTitanideCnTemplates { nodes { metadata { name } usedBy { nodes { kind metadata { name } } } } }
    deployments(filter: { namespaces: ["shop"] }) {
      nodes { metadata { name } cloudManager { metadata { name } } foos ${names} }
    }
    pods(filter: { namespaces: ["shop"] }) { nodes { metadata { name } persistentVolumeClaims ${names} } }
  }
`;

interface Names {
  readonly nodes: readonly Pick<Named, 'metadata'>[];
}

type One = Pick<Named, 'metadata'> | null;

type List<Fields> = { readonly nodes: readonly (Pick<Named, 'metadata'> & Fields)[] };

interface Application {
  readonly template: One;
  readonly references: readonly { readonly name: string; readonly state: string }[];
}

export interface Joins {
  readonly foos: List<{ readonly deployment: One }>;
  readonly managers: List<{
    readonly deployments: Names;
    readonly statefulSets: Names;
    readonly secrets: Names;
    readonly owned: { readonly nodes: readonly (Named & { readonly owners: { readonly nodes: readonly Named[] } })[] };
    readonly storageClass: One;
    readonly events: Names & { readonly totalCount: number };
    readonly allEvents: Names & { readonly totalCount: number };
  }>;
  readonly redises: List<Application>;
  readonly mysqls: List<Application>;
  readonly templates: List<{ readonly usedBy: { readonly nodes: readonly Named[] } }>;
  readonly deployments: List<{ readonly cloudManager: One; readonly foos: Names }>;
  readonly pods: List<{ readonly persistentVolumeClaims: Names }>;
}

/** Filters, orders, pages and groups of CloudManagers, and a filter through two relations. */
export const managerPage = `
  query ($phase: String!, $manager: String!, $after: String) {
    page: cloudmanagercontrollerHuayunComCloudManagers(
      orderBy: [{ path: "spec.front.deployment.name", direction: DESC }]
      first: 2
      after: $after
    ) {
      totalCount
      nodes { metadata { name } }
      pageInfo { hasNextPage endCursor }
      aggregate { groups(by: ["status.phase"]) { keys aggregate { count } } }
    }
    inPhase: cloudmanagercontrollerHuayunComCloudManagers(filter: { status: { phase: { eq: $phase } } }) {
      nodes { metadata { name } }
    }
    databases: pods(
      filter: { statefulSet: { is: { cloudManager: { is: { metadata: { name: { eq: $manager } } } } } } }
    ) {
      nodes { metadata { name } }
    }
  }
`;

export interface ManagerPage {
  readonly page: Names & {
    readonly totalCount: number;
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    readonly aggregate: {
      readonly groups: readonly { readonly keys: readonly unknown[]; readonly aggregate: { readonly count: number } }[];
    };
  };
  readonly inPhase: Names;
  readonly databases: Names;
}
