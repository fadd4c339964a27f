/** The arrows of the house: which room may import which, and which of its files; which packages stay in one room. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { circles, type Graph, importsOf } from './import-graph.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const source = join(root, 'src');

const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  config: ['base'],
  kube: ['base'],
  catalog: ['base'],
  store: ['base', 'catalog'],
  log: ['base', 'store'],
  ingest: ['base', 'kube', 'catalog', 'store'],
  query: ['base', 'catalog', 'access', 'store'],
  access: ['base', 'catalog', 'store'],
  auth: ['base', 'kube', 'store', 'access', 'upstream'],
  live: ['base', 'catalog', 'store', 'query', 'access'],
  operation: ['base', 'catalog', 'access', 'store', 'query', 'live', 'upstream'],
  admission: ['base', 'access', 'query', 'operation'],
  reads: ['base', 'catalog', 'access', 'store', 'query', 'live', 'operation'],
  writes: ['base', 'catalog', 'kube', 'access', 'store', 'query', 'live', 'upstream', 'operation'],
  sets: ['base', 'catalog', 'kube', 'access', 'store', 'query', 'live', 'upstream', 'operation', 'reads', 'writes'],
  logs: ['base', 'catalog', 'kube', 'access', 'store', 'query', 'upstream', 'operation'],
  graphql: [
    'base',
    'catalog',
    'access',
    'store',
    'query',
    'live',
    'upstream',
    'operation',
    'reads',
    'logs',
    'writes',
    'sets',
  ],
  answers: ['base', 'access', 'operation', 'admission', 'graphql'],
  server: [
    'base',
    'config',
    'catalog',
    'access',
    'store',
    'operation',
    'admission',
    'answers',
    'reads',
    'writes',
    'graphql',
    'live',
  ],
  aggregate: [
    'base',
    'catalog',
    'kube',
    'access',
    'auth',
    'store',
    'query',
    'live',
    'upstream',
    'operation',
    'admission',
    'writes',
    'sets',
    'server',
  ],
  upstream: ['base', 'catalog', 'kube', 'access'],
  telemetry: ['base'],
  sim: ['base'],
  cli: [
    'base',
    'config',
    'kube',
    'catalog',
    'store',
    'ingest',
    'query',
    'access',
    'auth',
    'live',
    'upstream',
    'operation',
    'admission',
    'reads',
    'logs',
    'writes',
    'sets',
    'graphql',
    'server',
    'aggregate',
    'telemetry',
    'sim',
  ],
  'main.ts': ['base', 'cli'],
};

/**
 * The public face of each room: the files that other rooms may import, `'*'` for all. Everything else is internal to its room. One
 * file a line.
 */
