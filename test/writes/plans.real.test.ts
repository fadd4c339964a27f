/**
 * Plans on real API servers: whatever others change between plan and apply, exactly the planned changes are made, or none.
 *
 *   each round: objects -> a plan -> random changes by others -> the plan is carried out
 *                                                               meanwhile: a proxy makes more of them just before requests that write
 *   compared:   each change that the API server stored and that others did not make, field by field with the changes of the plan
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import { Dice } from '../fuzz/dice.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { data } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { ObjectHistory, type StoredChange } from '../kit/object-history.ts';
import { differenceFromPlan, type ReadObject } from '../kit/planned-changes.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { startRecordingProxy } from '../kit/recording-proxy.ts';
import type { Written, WrittenItem } from '../kit/writes-suite.ts';
import { clusterName, WritingGateway } from '../kit/writing-gateway.ts';

const rounds = Number(process.env['PORTOLAN_PLAN_ROUNDS'] ?? randomRuns(8, 24));
const firstSeed = Number(process.env['PORTOLAN_SEED'] ?? '1');

/** Begins every value that must not be told. */
const untold = 'hush-';
const redact = ['deployments.apps=spec.template.spec.containers[].env', 'configmaps=data.pin'];

type Kind = 'deployments.apps' | 'configmaps' | 'secrets';

const collections: Readonly<Record<Kind, string>> = {
  'deployments.apps': '/apis/apps/v1/namespaces/NS/deployments',
  configmaps: '/api/v1/namespaces/NS/configmaps',
  secrets: '/api/v1/namespaces/NS/secrets',
};

