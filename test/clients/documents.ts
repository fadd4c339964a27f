/** What the clients ask. */

/** A page of the list, through `nodes` alone. */
export const listPods = /* GraphQL */ `
  query ListPods($filter: PodFilter, $first: Int, $after: String) {
    pods(filter: $filter, first: $first, after: $after) {
      changesCursor
      nodes {
        id
        metadata { name labels }
        spec { nodeName containers { name image } }
        status { phase conditions { type status } }
      }
      pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
    }
  }
`;

/** The same list with other fields of the same objects, none of which the list has. */
export const podDetail = /* GraphQL */ `
  query PodDetail($namespace: String!, $name: String!) {
    pod(namespace: $namespace, name: $name) {
      id
      ...Common
      metadata { uid }
      spec { containers { name resources { limits } } }
      status { podIP conditions { type reason } }
    }
  }
  fragment Common on KubernetesObject {
    kind
    metadata { creationTimestamp }
  }
`;

export const watchPods = /* GraphQL */ `
  subscription WatchPods($filter: PodFilter, $since: String) {
    podChanges(filter: $filter, since: $since) {
      phase
      reset
      cursor
      removedIds
      changes {
        type
        id
        reason
        object { id metadata { name labels } status { phase } }
      }
    }
  }
`;

/** A page that stays true. */
export const livePods = /* GraphQL */ `
  query LivePods($filter: PodFilter, $first: Int) @live(throttle: 50) {
    pods(filter: $filter, first: $first, offset: 0, orderBy: [{ path: "metadata.name", direction: DESC }]) {
      totalCount
      nodes { id metadata { name labels } }
    }
  }
`;

/** What a live query shows. */
export interface LivePods {
  readonly totalCount: number;
  readonly nodes: readonly Pick<PodRow, 'id' | 'metadata'>[];
}

export interface PodRow {
  readonly id: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> | null };
  readonly spec?: { readonly nodeName: string | null; readonly containers: readonly object[] };
  readonly status: { readonly phase: string | null; readonly conditions?: readonly object[] };
}

export interface PodList {
  readonly changesCursor: string;
  readonly nodes: readonly PodRow[];
  readonly pageInfo: { readonly endCursor: string | null; readonly hasNextPage: boolean };
}

export interface Message {
  readonly phase: string;
  readonly cursor: string;
}

/** What a page of the test can do with one client and a live query. Everything in and out is plain JSON. */
export interface LiveDriver {
  /** Begins a live query for the objects with the last names. */
  follow(size: number): void;
  /** Its results, as the client gave them; the newest one is last. */
  followed(): readonly LivePods[];
  /** Breaks the connection, as a network does. */
  cut(): void;
  stop(): Promise<void>;
}

/** What a page of the test can do with a client whose cache has a policy of Portolan. */
export interface Driver extends LiveDriver {
  /** Reads a page from the gateway and gives the list as the cache shows it then. */
  load(after: string | null): Promise<PodList>;
  /** The list as the cache has it, without asking the gateway; null when something of it is missing. */
  list(): PodList | null;
  /** An object's other fields from the gateway; null when there is no such object. */
  detail(name: string): Promise<Readonly<Record<string, unknown>> | null>;
  /** The same from the cache alone; undefined when something of it is missing. */
  cachedDetail(name: string): Readonly<Record<string, unknown>> | null | undefined;
  /** Begins a live list: everything, or what was listed from where it was listed. */
  watch(
    name: string,
    options: { readonly ids?: readonly string[]; readonly since?: string; readonly rows?: readonly PodRow[] },
  ): void;
  live(name: string): {
    readonly rows: readonly PodRow[];
    readonly phases: readonly string[];
    readonly whole: boolean;
    readonly failed: string | null;
  };
}