// biome-ignore format: one file a line, so that changes of several branches merge.
const faces: Readonly<Record<string, '*' | readonly string[]>> = {
  base: '*',
  config: '*',
  kube: [
    'client/connection.ts',
    'client/explain.ts',
    'client/registered-connections.ts',
    'client/rest-client.ts',
    'credentials/bearer-token.ts',
    'credentials/impersonation.ts',
    'credentials/own-token.ts',
    'discovery/cluster-secret.ts',
    'discovery/cluster-secrets.ts',
    'discovery/discovery.ts',
    'discovery/identity.ts',
    'discovery/openapi.ts',
    'http/api-error.ts',
    'http/api-service.ts',
    'http/resource-path.ts',
  ],
  catalog: '*',
  store: [
    'file/file-seal.ts',
    'objects/field-managers.ts',
    'objects/prepare.ts',
    'pages/page-columns.ts',
    'pages/page-select.ts',
    'pages/page-template.ts',
    'read/catalog-rows.ts',
    'read/changes.ts',
    'read/cluster-rows.ts',
    'read/followed-log-rows.ts',
    'read/layout.ts',
    'read/reader.ts',
    'read/resource-progress.ts',
    'types/change.ts',
    'types/followed-log.ts',
    'types/incoming-object.ts',
    'types/kind-layout.ts',
    'types/lease.ts',
    'types/member-reads.ts',
    'types/owned-tree.ts',
    'types/page-reader.ts',
    'types/prepared-object.ts',
    'types/progress.ts',
    'types/published.ts',
    'types/sql.ts',
    'types/statement.ts',
    'types/store-fault.ts',
    'types/writer.ts',
    'write/writer.ts',
  ],
  ingest: [
    'cluster/describe-cluster.ts',
    'cluster/inventory.ts',
    'context/progress.ts',
    'context/selection.ts',
    'context/unmatched-kinds.ts',
    'context/declared-abstract-kinds.ts',
    'context/declared-health-rules.ts',
    'context/declared-relations.ts',
    'thread/ingest-news.ts',
    'thread/start-ingest.ts',
  ],
  query: [
    'evaluate/matches-identity.ts',
    'evaluate/matches.ts',
    'evaluate/members-read.ts',
    'history/change-cursor.ts',
    'history/change-pages.ts',
    'history/entries-around.ts',
    'history/entries-of-version.ts',
    'history/reach.ts',
    'history/recorded-change.ts',
    'plan/aggregate.ts',
    'plan/check-filter.ts',
    'plan/check-page.ts',
    'plan/comparison.ts',
    'plan/cursor.ts',
    'plan/field-selector.ts',
    'plan/filter-shape.ts',
    'plan/filter.ts',
    'plan/fingerprint.ts',
    'plan/hop.ts',
    'plan/identity-order.ts',
    'plan/label-selector.ts',
    'plan/not-ready.ts',
    'plan/object-id.ts',
    'plan/plan.ts',
    'plan/scan-budget.ts',
    'read/aggregate-kinds.ts',
    'read/count.ts',
    'read/explain.ts',
    'read/facet.ts',
    'read/fetch.ts',
    'read/group-page.ts',
    'read/kept-counts.ts',
    'read/kind-state.ts',
    'read/known-namespaces.ts',
    'read/line-page.ts',
    'read/list.ts',
    'read/match-ids.ts',
    'read/object-counts.ts',
    'read/object-rows.ts',
    'read/readiness.ts',
    'related/any-objects.ts',
    'related/dangling.ts',
    'related/graph.ts',
    'related/owned-tree.ts',
    'related/owners.ts',
    'related/reference-counts.ts',
    'related/references.ts',
    'related/related-lines.ts',
    'related/related-list.ts',
    'related/used-by.ts',
    'related/whole-list.ts',
    'route/plan-note.ts',
    'sql/access-path.ts',
    'sql/search.ts',
    'sql/view.ts',
  ],
  access: '*',
  auth: '*',
  live: [
    'cells/merged-list.ts',
    'feed/change-feed.ts',
    'feed/running-list.ts',
    'log/fold.ts',
    'log/live-change.ts',
    'log/live-cursor.ts',
    'list/live-list.ts',
    'list/live-request.ts',
    'objects/live-objects.ts',
    'query/query-cohort.ts',
    'query/live-queries.ts',
    'query/live-run.ts',
    'query/watched-changes.ts',
    'signals/commit-signals.ts',
  ],
  answers: '*',
  admission: ['admission.ts', 'admitted-request.ts', 'audit.ts', 'caller-limits.ts'],
  operation: [
    'answers/answer-extensions.ts',
    'answers/answer-text.ts',
    'answers/kept-answers.ts',
    'answers/staleness.ts',
    'hidden-ends.ts',
    'list-readiness.ts',
    'manifest-schemas.ts',
    'operation-source.ts',
    'operation.ts',
    'parts/index-advisor.ts',
    'parts/operation-cost.ts',
    'parts/operation-trace.ts',
    'parts/slow-queries.ts',
    'require-visible.ts',
    'secret-data.ts',
    'served-kinds.ts',
    'sync-watch.ts',
    'unknown-names.ts',
    'write-access.ts',
    'write-gate.ts',
  ],
  writes: [
    'diff/field-changes.ts',
    'diff/field-owners.ts',
    'diff/withheld-values.ts',
    'followed-mutation.ts',
    'manifests/json-copy.ts',
    'manifests/manifest-bounds.ts',
    'manifests/manifest-threads.ts',
    'mutation.ts',
    'outcome/write-error.ts',
    'plan/plan-id.ts',
    'plan/plan-one.ts',
    'request/request-id.ts',
    'request/write-intent.ts',
    'run/revert.ts',
    'run/run-writes.ts',
    'run/seen.ts',
    'run/write-item.ts',
    'run/write-options.ts',
    'run/write-order.ts',
    'run/write-token.ts',
    'send/send-write.ts',
    'session/plan-items.ts',
    'session/reported-item.ts',
    'session/session-report.ts',
    'session/write-session.ts',
    'targets/served-resources.ts',
    'targets/wanted-targets.ts',
  ],
  log: [],
  logs: [
    'followed-logs.ts',
    'lines/log-time.ts',
    'lines/resume-point.ts',
    'pods/log-request.ts',
    'pods/selected-pods.ts',
    'stream/log-message.ts',
  ],
  // Of the record: set-record.ts (types, reading), record-spec.ts (writing), set-names.ts (labels, manager). Both of the projection.
  sets: [
    'apply-set.ts',
    'definition.ts',
    'delete-set.ts',
    'members/member-kinds.ts',
    'members/member-state.ts',
    'projection/field-set.ts',
    'projection/project.ts',
    'reads/member-of.ts',
    'reads/set-health.ts',
    'reads/set-history.ts',
    'reads/set-members.ts',
    'record/record-keeper.ts',
    'record/set-names.ts',
    'record/set-record.ts',
    'record/shadow-record-crd.ts',
    'revert-set.ts',
    'steps/set-work.ts',
  ],
  reads: [
    'aggregates/aggregate-groups.ts',
    'aggregates/aggregate-paths.ts',
    'aggregates/aggregate-source.ts',
    'aggregates/aggregated.ts',
    'aggregates/facet-source.ts',
    'history/past-objects.ts',
    'history/past-state.ts',
    'history/recorded-changes.ts',
    'lists/list-connection.ts',
    'lists/list-scope.ts',
    'lists/list.ts',
    'lists/object-selection.ts',
    'lists/objects-by-identity.ts',
    'lists/object-source.ts',
    'lists/visible-namespaces.ts',
    'paths/filter-values.ts',
    'paths/kinds-path.ts',
    'paths/leaf-conditions.ts',
    'paths/order-terms.ts',
    'related/graph-source.ts',
    'related/owned-events.ts',
    'related/owner-relation.ts',
    'related/reference-source.ts',
    'related/relation-source.ts',
    'related/rolled-up-health.ts',
  ],
  graphql: [
    'client/client-config.ts',
    'client/codegen-config.ts',
    'document/ask-cost.ts',
    'document/documents.ts',
    'document/document-shape.ts',
    'engine.ts',
    'generation/generation.ts',
    'generation/shared-results.ts',
    'generation/subscribe.ts',
    'introspection/introspection-answers.ts',
    'introspection/introspection-query.ts',
    'introspection/profiles.ts',
    'introspection/root-parts.ts',
    'prepared/answer-plan.ts',
    'prepared/prepared-cells.ts',
    'prepared/prepared-answers.ts',
    'prepared/prepared-queries.ts',
    'types/live-directive.ts',
    'schema/build-generation.ts',
    'introspection/semantic-non-null.ts',
  ],
  upstream: [
    'caller-clients.ts',
    'caller-credentials.ts',
    'kind-schemas.ts',
    'openapi-documents.ts',
    'read-object.ts',
  ],
  server: [
    'connections/arriving-bodies.ts',
    'connections/callerless-connections.ts',
    'connections/drain.ts',
    'connections/unsent-answers.ts',
    'doors/door.ts',
    'health/metrics.ts',
    'health/readiness.ts',
    'health/summed-metrics.ts',
    'health/set-metrics.ts',
    'health/write-metrics.ts',
    'http-server.ts',
    'listen.ts',
    'negotiation/client-authorities.ts',
    'negotiation/credentials.ts',
    'negotiation/entity-tag.ts',
    'negotiation/request-url.ts',
    'negotiation/tls-files.ts',
    'negotiation/tls-server.ts',
    'written-examples.ts',
  ],
  aggregate: [
    'aggregate-server.ts',
    'certificates/own-certificates.ts',
    'protocol/served-api.ts',
    'set-requests.ts',
    'sets/member-states.ts',
    'sets/set-cache.ts',
    'sets/set-changes.ts',
    'sets/set-reads.ts',
    'trust/door-tls.ts',
    'trust/extension-authentication.ts',
    'watchdog.ts',
    'write-requests.ts',
    'writes/set-events.ts',
    'writes/set-writes.ts',
  ],
  telemetry: [
    'open-tracing.ts',
    'trace-settings.ts',
  ],
  sim: [
    'spawn-sim.ts',
  ],
  cli: [
    'program.ts',
  ],
};