describeOn([mainServer, oldServer], 'plans on a real cluster', { timeout: 1_200_000 }, (server) => {
  let plane: ControlPlane;
  let api: RestClient;
  let proxy: LoopbackServer;
  let gateway: WritingGateway;
  /** What others do just before a request of the gateway that writes the object of this path. */
  let interfere: (path: string) => Promise<void>;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    const target = { url: plane.server, token: plane.token, ca: plane.caPem() };
    proxy = await startRecordingProxy(target, async ({ method, url = '/' }) => {
      if (method === 'PATCH' || method === 'DELETE') await interfere(new URL(url, plane.server).pathname);
      return false;
    });
    gateway = await WritingGateway.start(kubeconfigFolder().write({ server: proxy.url }), { redact });
  });
  beforeEach(() => {
    interfere = async () => {};
  });
  afterAll(async () => {
    await gateway?.close();
    await proxy?.close();
    await api?.connection.close();
    await plane?.stop();
  });

  const pathOf = (kind: Kind, namespace: string, name?: string): string =>
    `${collections[kind].replace('NS', namespace)}${name === undefined ? '' : `/${name}`}`;

  const others = { query: { fieldManager: 'others' } };
  /** The versions that others wrote, and the uids of what they deleted. */
  const byOthers = new Set<string>();

  /** The objects of a namespace, by kind and name, as kubectl reads them. */
  async function readAll(namespace: string): Promise<ReadonlyMap<string, ReadObject>> {
    const found = new Map<string, ReadObject>();
    for (const kind of Object.keys(collections) as Kind[]) {
      const text = await plane.kubectl(['get', '--raw', pathOf(kind, namespace)]);
      const { items } = JSON.parse(text) as { items: ReadObject[] };
      // The elements of a list have no apiVersion and kind, which a plan shows.
      for (const item of items) found.set(`${kind} ${item.metadata.name}`, { ...headOf(kind), ...item });
    }
    return found;
  }

  /** The changes that others make, by name. Absent objects are left alone, except by `create`. */
  function meddling(dice: Dice, kind: Kind, namespace: string, name: string) {
    const path = pathOf(kind, namespace, name);
    const noted = ({ metadata }: ReadObject) => byOthers.add(metadata.resourceVersion);
    const merge = async (body: object, subresource = '') =>
      noted(await api.patch<ReadObject>(`${path}${subresource}`, 'merge', body, others));
    const isDeployment = kind === 'deployments.apps';
    const make = async () =>
      noted(await api.post<ReadObject>(pathOf(kind, namespace), objectOf(dice, kind, namespace, name), others));
    const remove = async () => byOthers.add((await api.delete<{ details: { uid: string } }>(path)).details.uid);
    const kinds = {
      status: () =>
        isDeployment
          ? merge({ status: { observedGeneration: dice.below(1000) } }, '/status')
          : merge({ metadata: { annotations: { churn: `${dice.below(1000)}` } } }),
      annotation: () => merge({ metadata: { annotations: { [`other-${dice.below(3)}`]: `${dice.below(9)}` } } }),
      label: () =>
        merge({ metadata: { labels: { wanted: dice.pick(['yes', 'no']), planned: dice.pick(['no', 'a']) } } }),
      value: () =>
        isDeployment
          ? merge({ spec: { replicas: dice.below(6) } })
          : merge(
              kind === 'secrets'
                ? { stringData: { pin: pinOf(dice) } }
                : { data: { a: `${dice.below(4)}`, pin: pinOf(dice) } },
            ),
      template: () =>
        isDeployment
          ? merge({ spec: { template: { spec: { containers: [containerOf(dice)] } } } })
          : merge({ metadata: { labels: { planned: 'no' } } }),
      delete: remove,
      recreate: async () => {
        await remove();
        await make();
      },
      create: make,
    };
    return kinds;
  }

  type Meddling = keyof ReturnType<typeof meddling>;

  /** Changes that the plan does not depend on. A deletion changes all but the status. */
  const harmlessTo = (verb: string, key: string): readonly Meddling[] => {
    if (verb !== 'delete') return ['status', 'annotation'];
    return key.startsWith('deployments.apps ') ? ['status'] : [];
  };

  async function meddle(dice: Dice, kind: Kind, namespace: string, name: string, which: Meddling): Promise<void> {
    // What is absent cannot be changed, and what is there cannot be created.
    await meddling(dice, kind, namespace, name)
      [which]()
      .catch((error: unknown) => {
        if (!/NotFound|AlreadyExists|not found|already exists/.test(String(error))) throw error;
      });
  }

  const anyMeddling = (dice: Dice): Meddling =>
    dice.pick(['status', 'status', 'annotation', 'label', 'value', 'template', 'delete', 'recreate', 'create']);

  interface Target {
    readonly kind: Kind;
    readonly name: string;
  }

  const idOf = (namespace: string, { kind, name }: Target): string =>
    encodeObjectId({ cluster: clusterName, key: kind, namespace, name });

  /** A mutation on targets of the namespace, and the targets in the order of its items. */
  async function mutationOf(dice: Dice, namespace: string, targets: readonly Target[]) {
    const deployments = targets.filter(({ kind }) => kind === 'deployments.apps');
    const byId = (some: readonly Target[]) => ({ objects: some.map((target) => ({ id: idOf(namespace, target) })) });
    const byQuery = () => ({
      query: {
        kinds: ['Deployment'],
        namespaces: [namespace],
        filter: { labelSelector: 'wanted=yes' },
        expect: deployments.length,
      },
    });
    const some = () =>
      dice.chance(0.5) ? { targets: byQuery(), isQuery: true } : { targets: byId(deployments), isQuery: false };
    const one = dice.pick(targets);
    const verb = dice.pick(['apply', 'apply', 'patch', 'patch', 'patch', 'scale', 'restart', 'delete'] as const);
    switch (verb) {
      case 'apply':
        return {
          verb,
          targets,
          isQuery: false,
          args: {
            docs: targets.map(({ kind, name }) => ({ json: manifestOf(dice, kind, namespace, name) })),
            force: dice.chance(0.7),
          },
        };
      case 'patch':
        return {
          verb,
          targets: [one],
          isQuery: false,
          args: { target: { id: idOf(namespace, one) }, ...patchOf(dice, one.kind) },
        };
      case 'scale':
      case 'restart': {
        const { isQuery, ...args } = some();
        const more = verb === 'scale' ? { replicas: dice.below(6) } : {};
        return { verb, targets: deployments, isQuery, args: { ...args, ...more } };
      }
      case 'delete': {
        const { isQuery, ...args } = dice.chance(0.5) ? some() : { targets: byId(targets), isQuery: false };
        return {
          verb,
          targets:
            'query' in args.targets || args.targets.objects.length === deployments.length ? deployments : targets,
          isQuery,
          args,
        };
      }
    }
  }

  async function round(seed: number): Promise<readonly string[]> {
    const dice = new Dice(seed);
    const namespace = `plans-${seed}`;
    await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
    const targets: Target[] = [
      { kind: 'deployments.apps', name: 'one' },
      { kind: 'deployments.apps', name: 'two' },
      { kind: dice.pick(['configmaps', 'secrets']), name: 'three' },
    ];
    for (const { kind, name } of targets) {
      await api.post(pathOf(kind, namespace), objectOf(dice, kind, namespace, name), {
        query: { fieldManager: 'owner' },
      });
    }
    await eventually(async () => {
      const text = `{ deployments(filter: { namespaces: ["${namespace}"] }) { totalCount } }`;
      expect(await data(gateway.url, text)).toEqual({ deployments: { totalCount: 2 } });
    });
    const mutation = await mutationOf(dice, namespace, targets);
    const absent = mutation.verb === 'apply' && dice.chance(0.3) ? dice.pick(targets) : null;
    if (absent !== null) await api.delete(pathOf(absent.kind, namespace, absent.name));
    const fieldManager = `planner-${seed}`;
    const options = { fieldManager, onError: 'CONTINUE', order: dice.pick(['GIVEN', 'BY_KIND']) };
    const plan = await gateway.write(mutation.verb, { ...mutation.args, options: { ...options, dryRun: true } });
    expect([...(await readAll(namespace)).values()].filter((each) => isManagedBy(each, fieldManager))).toEqual([]);
    const meddled = new Map<string, Meddling[]>();
    const between = new Map<string, () => Promise<void>>();
    for (const target of mutation.targets) {
      const { kind, name } = target;
      const sooner = dice.times(dice.below(3), () => anyMeddling(dice));
      // Before each request that writes, one of these or nothing.
      const later = dice.times(dice.below(6), () => (dice.chance(0.5) ? anyMeddling(dice) : null));
      meddled.set(`${kind} ${name}`, [...sooner, ...later.filter((each) => each !== null)]);
      for (const each of sooner) await meddle(dice, kind, namespace, name, each);
      const own = new Dice(seed, later.length);
      between.set(pathOf(kind, namespace, name), async () => {
        const next = later.shift() ?? null;
        if (next !== null) await meddle(own, kind, namespace, name, next);
      });
    }
    const before = await readAll(namespace);
    const kinds = Object.keys(collections) as Kind[];
    const histories = new Map<string, ObjectHistory>();
    for (const kind of kinds) {
      histories.set(kind, await ObjectHistory.start(api, pathOf(kind, namespace), headOf(kind)));
    }
    interfere = async (path) => between.get(path.replace(/\/scale$/, ''))?.();
    const churn = new AbortController();
    const churning = mutation.targets.map(async ({ kind, name }, index) => {
      const own = new Dice(seed, index);
      while (!churn.signal.aborted && kind === 'deployments.apps') {
        const pause = new Promise((resolve) => setTimeout(resolve, 50));
        await meddle(own, kind, namespace, name, 'status');
        await pause;
      }
    });
    let done: Written;
    try {
      done = await gateway.write(mutation.verb, { ...mutation.args, options: { ...options, plan: plan.planId } });
    } finally {
      churn.abort();
      await Promise.all(churning);
    }
    for (const history of histories.values()) await history.end();
    expect(done.items).toHaveLength(plan.items.length);
    const faults: string[] = [];
    for (const [index, item] of done.items.entries()) {
      const planned = plan.items[index] as WrittenItem;
      const key = keyOf(item);
      const [kind = '', name = ''] = key.split(' ');
      const which = meddled.get(key) ?? [];
      const changes = histories.get(kind)?.of(name) ?? [];
      const fault = faultOf(planned, item, {
        states: [before.get(key) ?? null, ...changes.map(({ after }) => after)],
        own: changes.filter((change) => !byOthers.has(writeOf(change))),
        isHarmless: which.every((each) => harmlessTo(mutation.verb, key).includes(each)),
      });
      if (fault !== null) {
        const { verb, args, isQuery } = mutation;
        const told = { seed, verb, isQuery, args, key, which, planned: planned.changes };
        faults.push(`${fault} ${JSON.stringify({ ...told, item: { ...item, after: undefined } })}`);
      }
    }
    await api.delete(`/api/v1/namespaces/${namespace}`);
    return faults;
  }

  test('exactly what was planned is done, or nothing, in random rounds', async () => {
    const faults: string[] = [];
    for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) faults.push(...(await round(seed)));
    expect(faults).toEqual([]);
    expect(gateway.said()).not.toContain(untold);
    expect(gateway.said()).not.toContain(Buffer.from(untold).toString('base64').slice(0, 6));
  });
});

