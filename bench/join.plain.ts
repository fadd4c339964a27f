/**
 * The servers beside which bench/join.ts is measured, on bare node:http. One makes the same join by one hand-written SQL statement and
 * JSON.stringify. The other has all Pods in memory, and serves lists by label selector as an API server does.
 *
 *   argv: `sql` or `lists`, and a store file -> message: { url }
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Database } from '../src/store/sqlite/database.ts';
import { registerSqlFunctions } from '../src/store/sqlite/sql-functions.ts';

const [mode = '', file = ''] = process.argv.slice(2);
const database = new Database(file, { readonly: true });
registerSqlFunctions(database, { tick() {} });
database.pragma('cache_size = -16384');
const kindOf = (key: string): number => Number(database.statement('SELECT id FROM kind WHERE key = ?').get(key)?.[0]);
const [pods, services, nodes] = ['pods', 'services', 'nodes'].map(kindOf) as [number, number, number];
const answer = mode === 'sql' ? joined : lists();

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const text = answer(new URL(request.url ?? '', 'http://bench'));
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  });
});
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }),
);
process.once('disconnect', () => process.exit(0));

/** 50 Services, 20 Pods of each, and their Nodes. */
function joined(): string {
  const rows = database
    .statement(
      `SELECT s.name, s.namespace, (
         SELECT json_group_array(json_object('name', p.name, 'phase', b.body ->> '$.status.phase', 'node', n.name)) FROM (
           SELECT o.id, o.name, o.cluster FROM selector q
           CROSS JOIN object_by_label l ON l.kind = ${pods} AND l.key = q.key AND l.value = q.value
           CROSS JOIN object o ON o.id = l.id AND o.namespace = q.namespace WHERE q.id = s.id ORDER BY o.name LIMIT 20) p
         CROSS JOIN body b ON b.id = p.id
         CROSS JOIN object n ON n.kind = ${nodes} AND n.cluster = p.cluster AND n.namespace = '' AND n.name = b.body ->> '$.spec.nodeName')
       FROM object s WHERE s.kind = ${services} ORDER BY s.cluster, s.namespace, s.name LIMIT 50`,
    )
    .all();
  return JSON.stringify({
    data: {
      services: {
        nodes: rows.map(([name, namespace, found]) => ({
          metadata: { name, namespace },
          pods: {
            nodes: (JSON.parse(String(found)) as { name: string; phase: string; node: string }[]).map((pod) => ({
              metadata: { name: pod.name },
              status: { phase: pod.phase },
              node: { metadata: { name: pod.node } },
            })),
          },
        })),
      },
    },
  });
}

interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly selector?: Readonly<Record<string, string>> };
}

/** /services?limit=50, /nodes, /pods?namespace=N&app=A: like an API server, it looks at each object of its watch cache. */
function lists(): (url: URL) => string {
  const read = (kind: number): Stored[] =>
    database
      .statement(
        'SELECT json(b.body) FROM object o CROSS JOIN body b ON b.id = o.id WHERE o.kind = ? ORDER BY o.namespace, o.name',
      )
      .all(kind)
      .map(([text]) => JSON.parse(String(text)) as Stored);
  const byNamespace = Map.groupBy(read(pods), ({ metadata }) => metadata.namespace);
  const [allServices, allNodes] = [read(services), read(nodes)];
  return ({ pathname, searchParams }) => {
    if (pathname === '/services') return JSON.stringify({ items: allServices.slice(0, 50) });
    if (pathname === '/nodes') return JSON.stringify({ items: allNodes });
    const wanted = Object.entries(JSON.parse(searchParams.get('selector') ?? '{}') as Record<string, string>);
    const items = (byNamespace.get(searchParams.get('namespace') ?? '') ?? []).filter(({ metadata }) =>
      wanted.every(([key, value]) => metadata.labels[key] === value),
    );
    return JSON.stringify({ items });
  };
}