const onlyIn: Readonly<Record<string, readonly string[]>> = {
  'better-sqlite3': ['store'],
  '@kubernetes/client-node': ['kube'],
  oauth4webapi: ['kube'],
  undici: ['kube'],
  '@pothos/core': ['graphql'],
  'graphql-yoga': ['server'],
  'prom-client': ['server'],
  '@opentelemetry': ['telemetry'],
  graphql: ['graphql', 'answers', 'server', 'cli'],
};

/**
 * The packages that the folders of `web` import. They run in browsers and in other people's applications, so they import no code of the
 * gateway. No room imports them, because the map of rooms does not name them.
 */
const webMayImport: Readonly<Record<string, readonly string[]>> = {
  client: ['@apollo/client', '@urql/exchange-graphcache'],
  playground: [
    '@graphiql',
    'graphiql',
    'graphql',
    'graphql-ws',
    'monaco-editor',
    'monaco-graphql',
    'monaco-yaml',
    'react',
    'react-dom',
  ],
};

/** Rooms of pure data and functions: no file system, network, process or thread. */
const pure = ['catalog', 'query'];
const withoutIo = new Set(['node:crypto', 'node:buffer', 'node:util']);

interface Import {
  readonly file: string;
  readonly room: string;
  readonly target: string;
}