/** What tells the write from others: the version that it made, or the uid of what it deleted. */
function writeOf({ before, after }: StoredChange): string {
  return after?.metadata.resourceVersion ?? before?.metadata.uid ?? '';
}

interface Observed {
  /** The states of the object, from before the plan was carried out until after it. */
  readonly states: readonly (ReadObject | null)[];
  /** The changes that the gateway made. */
  readonly own: readonly StoredChange[];
  readonly isHarmless: boolean;
}

/** What is wrong with the outcome of an item; null if nothing is. */
function faultOf(planned: WrittenItem, item: WrittenItem, { states, own, isHarmless }: Observed): string | null {
  const [change, ...more] = own;
  if (more.length > 0) return 'it was written several times.';
  const codes = item.errors.map(({ code }) => code);
  if (item.result === 'NONE') {
    if (change !== undefined) return 'something was written.';
    if (isHarmless && planned.errors.length === 0) return 'nothing stood against the plan.';
    const isAbsent = states.every((state) => state === null);
    if (isAbsent && planned.errors.length === 0 && planned.result !== 'CREATED')
      return codes.includes('NOT_FOUND') || codes.includes('PLAN_CHANGED') ? null : 'the code is not NOT_FOUND.';
    return codes.length === 1 ? null : 'there is no code.';
  }
  if (codes.length > 0) return 'there is an error.';
  if (item.result === 'UNCHANGED') {
    if (change !== undefined) return 'something was written.';
    if (planned.result === 'DELETED') return states.includes(null) ? null : 'it was not deleted.';
    const wanted = planned.changes.map((each) => ({ ...each, before: each.after }));
    const isSo = states.some((state) => state !== null && differenceFromPlan(state, state, wanted) === null);
    return isSo ? null : 'it says UNCHANGED of an object that never was so.';
  }
  if (change === undefined) return 'nothing was written.';
  const { before, after } = change;
  // docs/writes.md: an apply cannot stop others from creating the object in the same moment.
  const isMerged = planned.result === 'CREATED' && item.result === 'CHANGED' && states.includes(null);
  if (isMerged && item.warnings.some((text) => text.includes('merged'))) return null;
  if (item.result !== planned.result) return `${planned.result} was planned.`;
  if (item.result !== (before === null ? 'CREATED' : after === null ? 'DELETED' : 'CHANGED'))
    return 'the object was in another state.';
  return differenceFromPlan(before, after, planned.changes);
}

