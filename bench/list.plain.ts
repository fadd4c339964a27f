/**
 * The servers beside which bench/list.ts is measured, on bare node:http. One makes the same page by hand-written SQL and JSON.stringify.
 * One has an array of all Pods, as an informer has, and filters, orders and cuts it for each request. One lists all Pods of an API server
 * for each request.
 *
 *   argv: `sql`, a store file and optionally a JSON list of namespaces, `array` and a number of Pods, or `api` and the server's URL -> message: { url }
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Database } from '../src/store/sqlite/database.ts';
import { registerSqlFunctions } from '../src/store/sqlite/sql-functions.ts';
import { pageSize, phaseOf } from './support/list-query.ts';
import { podText } from './support/pods.ts';

interface Pod {
  readonly apiVersion: string;
  readonly metadata: Readonly<Record<string, unknown>> & { creationTimestamp: string; namespace: string; name: string };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
}

const [mode = '', given = '', namespaces = ''] = process.argv.slice(2);
const page =
  mode === 'sql' ? fromSql(given, namespaces) : mode === 'array' ? fromArray(Number(given)) : () => fromServer(given);
const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  const answer = (nodes: readonly unknown[]): void => {
    const text = JSON.stringify({ data: { pods: { nodes } } });
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      .end(text);
  };
  request.on('end', () => {
    JSON.parse(Buffer.concat(pieces).toString());
    const nodes = page();
    if (Array.isArray(nodes)) answer(nodes);
    else nodes.then(answer, () => response.destroy());
  });
});
server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql` }),
);
process.once('disconnect', () => process.exit(0));

/** @param namespaces JSON list; empty for all. */
function fromSql(file: string, namespaces: string): () => unknown[] {
  const database = new Database(file, { readonly: true });
  registerSqlFunctions(database, { tick() {} });
  database.pragma('cache_size = -16384');
  const [kind, table] = database.statement(`SELECT id, promoted_table FROM kind WHERE key = 'pods'`).get() ?? [];
  const column = database
    .statement(`SELECT column_name FROM slot WHERE kind = ? AND path = 'status.phase'`)
    .get(kind ?? 0);
  const paths = [
    'apiVersion',
    'metadata.creationTimestamp',
    'metadata.generateName',
    'spec.dnsPolicy',
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.serviceAccountName',
    'status.phase',
    'status.podIP',
    'status.qosClass',
    'status.startTime',
  ];
  const statement = database.statement(
    `SELECT k.name, k.namespace, o.uid, o.rv, ${paths.map((path) => `b.body ->> '$.${path}'`).join(', ')} FROM (
       SELECT o.id, o.cluster, o.namespace, o.name FROM object o CROSS JOIN ${table} p ON p.id = o.id
       WHERE o.kind = ${kind} AND +p.${column?.[0]} = 'Running' ${namespaces === '' ? '' : 'AND o.namespace IN (SELECT value FROM json_each(?))'}
       ORDER BY o.created DESC, o.cluster DESC, o.namespace DESC, o.name DESC LIMIT ${pageSize + 1}) k
     CROSS JOIN object o ON o.id = k.id CROSS JOIN body b ON b.id = k.id`,
  );
  return () =>
    statement
      .all(...(namespaces === '' ? [] : [namespaces]))
      .slice(0, pageSize)
      .map(
        ([
          name,
          namespace,
          uid,
          resourceVersion,
          apiVersion,
          creationTimestamp,
          generateName,
          dnsPolicy,
          nodeName,
          restartPolicy,
          serviceAccountName,
          phase,
          podIP,
          qosClass,
          startTime,
        ]) => ({
          apiVersion,
          metadata: { name, namespace, uid, resourceVersion, creationTimestamp, generateName },
          spec: { dnsPolicy, nodeName, restartPolicy, serviceAccountName },
          status: { phase, podIP, qosClass, startTime },
        }),
      );
}

function fromArray(objects: number): () => unknown[] {
  const pods = Array.from({ length: objects }, (_, index): Pod => {
    const pod = JSON.parse(podText(index, phaseOf(index), index + 1));
    delete pod.metadata.managedFields;
    return pod;
  });
  return () => pageOf(pods);
}

/** Pages of 500, as kubectl and client-go list. */
async function fromServer(url: string): Promise<unknown[]> {
  const pods: Pod[] = [];
  let next = '';
  do {
    const response = await fetch(`${url}/api/v1/pods?limit=500${next}`);
    const list = (await response.json()) as { items: Pod[]; metadata: { continue?: string } };
    for (const pod of list.items) pods.push(pod);
    next = list.metadata.continue === undefined ? '' : `&continue=${encodeURIComponent(list.metadata.continue)}`;
  } while (next !== '');
  return pageOf(pods);
}

function pageOf(pods: readonly Pod[]): unknown[] {
  const order = (a: Pod, b: Pod): number =>
    compare(b.metadata.creationTimestamp, a.metadata.creationTimestamp) ||
    compare(b.metadata.namespace, a.metadata.namespace) ||
    compare(b.metadata.name, a.metadata.name);
  return pods
    .filter(({ status }) => status['phase'] === 'Running')
    .sort(order)
    .slice(0, pageSize)
    .map(({ apiVersion, metadata, spec, status }) => ({
      apiVersion,
      metadata: pick(metadata, ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'generateName']),
      spec: pick(spec, ['dnsPolicy', 'nodeName', 'restartPolicy', 'serviceAccountName']),
      status: pick(status, ['phase', 'podIP', 'qosClass', 'startTime']),
    }));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function pick(from: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, from[name]]));
}