/** The files of the rooms, by room and path in it: those of `src`, and those of `sim`, which stands beside it. */
const files = [
  ...readdirSync(source, { recursive: true, encoding: 'utf8' }),
  ...readdirSync(join(root, 'sim'), { recursive: true, encoding: 'utf8' }).map((name) => join('sim', name)),
].filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.split(sep).includes('testing'));
const imports: readonly Import[] = files.flatMap((name) =>
  importsOf(pathOf(name)).map((target) => ({ file: name, room: name.split(sep)[0] ?? name, target })),
);

function pathOf(file: string): string {
  return join(file.startsWith(`sim${sep}`) ? root : source, file);
}

/** The file that is imported, by room and path in it. Begins with `..` where it is in no room. */
function targetOf(file: string, target: string): string {
  const path = resolve(dirname(pathOf(file)), target);
  return path.startsWith(join(root, 'sim', sep)) ? relative(root, path) : relative(source, path);
}

function roomOf({ file, target }: Import): string | null {
  if (!target.startsWith('.')) return null;
  const path = targetOf(file, target);
  return path.startsWith('..') ? 'outside' : (path.split(sep)[0] ?? null);
}

/** The files that each file imports, by room and path in it. */
function graphOfFiles(all: readonly Import[]): Graph {
  const graph = new Map<string, string[]>();
  for (const { file, target } of all) {
    if (!target.startsWith('.')) continue;
    graph.set(file, [...(graph.get(file) ?? []), targetOf(file, target)]);
  }
  return graph;
}

/** The room and the folder of a file. The folder is empty for a file directly in the room. */
function folderOf(file: string): readonly [room: string, folder: string] {
  const [room = '', folder, rest] = file.split(sep);
  return [room, rest === undefined || folder === undefined ? '' : folder];
}

/** Each import of a file of another room; both by room and path in it. */
function importsBetweenRooms(): readonly { readonly file: string; readonly target: string }[] {
  return [...graphOfFiles(imports)].flatMap(([file, targets]) =>
    targets.filter((target) => folderOf(target)[0] !== folderOf(file)[0]).map((target) => ({ file, target })),
  );
}

/** May other rooms import this file? */
function isPublic(path: string): boolean {
  const [room = '', ...rest] = path.split(sep);
  const face = faces[room] ?? [];
  return face === '*' || face.includes(rest.join('/'));
}

