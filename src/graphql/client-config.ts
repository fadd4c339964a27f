/**
 * The cache policies that Apollo Client and urql need to hold Portolan's answers right; printed by `portolan client-config`.
 *
 * Why each is there: `ObjectMeta` and the nested shapes have no `id`, so without `merge` a detail query would erase what a list
 * read of the same object; connections are lists of their arguments; StringMap, JSON and the like are plain values.
 */

const nested = '.+_.+';

/** TypeScript source: `cacheConfig` for `new InMemoryCache(cacheConfig)` of Apollo Client 3 and 4. */
export function apolloConfig(lists: readonly string[]): string {
  return `// Apollo Client cache policies for Portolan. Use: new InMemoryCache(cacheConfig)
const merge = true;

function connection() {
  const key = (args) => JSON.stringify([args?.filter ?? null, args?.orderBy ?? null, args?.kinds ?? null]);
  return {
    keyArgs: (args) => key(args),
    read(existing) {
      return existing;
    },
    merge(existing, incoming, { args }) {
      // A page that begins at a cursor continues the list; any other answer is the list's new beginning.
      if (existing === undefined || (!args?.after && !args?.before)) return incoming;
      const known = new Set((existing.edges ?? []).map((edge) => edge.cursor));
      const fresh = (incoming.edges ?? []).filter((edge) => !known.has(edge.cursor));
      const refs = new Set((existing.nodes ?? []).map((node) => node.__ref));
      const nodes = (incoming.nodes ?? []).filter((node) => !refs.has(node.__ref));
      const join = (old, add) => (args.after ? [...(old ?? []), ...add] : [...add, ...(old ?? [])]);
      const pageInfo = args.after
        ? { ...incoming.pageInfo, startCursor: existing.pageInfo?.startCursor ?? null, hasPreviousPage: existing.pageInfo?.hasPreviousPage ?? false }
        : { ...incoming.pageInfo, endCursor: existing.pageInfo?.endCursor ?? null, hasNextPage: existing.pageInfo?.hasNextPage ?? false };
      return {
        ...existing,
        ...incoming,
        ...(incoming.edges ? { edges: join(existing.edges, fresh) } : {}),
        ...(incoming.nodes ? { nodes: join(existing.nodes, nodes) } : {}),
        ...(incoming.pageInfo ? { pageInfo } : {}),
      };
    },
  };
}

export const cacheConfig = {
  possibleTypes: { Shape: [${JSON.stringify(nested)}] },
  typePolicies: {
    Query: {
      fields: {
        ${[...lists, 'objects'].map((name) => `${name}: connection(),`).join('\n        ')}
        object: { read: (known, { args, toReference, cache }) => known },
      },
    },
    Shape: { merge },
    ObjectMeta: { merge },
    Condition: { keyFields: false },
    OwnerReference: { keyFields: false },
    Column: { keyFields: false },
  },
};
`;
}
