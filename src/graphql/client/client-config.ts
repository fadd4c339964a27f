/**
 * The output of `portolan client-config --apollo` and `--urql`: one module of plain JavaScript for an application that uses this gateway.
 * It holds the cache policies of the application's GraphQL client and the helpers for live lists. With `--types` it is the module's
 * declarations instead. The parts are files of the package @portolan/client. Printing joins them, so that the copied module has no imports,
 * and its declarations import from the client alone.
 */
import { readFileSync } from 'node:fs';

const folder = new URL('../../../web/client/', import.meta.url);

const usage = {
  apollo: `//
//   import { cacheConfig, withPortolan, applyChanges, hold, foldChanges, reconnect, resumable } from './portolan.js';
//
//   const live = resumable(createClient({ url: 'ws://localhost:4000/graphql', ...reconnect }));
//   const client = new ApolloClient({
//     cache: withPortolan(new InMemoryCache(cacheConfig)),
//     link: ApolloLink.split(
//       ({ operationType }) => operationType === 'subscription',
//       new GraphQLWsLink(live),
//       new HttpLink({ uri: '/graphql' }),
//     ),
//   });
`,
  urql: `//
//   import { cacheConfig, hold, foldChanges, reconnect, resumable } from './portolan.js';
//
//   const live = resumable(createClient({ url: 'ws://localhost:4000/graphql', ...reconnect }));
//   const client = new Client({
//     url: '/graphql',
//     preferGetMethod: false,
//     exchanges: [
//       cacheExchange(cacheConfig),
//       fetchExchange,
//       subscriptionExchange({
//         forwardSubscription: ({ query = '', variables }) => ({
//           subscribe: (sink) => ({ unsubscribe: live.subscribe({ query, variables }, sink) }),
//         }),
//       }),
//     ],
//   });
`,
};

/** Parts that only other parts use. */
const shared = ['list-pages.js', 'shared-policies.js'];

/** A module with `cacheConfig` for Apollo Client 4: `withPortolan(new InMemoryCache(cacheConfig))`. */
export function apolloConfig(): string {
  return printed('Apollo Client', usage.apollo, [...shared, 'apollo-cache.js', 'fold-changes.js', 'resumable.js']);
}

/** A module with `cacheConfig` for urql's graphcache: `cacheExchange(cacheConfig)`. */
export function urqlConfig(): string {
  return printed('urql', usage.urql, [...shared, 'urql-cache.js', 'fold-changes.js', 'resumable.js']);
}

const beside = `// These are the declarations of the module; save them beside it under the same name: portolan.js, portolan.d.ts.
`;

/** Declarations for the module of Apollo Client, to stand beside it as `portolan.d.ts`. */
export function apolloTypes(): string {
  return printed('Apollo Client', beside, ['apollo.d.ts', 'index.d.ts']);
}

/** Declarations for the module of urql. */
export function urqlTypes(): string {
  return printed('urql', beside, ['urql.d.ts', 'index.d.ts']);
}

function printed(client: string, how: string, parts: readonly string[]): string {
  const head = `// Portolan for ${client}: cache policies and live lists.
// Printed by \`portolan client-config\`; copy it into your application.
${how}`;
  return [head, ...parts.map(part)].join('\n');
}

/** The source of a part without imports and exports of other parts. Shared parts lose their exports too. */
function part(name: string): string {
  const source = readFileSync(new URL(name, folder), 'utf8')
    .replace(/^import .* from '\.\/.*;\n+|\nexport \* from '\.\/.*;\n/gm, '')
    .replaceAll("import('./list-pages.js').", '');
  return shared.includes(name) ? source.replace(/^export /gm, '') : source;
}
