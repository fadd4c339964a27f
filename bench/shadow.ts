/**
 * Reads and writes of sets by the aggregated API server, on a real kube-apiserver (KUBEBUILDER_ASSETS), in turns. Everything goes through kube-apiserver,
 * by one client with the rights of a user:
 *
 *   get      a set of 20 members, beside a GET of each of the members, one after the other
 *   list     1,000 sets of three members, beside one list of each kind of their members
 *   event    a member is changed: its event over a watch of the set, beside the event over a bare watch of the member
 *   apply    `kubectl apply` of a set of 20 members, beside `kubectl apply` of the same members
 *
 * An answer has come when its text is whole. No set has a Secret: each one would be a GET more, by the gateway as the caller.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { must } from '../src/base/must.ts';
import { connect } from '../src/kube/client/connection.ts';
import { RestClient } from '../src/kube/client/rest-client.ts';
import { setManager } from '../src/sets/record/set-names.ts';
import { startAggregatedPlane } from '../test/kit/aggregated-plane.ts';
import type { ControlPlane } from '../test/kit/control-plane.ts';
import { eventually } from '../test/kit/eventually.ts';
import { mainServer } from '../test/kit/real-servers.ts';
import { handMadeRecord, type LiveObject, membersOf } from '../test/kit/shadow-records.ts';
import { appliesOf } from './shadow.apply.ts';
import { BareWatch } from './support/bare-watch.ts';
import { gatewayFlags } from './support/gateway-flags.ts';
import { median } from './support/page-load.ts';
import { each, percentile, rounded, timed } from './support/times.ts';

export const about =
  'sets by the aggregated API server: get, list, watch and apply, beside their members (--sets N, --turns N, --changes N, --applies N)';

/** Of the set that is got and watched. */
const one = { namespace: 'one', name: 'task1' };
/** Of the sets that are listed. */
const many = 'many';
/** Those where kubectl applies members. */
const applied = [
  { namespaces: { set: 'set-client', plain: 'plain-client' }, serverSide: false },
  { namespaces: { set: 'set-server', plain: 'plain-server' }, serverSide: true },
] as const;
const members = 20;
const goals = { getOver20Gets: 0.2, listMs: 150, applyOverKubectl: 0.7, eventOverWatchP99Ms: 20 } as const;
const user = { token: 'token-of-dev', user: 'dev', groups: ['devs'] };
/** Requests at a time while the objects are made. */
const width = 8;
const api = '/apis/shadow.portolan.dev/v1alpha1';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: keyof typeof plurals;
  readonly metadata: { readonly namespace: string; readonly name: string };
}

const plurals = { ConfigMap: 'configmaps', Service: 'services', Deployment: 'deployments' } as const;

