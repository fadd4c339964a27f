/** Documents about Pods, and a gateway's answers to them. */

export const listDocument = `
  query List($filter: PodFilter, $first: Int, $after: String, $last: Int, $before: String) {
    pods(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
      __typename
      totalCount
      changesCursor
      nodes { __typename id metadata { __typename name } spec { __typename nodeName containers { __typename name image } }
        status { __typename conditions { __typename type status } } }
      pageInfo { __typename startCursor endCursor hasNextPage hasPreviousPage }
    }
  }`;
export const edgesDocument = listDocument
  .replace('nodes {', 'edges { __typename cursor node {')
  .replace('pageInfo', '} pageInfo');
export const detailDocument = `
  query Detail($name: String!) {
    pod(namespace: "a", name: $name) {
      __typename id metadata { __typename labels }
      spec { __typename containers { __typename name resources { __typename limits } } }
      status { __typename phase conditions { __typename type reason } }
    }
  }`;
export const interfaceDocument = `
  query Mixed {
    objects(kinds: ["pods", "foos"]) { __typename nodes { __typename ...Shared } }
  }
  fragment Shared on KubernetesObject { id kind metadata { __typename name } }`;

export const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
export const conditions = [
  { __typename: 'PodCondition', type: 'Ready', status: 'True' },
  { __typename: 'PodCondition', type: 'Initialized', status: 'False' },
];

function pod(name: string): Record<string, unknown> {
  return {
    __typename: 'Pod',
    id: name,
    metadata: { __typename: 'ObjectMeta', name },
    spec: {
      __typename: 'PodSpec',
      nodeName: `node-${name}`,
      containers: [{ __typename: 'Container', name: 'main', image: `image-${name}` }],
    },
    status: { __typename: 'PodStatus', conditions },
  };
}

/** The gateway's page for these arguments, over these names. */
export function page(
  names: readonly string[],
  args: Record<string, unknown>,
  edges = false,
  changesCursor = 'r1',
): object {
  const after = typeof args['after'] === 'string' ? args['after'] : null;
  const before = typeof args['before'] === 'string' ? args['before'] : null;
  const inside = names.filter((name) => (after === null || name > after) && (before === null || name < before));
  const shown =
    typeof args['last'] === 'number'
      ? inside.slice(-args['last'])
      : inside.slice(0, (args['first'] as number | undefined) ?? 3);
  const first = shown[0];
  const last = shown.at(-1);
  return {
    __typename: 'PodConnection',
    totalCount: names.length,
    changesCursor,
    ...(edges
      ? { edges: shown.map((name) => ({ __typename: 'PodEdge', cursor: name, node: pod(name) })) }
      : { nodes: shown.map(pod) }),
    pageInfo: {
      __typename: 'PageInfo',
      startCursor: first ?? null,
      endCursor: last ?? null,
      hasNextPage: names.some((name) => last !== undefined && name > last),
      hasPreviousPage: names.some((name) => first !== undefined && name < first),
    },
  };
}

export const detail = (name: string): object => ({
  pod: {
    __typename: 'Pod',
    id: name,
    metadata: { __typename: 'ObjectMeta', labels: { app: 'x' } },
    spec: {
      __typename: 'PodSpec',
      containers: [
        {
          __typename: 'Container',
          name: 'proxy',
          resources: { __typename: 'ResourceRequirements', limits: { cpu: '1' } },
        },
        {
          __typename: 'Container',
          name: 'main',
          resources: { __typename: 'ResourceRequirements', limits: { cpu: '2' } },
        },
      ],
    },
    status: {
      __typename: 'PodStatus',
      phase: 'Running',
      // In another order, and with one that is new.
      conditions: ['PodScheduled', 'Initialized', 'Ready'].map((type) => ({
        __typename: 'PodCondition',
        type,
        reason: `because-${type}`,
      })),
    },
  },
});

export const change = (message: object): object => ({
  podChanges: {
    __typename: 'PodChanges',
    reset: false,
    phase: 'LIVE',
    cursor: 'r2',
    removedIds: [],
    changes: [],
    ...message,
  },
});
export const removed = (id: string, reason = 'DELETED') => ({
  __typename: 'PodChange',
  type: 'REMOVED',
  id,
  reason,
  object: null,
});
export const added = (id: string) => ({ __typename: 'PodChange', type: 'ADDED', id, reason: null, object: pod(id) });
export const changesDocument = `
  subscription Watch($filter: PodFilter, $since: String) {
    podChanges(filter: $filter, since: $since) {
      __typename phase reset cursor removedIds
      changes { __typename type id reason object { __typename id metadata { __typename name } } }
    }
  }`;