function isManagedBy(object: ReadObject | null, fieldManager: string): boolean {
  return (object?.metadata.managedFields ?? []).some(({ manager }) => manager === fieldManager);
}

function keyOf({ target: { kind, name } }: WrittenItem): string {
  const keys: Readonly<Record<string, Kind>> = {
    Deployment: 'deployments.apps',
    ConfigMap: 'configmaps',
    Secret: 'secrets',
  };
  return `${keys[kind]} ${name}`;
}

function headOf(kind: Kind) {
  if (kind === 'deployments.apps') return { apiVersion: 'apps/v1', kind: 'Deployment' };
  return { apiVersion: 'v1', kind: kind === 'secrets' ? 'Secret' : 'ConfigMap' };
}

function pinOf(dice: Dice): string {
  return `${untold}${dice.below(100_000)}`;
}

function containerOf(dice: Dice) {
  return {
    name: 'app',
    image: `registry.example/app:${dice.below(4)}`,
    env: [{ name: 'PIN', value: pinOf(dice) }],
  };
}

function bodyOf(dice: Dice, kind: Kind) {
  const pin = pinOf(dice);
  if (kind === 'secrets') return { data: { pin: Buffer.from(pin).toString('base64') } };
  if (kind === 'configmaps') return { data: { a: `${dice.below(4)}`, b: 'kept', pin } };
  const labels = { app: 'app' };
  return {
    spec: {
      replicas: dice.below(6),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [containerOf(dice)] } },
    },
  };
}