function manifest(index: number, namespace: string, name: string): Manifest {
  const metadata = { namespace, name };
  const labels = { app: name };
  const container = {
    ...{ name: 'app', image: 'registry.example/app:1', ports: [{ containerPort: 8080 }] },
    env: Array.from({ length: 5 }, (_, at) => ({ name: `SETTING_${at}`, value: `value ${at}` })),
  };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const kinds = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { at: '0', mode: 'fast', level: 'info' } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { clusterIP: 'None', selector: labels, ports: [{ port: 80 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { replicas: 0, selector: { matchLabels: labels }, template },
    },
  ] as const;
  return must(kinds[index % kinds.length], 'a kind');
}

function pathOf({ apiVersion, kind, metadata: { namespace, name } }: Manifest): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}/namespaces/${namespace}/${plurals[kind]}/${name}`;
}

/** Applies the members as the manager of the set, and writes its record. */
async function makeSet(
  client: RestClient,
  set: { readonly namespace: string; readonly name: string },
  count: number,
): Promise<readonly Manifest[]> {
  const manifests = Array.from({ length: count }, (_, index) => manifest(index, set.namespace, `${set.name}-${index}`));
  const query = { fieldManager: setManager(set) };
  const live: LiveObject[] = [];
  for (const each of manifests) live.push(await client.patch<LiveObject>(pathOf(each), 'apply', each, { query }));
  const records = `/apis/portolan.dev/v1alpha1/namespaces/${set.namespace}/shadowrecords`;
  await client.post(records, handMadeRecord(set, membersOf(set, live)));
  return manifests;
}

async function startChild({ kubeconfigPath }: ControlPlane, flags: object) {
  const child = fork(
    fileURLToPath(new URL('./shadow.child.ts', import.meta.url)),
    [
      kubeconfigPath,
      JSON.stringify({ ...flags, kinds: [...Object.values(plurals).map(keyOf), 'shadowrecords.portolan.dev'] }),
    ],
    { execArgv: [...gatewayFlags()] },
  );
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    aggregatePort: port,
    async close() {
      const over = once(child, 'exit');
      child.disconnect();
      await over;
    },
  };
}

const keyOf = (plural: string): string => (plural === 'deployments' ? 'deployments.apps' : plural);

/** The rights of the user that asks. */
async function grant(admin: RestClient): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const rule = {
    apiGroups: ['', 'apps', 'shadow.portolan.dev'],
    resources: [...Object.values(plurals), 'shadowresources'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch'],
  };
  const metadata = { name: 'devs' };
  await admin.post(`${rbac}/clusterroles`, { metadata, rules: [rule] });
  await admin.post(`${rbac}/clusterrolebindings`, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'devs' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user.user }],
  });
}

interface MapLike {
  readonly data?: Readonly<Record<string, string>>;
}

interface SetLike {
  readonly spec: { readonly flowList: readonly MapLike[] };
}

/** Milliseconds of each event of the set after that of the bare watch, and of the bare watch after the request for the change. */
async function eventsOver(
  client: RestClient,
  member: Manifest,
  changes: number,
): Promise<{ readonly over: readonly number[]; readonly bare: readonly number[] }> {
  const maps = `/api/v1/namespaces/${one.namespace}/configmaps`;
  const members = await BareWatch.open<MapLike>(client, maps, ({ data }) => data?.['at']);
  const sets = await BareWatch.open<SetLike>(
    client,
    `${api}/namespaces/${one.namespace}/shadowresources`,
    ({ spec }) => spec.flowList[0]?.data?.['at'],
  );
  const [over, bare]: [number[], number[]] = [[], []];
  for (let index = 1; index <= changes; index += 1) {
    const at = String(index);
    const began = performance.now();
    await client.patch(pathOf(member), 'merge', { data: { at } });
    const [plain, set] = await Promise.all([members.until(at), sets.until(at)]);
    bare.push(plain - began);
    over.push(set - plain);
  }
  members.close();
  sets.close();
  return { over, bare };
}

interface AppliedTimes {
  readonly words: string;
  /** Milliseconds, in the median. */
  readonly set: number;
  readonly plain: number;
  readonly over: number;
}

const applyLine = ({ words, set, plain, over }: AppliedTimes): string =>
  `kubectl ${words}: ${rounded(set)} ms for the set, ${rounded(plain)} ms for its ${members} members, ${rounded(over)} of the time\n`;

/** What `kubectl apply` takes for the set and for its members, with each of the ways to apply. */
async function appliedTimes(
  kubectl: Parameters<typeof appliesOf>[1]['kubectl'],
  turns: number,
): Promise<readonly AppliedTimes[]> {
  const times: AppliedTimes[] = [];
  for (const { namespaces, serverSide } of applied) {
    const given = Array.from({ length: members }, (_, index) => manifest(index, namespaces.set, `member-${index}`));
    const apiVersion = api.replace('/apis/', '');
    const { set: ofSet, plain } = await appliesOf(given, {
      kubectl,
      namespaces,
      turns,
      apiVersion,
      serverSide,
    });
    times.push({
      words: serverSide ? 'apply --server-side' : 'apply',
      set: median(ofSet),
      plain: median(plain),
      over: median(ofSet.map((ms, turn) => ms / (plain[turn] ?? 0))),
    });
  }
  return times;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sets: { type: 'string', default: '1000' },
      turns: { type: 'string', default: '30' },
      changes: { type: 'string', default: '500' },
      applies: { type: 'string', default: '10' },
    },
  });
  const missing = mainServer.missing(['kubectl']);
  if (missing !== null) throw new Error(`${missing}: this benchmark needs a real API server`);
  const [sets, turns, changes, applies] = [
    Number(values.sets),
    Number(values.turns),
    Number(values.changes),
    Number(values.applies),
  ];
  let manifests: readonly Manifest[] = [];
  const { plane, stop } = await startAggregatedPlane({
    users: [user],
    flags: { readOnly: 'false', impersonate: 'constrained', callerWrites: '1000000', callerCost: '1000000000' },
    run: startChild,
    async prepare(made) {
      const admin = new RestClient(await connect({ kubeconfig: made.kubeconfigPath }));
      const both = applied.flatMap(({ namespaces: { set, plain } }) => [set, plain]);
      for (const name of [one.namespace, many, ...both]) await admin.post('/api/v1/namespaces', { metadata: { name } });
      await grant(admin);
      manifests = await makeSet(admin, one, members);
      await each(
        sets,
        width,
        async (index) => void (await makeSet(admin, { namespace: many, name: `set-${index}` }, 3)),
      );
      await admin.connection.close();
    },
  });
  const kubeconfig = plane.writeKubeconfig('dev', { token: user.token });
  const client = new RestClient(await connect({ kubeconfig }));
  try {
    const set = `${api}/namespaces/${one.namespace}/shadowresources/${one.name}`;
    const list = `${api}/namespaces/${many}/shadowresources`;
    await eventually(async () => {
      const { spec } = await client.get<SetLike>(set);
      const { items } = await client.get<{ items: readonly SetLike[] }>(list);
      if (spec.flowList.length < members || items.length < sets) throw new Error('not every object has come yet');
    });
    process.stdout.write(`${mainServer.name}, ${sets} sets in the list, ${turns} turns, ${changes} changes\n`);
    const collections = [0, 1, 2].map((index) => pathOf(manifest(index, many, '')).slice(0, -1));
    const inTurn = async (paths: readonly string[]): Promise<void> => {
      for (const path of paths) await client.text(path);
    };
    const figures = { get: [] as number[], gets: [] as number[], list: [] as number[], lists: [] as number[] };
    await inTurn([set, list]);
    for (let turn = 0; turn < turns; turn += 1) {
      figures.gets.push(await timed(() => inTurn(manifests.map(pathOf))));
      figures.get.push(await timed(() => inTurn([set])));
      figures.lists.push(await timed(() => inTurn(collections)));
      figures.list.push(await timed(() => inTurn([list])));
    }
    const { over, bare } = await eventsOver(client, must(manifests[0], 'a member'), changes);
    const times = await appliedTimes(
      (words, stdin) => plane.kubectl([`--kubeconfig=${kubeconfig}`, ...words], stdin),
      applies,
    );
    const line = {
      bench: 'shadow',
      getOver20Gets: rounded(median(figures.get.map((ms, turn) => ms / (figures.gets[turn] ?? 0)))),
      listMs: rounded(median(figures.list)),
      applyOverKubectl: rounded(times[0]?.over ?? 0),
      eventOverWatchP99Ms: rounded(percentile(over, 0.99)),
    };
    const bytes = (await client.text(list)).length;
    process.stdout.write(
      `get: ${rounded(median(figures.get))} ms, the ${members} GETs ${rounded(median(figures.gets))} ms\n` +
        `list: ${line.listMs} ms for ${bytes} bytes, the lists of the members ${rounded(median(figures.lists))} ms\n` +
        `event: ${rounded(percentile(over, 0.5))} ms after the bare watch in the median, ${line.eventOverWatchP99Ms} ms at the 99th percentile\n` +
        `the bare watch: ${rounded(percentile(bare, 0.5))} ms after the request in the median, ${rounded(percentile(bare, 0.99))} ms at the 99th percentile\n` +
        times.map(applyLine).join('') +
        `${JSON.stringify(line)}\n`,
    );
    if (Object.entries(goals).some(([name, most]) => line[name as keyof typeof goals] > most)) process.exitCode = 1;
  } finally {
    await client.connection.close();
    await stop();
  }
}