describe('the arrows of the house', () => {
  test('there are files to look at', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(new Set(imports.map(({ room }) => room)).size).toBeGreaterThan(10);
  });

  test('every room is on the map', () => {
    expect([...new Set(imports.map(({ room }) => room))].filter((room) => !(room in mayImport))).toEqual([]);
  });

  test('rooms import only what the map allows', () => {
    const broken = imports.filter((each) => {
      const target = roomOf(each);
      return target !== null && target !== each.room && !(mayImport[each.room] ?? []).includes(target);
    });
    expect(broken.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
  });

  test('every room has a public face', () => {
    const rooms = new Set(files.filter((name) => name.includes(sep)).map((name) => folderOf(name)[0]));
    expect(Object.keys(faces).sort()).toEqual([...rooms].sort());
  });

  test('other rooms import only the files of the public face', () => {
    const broken = importsBetweenRooms().filter(({ target }) => !isPublic(target));
    expect(broken.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
  });

  test('a public face lists only files that another room imports', () => {
    const imported = new Set(importsBetweenRooms().map(({ target }) => target));
    const listed = Object.entries(faces).flatMap(([room, face]) =>
      face === '*' ? [] : face.map((file) => `${room}/${file}`),
    );
    expect(listed.filter((file) => !imported.has(file.split('/').join(sep)))).toEqual([]);
  });

  test('packages stay in their rooms', () => {
    const broken = imports.filter(({ room, target }) => {
      const owner = Object.keys(onlyIn).find((name) => target === name || target.startsWith(`${name}/`));
      return owner !== undefined && !(onlyIn[owner] ?? []).includes(room);
    });
    expect(broken.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
  });

  test('the folders of web import only what the map allows', () => {
    const web = join(root, 'web');
    expect(readdirSync(web).sort()).toEqual(Object.keys(webMayImport));
    const names = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter(
      (name) => /(?<!\.test-d)\.[jt]s$/.test(name) && !/[\\/]dist\b/.test(name),
    );
    const found = names.flatMap((name) => {
      const [folder = ''] = name.split(sep);
      return importsOf(join(web, name)).map((target) => ({ name, folder, target }));
    });
    expect(new Set(found.map(({ folder }) => folder)).size).toBe(Object.keys(webMayImport).length);
    const broken = found.filter(({ name, folder, target }) =>
      target.startsWith('.')
        ? !resolve(web, dirname(name), target).startsWith(join(web, folder, sep))
        : !webMayImport[folder]?.some((each) => target === each || target.startsWith(`${each}/`)),
    );
    expect(broken.map(({ name, target }) => `${name} -> ${target}`)).toEqual([]);
  });

  test('pure rooms do no I/O', () => {
    const broken = imports.filter(
      ({ room, target }) => pure.includes(room) && target.startsWith('node:') && !withoutIo.has(target),
    );
    expect(broken.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
  });

  test('the folders of a room import each other one way, and none imports the files beside the folders', () => {
    const folders = new Map<string, string[]>();
    for (const [file, targets] of graphOfFiles(imports)) {
      const [room, folder] = folderOf(file);
      for (const target of targets) {
        const [otherRoom, otherFolder] = folderOf(target);
        if (room !== otherRoom || folder === otherFolder || folder === '') continue;
        const key = `${room}/${folder}`;
        folders.set(key, [...(folders.get(key) ?? []), otherFolder === '' ? target : `${room}/${otherFolder}`]);
      }
    }
    expect(circles(folders)).toEqual([]);
    const toRoot = [...folders].flatMap(([folder, targets]) =>
      targets.filter((target) => target.endsWith('.ts')).map((target) => `${folder} -> ${target}`),
    );
    expect(toRoot).toEqual([]);
  });

  test('no folder has more than sixteen source files', () => {
    const counts = new Map<string, number>();
    for (const name of files) counts.set(dirname(name), (counts.get(dirname(name)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 16)).toEqual([]);
  });

  test('no files import each other in a circle, type imports included', () => {
    expect(circles(graphOfFiles(imports))).toEqual([]);
    const bench = join(root, 'bench');
    const graph = new Map<string, readonly string[]>();
    for (const name of readdirSync(bench, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const targets = importsOf(join(bench, name)).filter((target) => target.startsWith('.'));
      graph.set(
        name,
        targets.map((target) => relative(bench, resolve(bench, dirname(name), target))),
      );
    }
    expect(circles(graph)).toEqual([]);
  });

  test('no file is longer than 500 lines', () => {
    const written = files.filter((name) => !name.split(sep).includes('generated'));
    const long = written.filter((name) => readFileSync(pathOf(name), 'utf8').split('\n').length > 501);
    expect(long).toEqual([]);
  });
});
