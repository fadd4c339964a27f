/**
 * After random changes by kubectl, by the API and by mutations, `revert` to each recorded entry gives the state after it again: spec, data,
 * labels and annotations. A deleted object comes back, and the garbage collector leaves it.
 *
 * PORTOLAN_REVERT_CHANGES is the number of changes (40), PORTOLAN_SEED the seed (1).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { nullIfAbsent } from '../../src/kube/http/api-error.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import { Dice } from '../fuzz/dice.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type Answer, ask } from '../kit/graphql-client.ts';
import { mutated, randomDeployment } from '../kit/random-deployment.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { clusterName, WritingGateway } from '../kit/writing-gateway.ts';

const changes = Number(process.env['PORTOLAN_REVERT_CHANGES'] ?? '40');
const seed = Number(process.env['PORTOLAN_SEED'] ?? '1');
const namespace = 'reverts';

interface Live {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: object;
    readonly annotations?: object;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly object[];
  };
  readonly spec?: object;
  readonly data?: object;
}

interface Entry {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly before: { readonly raw: Live } | null;
  readonly object: { readonly raw: Live } | null;
}

interface Page {
  readonly nodes: readonly Entry[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
}

/** What a revert gives back. */
const shown = ({ metadata: { labels, annotations }, spec, data }: Live) => ({
  labels: labels ?? {},
  annotations: annotations ?? {},
  spec: spec ?? null,
  data: data ?? {},
});

describeOn([mainServer], 'reverts', { timeout: 120_000 + changes * 4000, needs: ['kubectl'] }, (server) => {
  let plane: ControlPlane;
  let api: RestClient;
  let gateway: WritingGateway;
  const kinds = {
    ConfigMap: { path: `/api/v1/namespaces/${namespace}/configmaps`, key: 'configmaps', word: 'configmap' },
    Deployment: {
      path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
      key: 'deployments.apps',
      word: 'deployment',
    },
  } as const;
  type Kind = keyof typeof kinds;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
    gateway = await WritingGateway.start(plane.kubeconfigPath);
    await eventually(async () => {
      const states = '{ configMaps { totalCount } deployments { totalCount } }';
      expect((await ask(gateway.url, states, {}, gateway.headers)).errors).toBeUndefined();
    });
  });
  afterAll(async () => {
    await gateway?.close();
    await api?.connection.close();
    await plane?.stop();
  });

  const idOf = (kind: Kind, name: string) =>
    encodeObjectId({ cluster: clusterName, key: kinds[kind].key, namespace, name });
  const live = (kind: Kind, name: string) => api.get<Live>(`${kinds[kind].path}/${name}`).catch(nullIfAbsent);
  const entries = async (): Promise<readonly Entry[]> => {
    const found: Entry[] = [];
    for (let after: string | null = null; ; ) {
      const text = `query ($after: String) { changes(since: "-1h", kinds: ["ConfigMap", "Deployment"], namespaces: ["${namespace}"], first: 100, after: $after) {
        nodes { type id name kind before { raw } object { raw } } pageInfo { hasNextPage endCursor } } }`;
      const answer: Answer<{ changes: Page }> = await ask(gateway.url, text, { after }, gateway.headers);
      const page: Page = must(answer.data, 'the changes').changes;
      found.push(...page.nodes);
      if (!page.pageInfo.hasNextPage) return found;
      after = page.pageInfo.endCursor;
    }
  };

  test(`${changes} changes, and a revert to each of their states`, async () => {
    const dice = new Dice(seed);
    const names = ['one', 'two', 'three'];
    const manifest = (kind: Kind, name: string): object => {
      const head = { metadata: { name, namespace, labels: { made: String(dice.below(9)) } } };
      if (kind === 'ConfigMap') return { ...head, apiVersion: 'v1', kind, data: { a: String(dice.below(9)) } };
      return { ...randomDeployment(dice), ...head, apiVersion: 'apps/v1', kind };
    };
    for (let count = 0; count < changes; count += 1) {
      const kind = dice.pick(Object.keys(kinds) as Kind[]);
      const name = dice.pick(names);
      const path = `${kinds[kind].path}/${name}`;
      const now = await live(kind, name);
      const { word } = kinds[kind];
      if (now === null) {
        await api.post(kinds[kind].path, manifest(kind, name));
      } else {
        const next = { ...mutatedObject(dice, kind, now), apiVersion: kind === 'ConfigMap' ? 'v1' : 'apps/v1', kind };
        await dice.pick([
          () => plane.kubectl(['-n', namespace, 'label', word, name, `x=${count}`, '--overwrite']),
          () => plane.kubectl(['-n', namespace, 'annotate', word, name, `note=n${count}`, '--overwrite']),
          () => plane.kubectl(['-n', namespace, 'replace', '-f', '-'], JSON.stringify(next)),
          () => api.put(path, next),
          () =>
            gateway.write('edit', {
              target: { id: idOf(kind, name) },
              base: { json: { ...next, ...now } },
              edited: { json: next },
            }),
          () => api.delete(path),
        ])();
      }
    }
    const recorded = await eventually(async () => {
      const found = await entries();
      // The newest entry of each object is its state of now.
      for (const kind of Object.keys(kinds) as Kind[]) {
        for (const name of names) {
          const newest = found.find((entry) => entry.kind === kind && entry.name === name);
          const now = await live(kind, name);
          expect(newest?.object?.raw.metadata.resourceVersion).toBe(now?.metadata.resourceVersion);
        }
      }
      return found;
    });
    const tally = { states: 0, changed: 0, unchanged: 0, created: 0 };
    for (const { kind, name, object, before } of recorded.toReversed()) {
      const state = must(object ?? before, 'a state of each entry').raw;
      const of = kind as Kind;
      const args = {
        target: { id: idOf(of, name) },
        to: { resourceVersion: state.metadata.resourceVersion },
        options: { waitMs: 20_000 },
      };
      const { items } = await gateway.write('revert', args);
      const what = `${kind} ${name} to ${state.metadata.resourceVersion}`;
      expect([what, items[0]?.errors]).toEqual([what, []]);
      expect([what, items[0]?.seen]).toEqual([what, true]);
      tally.states += 1;
      const result = items[0]?.result;
      if (result === 'CHANGED') tally.changed += 1;
      else if (result === 'CREATED') tally.created += 1;
      else tally.unchanged += 1;
      expect([what, shown(must(await live(of, name), what))]).toEqual([what, shown(state)]);
    }
    process.stdout.write(`${JSON.stringify({ test: 'reverts', seed, changes, ...tally })}\n`);
    expect(Math.min(tally.changed, tally.created)).toBeGreaterThan(0);
  });
});

function mutatedObject(dice: Dice, kind: 'ConfigMap' | 'Deployment', now: Live): object {
  if (kind === 'ConfigMap')
    return { ...now, data: { ...now.data, [dice.pick(['a', 'b', 'c'])]: String(dice.below(99)) } };
  // What defaults have added stays: only what the random Deployment has is changed.
  const filled = {
    ...now,
    metadata: { labels: {}, annotations: {}, ...now.metadata },
    spec: filledSpec(now.spec as Record<string, unknown>),
  };
  return mutated(dice, filled as never);
}

/** With the members that `mutated` expects. */
function filledSpec(spec: Record<string, unknown>): object {
  const template = spec['template'] as { readonly spec: { readonly containers: readonly object[] } };
  const pod = { nodeSelector: {}, volumes: [], tolerations: [], ...template.spec };
  const containers = template.spec.containers.map((each) => ({ env: [], ...each }));
  return { ...spec, template: { ...template, spec: { ...pod, containers } } };
}