function objectOf(dice: Dice, kind: Kind, namespace: string, name: string) {
  const annotations = {
    kept: 'yes',
    'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ data: { pin: pinOf(dice) } }),
  };
  const metadata = { name, namespace, labels: { wanted: 'yes' }, annotations };
  return { ...headOf(kind), metadata, ...bodyOf(dice, kind) };
}

/** A manifest to apply: all of the object, or labels alone. */
function manifestOf(dice: Dice, kind: Kind, namespace: string, name: string) {
  const metadata = { name, namespace, labels: { planned: dice.pick(['a', 'b']) } };
  const isWhole = kind === 'deployments.apps' || dice.chance(0.7);
  return { ...headOf(kind), metadata, ...(isWhole ? bodyOf(dice, kind) : {}) };
}

function patchOf(dice: Dice, kind: Kind) {
  const type = dice.pick(['MERGE', 'JSON', 'STRATEGIC'] as const);
  const pin = pinOf(dice);
  const labels = { planned: dice.pick(['a', 'b']) };
  if (type === 'JSON') {
    const operations =
      kind === 'deployments.apps'
        ? [
            { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'registry.example/app:9' },
            { op: 'add', path: '/spec/template/spec/containers/0/env/-', value: { name: 'MORE', value: pin } },
          ]
        : [{ op: 'replace', path: '/data/pin', value: kind === 'secrets' ? Buffer.from(pin).toString('base64') : pin }];
    const label = { op: 'add', path: '/metadata/labels/planned', value: labels.planned };
    return { type, patch: dice.sample([...operations, label], 3) };
  }
  if (kind !== 'deployments.apps') return { type, patch: { metadata: { labels }, ...bodyOf(dice, kind) } };
  const container = type === 'MERGE' ? containerOf(dice) : { name: 'app', env: [{ name: 'MORE', value: pin }] };
  const spec = { replicas: dice.below(6), template: { spec: { containers: [container] } } };
  // An env whose value is no text: the API server quotes what it refuses.
  const wrong = { name: 'app', env: [{ name: 'PIN', value: { text: pin } }] };
  if (dice.chance(0.1)) return { type, patch: { spec: { template: { spec: { containers: [wrong] } } } } };
  return { type, patch: { metadata: { labels }, spec } };
}
