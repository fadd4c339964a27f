/**
 * The columns of built-in kinds are those of the server's Table, cell by cell, on a new server and on an old one.
 *
 * Ages are left out: they depend on the moment, and a gateway shows the time instead. So does the time of a Pod's last restart, and the
 * duration of a Job that runs. docs/queries.md lists what an old server shows in another way.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { messageOf } from '../../src/base/errors.ts';
import { must } from '../../src/base/must.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data, subscribe } from '../kit/graphql-client.ts';
import * as manifests from '../kit/manifests.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { isSince } from '../kit/server-version.ts';
import { clusterStates } from './cluster-states.ts';
import type { KindState } from './kind-state.ts';
import { kindStates, quotaStates } from './kind-states.ts';
import { newPodStates, podStates, randomPods } from './pod-states.ts';

interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

interface Served extends ApiResource {
  readonly group: string;
  /** Of the group and version: `/apis/apps/v1`. */
  readonly root: string;
  readonly subresources: readonly string[];
}

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number; readonly format: string }[];
  readonly rows: readonly {
    readonly cells: readonly unknown[];
    readonly object: { readonly metadata: { readonly name: string; readonly namespace?: string } };
  }[];
}

interface Shown {
  readonly metadata: { readonly name: string; readonly namespace: string | null };
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly format: string | null;
    readonly priority: number;
    readonly value: unknown;
  }[];
}

const namespace = 'columns';
const tableType = 'application/json;as=Table;g=meta.k8s.io;v=v1';

/** Columns by kind that the old server does not have, though its schema has the fields. */
const onlyNew = new Set([
  'Job Status',
  'PriorityClass PreemptionPolicy',
  ...['StorageCapacity', 'TokenRequests', 'RequiresRepublish'].map((column) => `CSIDriver ${column}`),
  ...['Scope', 'Versions', 'Group', 'Kind', 'ShortNames', 'Established'].map(
    (column) => `CustomResourceDefinition ${column}`,
  ),
]);
/** Columns of the old server that newer ones do not have. */
const onlyOld = new Set(['ServiceAccount Secrets']);
/** Kinds whose columns stand in another order on the old server. */
const ordered = new Set(['ResourceQuota']);

describeOn([mainServer, oldServer], 'columns of built-in kinds', { timeout: 240_000 }, (server) => {
  let plane: ControlPlane;
  let gateway: RunningGateway;
  let api: RestClient;
  let served: readonly Served[];
  let isNew: boolean;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    isNew = isSince(plane.version, 1, 30);
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath, env: {} }));
    await api.post('/api/v1/namespaces', manifests.namespace(namespace));
    served = await servedResources();
    const all = [
      ...kindStates,
      ...clusterStates,
      ...podStates,
      ...(isNew ? newPodStates : []),
      ...randomPods(Number(process.env['COLUMN_PODS'] ?? 100), 39, isNew),
      ...quotaStates,
    ];
    const refused: string[] = [];
    for (const state of all) {
      await write(state).catch((error) => refused.push(`${state.kind} ${state.name}: ${messageOf(error)}`));
    }
    expect(refused).toEqual([]);
    gateway = await runGateway(
      { kubeconfig: plane.kubeconfigPath },
      { leaseMs: '10000', kinds: ['*', 'leases.coordination.k8s.io'] },
    );
  }, 240_000);
  afterAll(async () => {
    await gateway?.close();
    await api?.connection.close();
    await plane?.stop();
  }, 60_000);

  /** Every resource in the preferred version of its group, except what cannot be listed. */
  async function servedResources(): Promise<readonly Served[]> {
    const { groups } = await api.get<{
      groups: { name: string; preferredVersion: { version: string }; versions: { version: string }[] }[];
    }>('/apis');
    const roots = [
      { group: '', root: '/api/v1' },
      ...groups.flatMap(({ name, preferredVersion, versions }) =>
        [preferredVersion, ...versions].map(({ version }) => ({ group: name, root: `/apis/${name}/${version}` })),
      ),
    ];
    const found = new Map<string, Served>();
    for (const { group, root } of roots) {
      // The API of an APIService without a server has no documents.
      const { resources } = await api.get<{ resources: ApiResource[] }>(root).catch(() => ({ resources: [] }));
      for (const each of resources.filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'))) {
        const subresources = resources.map(({ name }) => name).filter((name) => name.startsWith(`${each.name}/`));
        const key = `${group}/${each.kind}`;
        if (!found.has(key)) found.set(key, { ...each, group, root, subresources });
      }
    }
    return [...found.values()];
  }

  async function write({ group, kind, name, body, since = 0, until = 99, isDeleted }: KindState): Promise<void> {
    const { minor } = plane.version;
    if (minor < since || minor > until) return;
    const of = must(
      served.find((each) => each.group === group && each.kind === kind),
      `${kind}.${group} is served`,
    );
    const path = of.namespaced ? `${of.root}/namespaces/${namespace}/${of.name}` : `${of.root}/${of.name}`;
    const { status, metadata, ...rest } = body;
    const object = {
      ...rest,
      apiVersion: of.root.replace(/^\/apis?\//, ''),
      kind,
      metadata: { ...metadata, name, ...(of.namespaced ? { namespace } : {}) },
      ...(of.subresources.includes(`${of.name}/status`) ? {} : { status }),
    };
    await api.post(path, object);
    if (object.status === undefined && status !== undefined) {
      await api.patch(`${path}/${name}/status`, 'merge', { status });
    }
    if (isDeleted === true) await api.delete(`${path}/${name}`);
  }

  /** The rows of a kind as the gateway shows them, by namespace and name. */
  async function shownOf({ name, group }: Served): Promise<ReadonlyMap<string, Shown>> {
    const answer = await data<{ objects: { nodes: readonly Shown[] } }>(
      gateway.url,
      `query ($kinds: [String!]!) { objects(kinds: $kinds, first: 500) {
        nodes { metadata { name namespace } columns { name type format priority value } }
      } }`,
      { kinds: [group === '' ? name : `${name}.${group}`] },
    );
    return new Map(answer.objects.nodes.map((each) => [identity(each.metadata), each]));
  }

  const problems: string[] = [];
  let kinds = 0;
  let cells = 0;

  async function compare(of: Served): Promise<void> {
    const shown = await shownOf(of);
    const table = await api.get<Table>(`${of.root}/${of.name}`, { accept: tableType });
    if (table.rows.length === 0) return;
    kinds += 1;
    const [first] = shown.values();
    const theirs = table.columnDefinitions.filter(({ name }) => isNew || !onlyOld.has(`${of.kind} ${name}`));
    const ours = (first?.columns ?? []).filter(({ name }) => isNew || !onlyNew.has(`${of.kind} ${name}`));
    const heads = (columns: typeof theirs | typeof ours): string => {
      const texts = columns.map(({ name, priority, format }) => `${name}:${priority}:${format || ''}`);
      return (!isNew && ordered.has(of.kind) ? texts.sort() : texts).join(' ');
    };
    if (heads(ours) !== heads(theirs)) problems.push(`${of.kind}: has ${heads(ours)}; the server ${heads(theirs)}`);
    for (const { cells: row, object } of table.rows) {
      const mine = shown.get(identity({ namespace: null, ...object.metadata }));
      if (mine === undefined) {
        problems.push(`${of.kind} ${object.metadata.name} is missing`);
        continue;
      }
      for (const [index, { name }] of table.columnDefinitions.entries()) {
        const cell = mine.columns.find((each) => each.name === name);
        if (cell === undefined) continue;
        cells += 1;
        const problem = difference(of, cell, row[index]);
        if (problem !== null) problems.push(`${of.kind} ${object.metadata.name}, ${name}: ${problem}`);
      }
    }
  }

  function difference(
    { kind }: Served,
    { name, type, value }: Shown['columns'][number],
    theirs: unknown,
  ): string | null {
    const wrong = `${JSON.stringify(value)}; the server has ${JSON.stringify(theirs)}`;
    if (!isOfType(type, value)) return `${wrong}; the type is ${type}`;
    if (name === 'Created At') return value === theirs ? null : wrong;
    if (type === 'date') return (value === null) === isNoAge(theirs) ? null : wrong;
    // Nothing is stored of the data of Secrets.
    if (kind === 'Secret' && name === 'Data') return value === null ? null : wrong;
    if (kind === 'Job' && name === 'Duration' && value === null) return isNoAge(theirs) ? wrong : null;
    if (kind === 'Pod' && name === 'Restarts')
      return value === String(theirs).replace(/ \(.* ago\)$/, '') ? null : wrong;
    if (kind === 'PriorityLevelConfiguration') return value === String(theirs) ? null : wrong;
    if (!isNew && kind === 'HorizontalPodAutoscaler' && name === 'Targets')
      return value === `cpu: ${theirs}` ? null : wrong;
    // The old server adds one to the count of a series.
    if (!isNew && kind === 'Event' && name === 'Count' && value === 12) return theirs === 13 ? null : wrong;
    return value === theirs ? null : wrong;
  }

  test('are equal to the cells of the Table', async () => {
    // Custom kinds, and Events of the second group, which a gateway reads once.
    const left = new Set(['columns.example.com', 'events.k8s.io', 'extensions']);
    for (const each of served.filter(({ kind, group }) => kind !== 'ComponentStatus' && !left.has(group))) {
      await compare(each);
    }
    process.stdout.write(`${cells} cells of ${kinds} kinds compared with ${server.name}\n`);
    expect(problems).toEqual([]);
    expect(kinds).toBeGreaterThan(isNew ? 56 : 44);
    expect(cells).toBeGreaterThan(2_000);
  });

  test('are the same in lists, live lists and recorded changes', async () => {
    const fields = 'metadata { name } columns { name type priority value }';
    type Object = Pick<Shown, 'metadata' | 'columns'>;
    const byName = (objects: readonly Object[]): Map<string, unknown> =>
      new Map(objects.map(({ metadata, columns }) => [metadata.name, columns]));
    const listed = async (): Promise<Map<string, unknown>> => {
      const { pods } = await data<{ pods: { nodes: readonly Object[] } }>(
        gateway.url,
        `{ pods(first: 500) { nodes { ${fields} } } }`,
      );
      return byName(pods.nodes);
    };
    const live = subscribe(
      gateway.url,
      `subscription { podChanges(snapshot: true) { phase changes { object { ${fields} } } } }`,
      {},
      ({ podChanges }) => podChanges as { phase: string; changes: readonly { object: Object | null }[] },
    );
    try {
      const received = (messages: typeof live.messages): Map<string, unknown> =>
        byName(messages.flatMap(({ changes }) => changes.flatMap(({ object }) => object ?? [])));
      const before = await listed();
      expect(received(await live.until((messages) => received(messages).size === before.size))).toEqual(before);
      const status = { phase: 'Failed', reason: 'Evicted', containerStatuses: [] };
      await api.patch(`/api/v1/namespaces/${namespace}/pods/pending/status`, 'merge', { status });
      const shows = (shown: Map<string, unknown>): boolean => JSON.stringify(shown.get('pending')).includes('Evicted');
      const after = received(await live.until((messages) => shows(received(messages))));
      expect((await listed()).get('pending')).toEqual(after.get('pending'));
      const { pod } = await data<{ pod: { history: { nodes: readonly { before: Object; object: Object }[] } } }>(
        gateway.url,
        `{ pod(namespace: "${namespace}", name: "pending") { history(first: 1) { nodes { before { ${fields} } object { ${fields} } } } } }`,
      );
      expect(pod.history.nodes.map((each) => [each.before.columns, each.object.columns])).toEqual([
        [before.get('pending'), after.get('pending')],
      ]);
    } finally {
      await live.stop();
    }
  });
});

function identity({ namespace: of, name }: { namespace?: string | null; name: string }): string {
  return `${of ?? ''}/${name}`;
}

function isNoAge(cell: unknown): boolean {
  return ['', '<none>', '<unknown>', null].includes(cell as string);
}

/** The type of a column tells the type of its values. */
function isOfType(type: string, value: unknown): boolean {
  if (value === null) return true;
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'date':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value));
    default:
      return type === 'string' && typeof value === 'string';
  }
}
