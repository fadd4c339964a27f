/**
 * Members are changed by others, and sets by kubectl: after each change, each set is what a model computes from its members
 * (test/kit/set-model.ts).
 *
 *   a step   one change -> kubectl get of all members -> the model
 *            -> a list, a get, a watch that runs all the time, and `kubectl diff` show what the model has
 *
 * The watch may show no state of a set that never was: while others change a member, an event is the state before or after the change. While a
 * set is written, its members change one after another, so its own events in between are not judged.
 *
 * PORTOLAN_SET_CHANGES is the number of changes, PORTOLAN_SEED chooses them. The test prints how long sets took to follow.
 */
import { spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { must } from '../../src/base/must.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { runKubectl } from '../kit/kubectl-run.ts';
import { type KubectlChange, memberPlurals, RandomMembers, setWidgetCrd } from '../kit/random-members.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { seededRandom } from '../kit/seeded-random.ts';
import {
  isEqual,
  type Json,
  type ModelSet,
  objectKey,
  refusedEntry,
  type ShownSet,
  shownPart,
  shownSet,
  sorted,
  writtenSet,
} from '../kit/set-model.ts';

const changes = Number(process.env['PORTOLAN_SET_CHANGES'] ?? randomRuns(25, 60));
const seed = Number(process.env['PORTOLAN_SEED'] ?? 38);
const namespace = 'follow';
const tokens = { jane: 'token-of-jane', scaler: 'token-of-scaler' };
const path = `/apis/shadow.portolan.dev/v1alpha1/namespaces/${namespace}/shadowresources`;
const names = ['alpha', 'beta', 'gamma'];
const adoptAnnotation = 'shadow.portolan.dev/adopt';
const most = { members: 5, milliseconds: 15_000 };

interface WatchEvent {
  readonly type: string;
  readonly object: Json & { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
}

describeOn(
  [mainServer],
  'sets follow their members',
  { timeout: 120_000 + changes * 6000, needs: ['kubectl'] },
  (server) => {
    let aggregated: AggregatedPlane;
    let client: RestClient;
    const run = (change: KubectlChange & { readonly token?: string }) =>
      runKubectl(server, aggregated.plane, {
        token: change.byScaler === true ? tokens.scaler : tokens.jane,
        ...change,
        args: ['-n', namespace, ...change.args],
      });
    const kubectl = async (change: KubectlChange): Promise<string> => {
      const { code, stdout, stderr } = await run(change);
      if (code !== 0) throw new Error(`kubectl ${change.args.join(' ')}: ${stderr}`);
      return stdout;
    };
    const script = (name: string, text: string): string => {
      const file = join(aggregated.plane.dir, name);
      writeFileSync(file, `#!/bin/sh\n${text}\n`);
      chmodSync(file, 0o755);
      return file;
    };
    /** The live members by their keys, as kubectl gets them. */
    const liveMembers = async (): Promise<ReadonlyMap<string, Json>> => {
      const { items } = JSON.parse(
        await kubectl({ args: ['get', Object.values(memberPlurals).join(','), '-o', 'json'] }),
      ) as { readonly items: readonly Json[] };
      return new Map(items.map((item) => [objectKey(item), item]));
    };

    beforeAll(async () => {
      aggregated = await startAggregatedPlane({
        server,
        flags: { impersonate: 'constrained' },
        users: [
          { token: tokens.jane, user: 'jane', groups: ['devs'] },
          { token: tokens.scaler, user: 'scaler', groups: [] },
        ],
        prepare: async (plane) => {
          await plane.kubectl(['create', '-f', '-'], JSON.stringify(setWidgetCrd));
          await plane.kubectl(['wait', '--for=condition=Established', 'crd/widgets.sets.example']);
          await plane.kubectl(['create', 'namespace', namespace]);
          await plane.kubectl(['create', 'clusterrolebinding', 'jane', '--clusterrole=cluster-admin', '--user=jane']);
          const scale = ['deployments', 'statefulsets', 'widgets.sets.example'].map((each) => `${each}/scale`);
          await plane.kubectl([
            ...['create', 'clusterrole', 'scaler', '--verb=get,patch,update'],
            `--resource=${scale.join(',')}`,
          ]);
          await plane.kubectl(['create', 'clusterrolebinding', 'scaler', '--clusterrole=scaler', '--user=scaler']);
        },
      });
      client = new RestClient(
        await connect({ kubeconfig: aggregated.plane.writeKubeconfig('jane', { token: tokens.jane }) }),
      );
      await eventually(() => client.get(path));
    }, 240_000);
    afterAll(async () => {
      await client?.connection.close();
      await aggregated?.stop();
    }, 60_000);

    test(`${changes} changes, seed ${seed}`, async () => {
      const editor = script('editor.sh', 'exec sed -i "s|$EDIT_FROM|$EDIT_TO|g" "$1"');
      const differ = script(
        'differ.sh',
        'diff -r "$1" "$2" > /dev/null && exit 0\nfor each in "$1"/* "$2"/*; do echo "# file"; cat "$each"; done\nexit 1',
      );
      const random = new RandomMembers(seededRandom(seed), namespace, editor);
      const sets = new Map<string, ModelSet>();
      const watched = watchSets();
      const took: number[] = [];
      const story: string[] = [];
      let live = await liveMembers();

      /** The sets as a list has them, until they are as the model says. @returns milliseconds until they were */
      const followed = async (wanted: () => Promise<ReadonlyMap<string, ShownSet>>): Promise<number> => {
        const begun = performance.now();
        const seen: { readonly at: number; readonly sets: ReadonlyMap<string, ShownSet> }[] = [];
        let model: ReadonlyMap<string, ShownSet> | null = null;
        const known = wanted().then((found) => {
          model = found;
        });
        for (;;) {
          const { items } = await client.get<{ items: readonly WatchEvent['object'][] }>(path);
          const at = performance.now() - begun;
          seen.push({ at, sets: new Map(items.map((item) => [item.metadata.name, shownPart(item)])) });
          if (model !== null && (isSame(must(seen.at(-1), 'a list').sets, model) || at > most.milliseconds)) break;
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        await known;
        const right = must(model as ReadonlyMap<string, ShownSet> | null, 'the model');
        expect(plain(must(seen.at(-1), 'a list').sets), 'the list').toEqual(plain(right));
        const first = seen.findLastIndex(({ sets: found }) => !isSame(found, right)) + 1;
        return must(seen[first], 'a right list').at;
      };

      const step = async (index: number): Promise<void> => {
        const before = states(sets, live);
        const { said, isSetWrite, done } = await changeOne(random, sets, live);
        story.push(`${index}: ${said}`);
        const name = isSetWrite ?? random.one(names);
        took.push(
          await followed(async () => {
            const now = await liveMembers();
            done(live, now);
            live = now;
            return states(sets, now);
          }),
        );
        const after = states(sets, live);
        await watched.settled(after);
        for (const { type, object } of watched.taken()) {
          if (object.metadata.name === isSetWrite) continue;
          const shown = shownPart(object);
          const those = [before, after].map((each) => each.get(object.metadata.name));
          expect(
            type === 'DELETED' ? those.includes(undefined) : those.some((each) => isEqual(each, shown)),
            `${type} ${JSON.stringify(object)}`,
          ).toBe(true);
        }
        const set = sets.get(name);
        if (set === undefined) {
          expect((await run({ args: ['get', 'shadow', name] })).stderr).toContain('not found');
          return;
        }
        const got = JSON.parse(await kubectl({ args: ['get', 'shadow', name, '-o', 'json'] }));
        expect(shownPart(got)).toEqual(after.get(name));
        const last = must(watched.last(name), 'an event of the set');
        const bare = ({ metadata: { resourceVersion: _version, ...metadata }, ...rest }: typeof got) => ({
          ...rest,
          metadata,
        });
        expect(bare(last), 'the last event').toEqual(bare(got));
        expect(BigInt(last.metadata.resourceVersion) <= BigInt(got.metadata.resourceVersion)).toBe(true);
        for (const { submitted, uid } of set.members) {
          const metadata = live.get(objectKey(submitted))?.['metadata'] as Json | undefined;
          if (metadata?.['uid'] !== uid) continue;
          expect(BigInt(got.metadata.resourceVersion) >= BigInt(String(metadata['resourceVersion']))).toBe(true);
        }
        await requireDiff(set, must(after.get(name), 'the state of the set'));
      };

      /** `kubectl diff` of what was submitted last: exactly what has drifted. */
      const requireDiff = async (set: ModelSet, now: ShownSet): Promise<void> => {
        const { code, stdout, stderr } = await run({
          args: ['diff', '-f', '-'],
          input: body(set, set.file),
          env: { KUBECTL_EXTERNAL_DIFF: differ },
        });
        const { adopts, file } = set;
        if (refusedEntry(set, file, { adopts, live, sets: sets.values() }) !== null) {
          expect([code, stderr], 'a diff that is refused').toEqual([2, expect.stringMatching(/AlreadyExists|Invalid/)]);
          return;
        }
        if (isEqual(now.flowList, file)) {
          expect([code, stdout, stderr], 'a diff without a difference').toEqual([0, '', '']);
          return;
        }
        expect([code, withoutAdoption(stderr)], 'a diff').toEqual([1, '']);
        const [, liveText = '', mergedText = ''] = stdout.split('# file\n');
        const [shown, merged] = [parse(liveText), parse(mergedText)];
        expect(shown.spec.flowList, 'the live side of the diff').toEqual(now.flowList);
        expect(byName(merged.spec.flowList), 'the submitted side of the diff').toEqual(byName(file));
        expect({ ...merged, spec: null }, 'the rest of the diff').toEqual({ ...shown, spec: null });
      };

      try {
        for (let index = 0; index < changes; index += 1) await step(index);
      } catch (error) {
        throw new Error(`PORTOLAN_SEED=${seed} fails. ${String(error)}\n${story.slice(-6).join('\n')}`, {
          cause: error,
        });
      }
      const sortedMs = took.toSorted((a, b) => a - b);
      const at = (part: number): number => Math.round(sortedMs[Math.ceil(part * sortedMs.length) - 1] ?? 0);
      // biome-ignore lint/suspicious/noConsole: the figures of this run.
      console.log(
        JSON.stringify({ test: 'followed-members', seed, changes, p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(1) }),
      );
    });

    /** One change. `done` brings the model to the state after it. `isSetWrite` is the name of the set that is written. */
    async function changeOne(
      random: RandomMembers,
      sets: Map<string, ModelSet>,
      live: ReadonlyMap<string, Json>,
    ): Promise<{
      readonly said: string;
      readonly isSetWrite: string | null;
      readonly done: (before: ReadonlyMap<string, Json>, after: ReadonlyMap<string, Json>) => void;
    }> {
      const nothing = (): void => {};
      const members = [...sets.values()].flatMap((set) => set.members);
      const others = members.filter(({ submitted }) => live.has(objectKey(submitted)));
      const missing = members.filter(({ submitted }) => !live.has(objectKey(submitted)));
      const choice = random.pick(20);
      if (choice < 10 && others.length > 0) {
        const change = random.change(must(live.get(objectKey(random.one(others).submitted)), 'a live member'));
        await kubectl(change);
        return { said: told(change), isSetWrite: null, done: nothing };
      }
      if (choice < 12 && missing.length > 0) {
        const change = { args: ['create', '-f', '-'], input: random.one(missing).submitted };
        await kubectl(change);
        return { said: `${told(change)}: the member again`, isSetWrite: null, done: nothing };
      }
      const name = random.one(names);
      const set = sets.get(name);
      if (set !== undefined && choice === 12) {
        await kubectl({ args: ['delete', 'shadow', name] });
        return { said: `delete ${name}`, isSetWrite: name, done: () => void sets.delete(name) };
      }
      if (set !== undefined && choice === 13) {
        await kubectl({ args: ['label', 'shadow', name, `batch=${random.token()}`, '--overwrite'] });
        return { said: `label ${name}`, isSetWrite: name, done: nothing };
      }
      if (set !== undefined && choice === 14) {
        const shown = shownSet(set, live).flowList as readonly Json[];
        const change = random.edit(`shadow/${name}`, JSON.stringify(shown));
        const { EDIT_FROM: from = '', EDIT_TO: to = '' } = change.env ?? {};
        const list = JSON.parse(JSON.stringify(shown).replaceAll(`"${from}"`, `"${to}"`)) as readonly Json[];
        await kubectl(change);
        const done = (before: typeof live, after: typeof live): void => {
          if (!isEqual(list, shown)) sets.set(name, writtenSet(set, list, before, after));
        };
        return { said: `edit ${name}: ${from} to ${to}`, isSetWrite: name, done };
      }
      const list = listOf(random, set ?? null);
      const adopts = set?.adopts ?? name !== 'alpha';
      const refused = refusedEntry(set ?? null, list, { adopts, live, sets: sets.values() });
      const apply = await run({
        args: ['apply', '--server-side', '--force-conflicts', '-f', '-'],
        input: body({ name, adopts }, list),
      });
      const said = `apply ${name}: ${list.map(objectKey).join(', ')}${refused === null ? '' : ' (refused)'}`;
      if (refused !== null) {
        expect([apply.code, apply.stderr], said).toEqual([
          1,
          expect.stringContaining(objectKey(refused).replace('/', ' ')),
        ]);
        return { said, isSetWrite: null, done: nothing };
      }
      expect([apply.code, withoutAdoption(apply.stderr)], said).toEqual([0, '']);
      const done = (before: typeof live, after: typeof live): void => {
        sets.set(name, writtenSet(set ?? { name, adopts }, list.map(withData), before, after));
      };
      return { said, isSetWrite: name, done };
    }

    /** Another list: members that come, leave, change their place or their content, or are moved from another set. */
    function listOf(random: RandomMembers, set: ModelSet | null): readonly Json[] {
      const list = [...(set?.file ?? [])];
      if (set !== null && random.chance(0.3)) return list;
      for (let times = 1 + random.pick(3); times > 0; times -= 1) {
        const kind = random.one(Object.keys(memberPlurals));
        const entry = random.manifest(kind, random.one(['one', 'two']));
        const at = list.findIndex((each) => objectKey(each) === objectKey(entry));
        if (random.chance(0.2) && list.length > 1) list.splice(random.pick(list.length), 1);
        else if (at !== -1) list[at] = entry;
        else if (list.length < most.members) list.splice(random.pick(list.length + 1), 0, entry);
        else list.push(...list.splice(random.pick(list.length), 1));
      }
      return list;
    }

    function body({ name, adopts }: Pick<ModelSet, 'name' | 'adopts'>, flowList: readonly Json[]): object {
      const annotations = adopts ? { annotations: { [adoptAnnotation]: 'true' } } : {};
      const metadata = { name, namespace, ...annotations };
      return { apiVersion: 'shadow.portolan.dev/v1alpha1', kind: 'ShadowResource', metadata, spec: { flowList } };
    }

    /** `kubectl get --watch` from before the first change to the end. */
    function watchSets() {
      const child = spawn(server.assets.path('kubectl'), [
        `--kubeconfig=${aggregated.plane.kubeconfigPath}`,
        `--token=${tokens.jane}`,
        ...['get', 'shadow', '-n', namespace, '--watch', '--output-watch-events', '-o', 'json'],
      ]);
      onTestFinished(() => void child.kill('SIGKILL'));
      const events: WatchEvent[] = [];
      const last = new Map<string, WatchEvent['object']>();
      createInterface({ input: child.stdout }).on('line', (line) => {
        const event = JSON.parse(line) as WatchEvent;
        events.push(event);
        const { name, resourceVersion } = event.object.metadata;
        const former = last.get(name)?.metadata.resourceVersion ?? '0';
        expect(BigInt(resourceVersion) >= BigInt(former), `${event.type} ${name}: a version that falls`).toBe(true);
        if (event.type === 'DELETED') last.delete(name);
        else last.set(name, event.object);
      });
      return {
        last: (name: string) => last.get(name),
        /** The events since the last call. */
        taken: () => events.splice(0),
        /** Resolves when the last events are these states. */
        settled: (wanted: ReadonlyMap<string, ShownSet>) =>
          eventually(() => {
            const now = new Map([...last].map(([name, object]) => [name, shownPart(object)]));
            expect(plain(now), 'the watch').toEqual(plain(wanted));
          }, most.milliseconds),
      };
    }
  },
);

function states(sets: ReadonlyMap<string, ModelSet>, live: ReadonlyMap<string, Json>): ReadonlyMap<string, ShownSet> {
  return new Map([...sets].map(([name, set]) => [name, shownSet(set, live)]));
}

function plain(states: ReadonlyMap<string, ShownSet>): unknown {
  return Object.fromEntries([...states].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function isSame(left: ReadonlyMap<string, ShownSet>, right: ReadonlyMap<string, ShownSet>): boolean {
  return isEqual(plain(left), plain(right));
}

/** `stringData` of a Secret becomes its data. */
function withData({ stringData, ...entry }: Json): Json {
  if (stringData === undefined) return entry;
  const encoded = Object.entries(stringData as Record<string, string>).map(
    ([name, value]) => [name, Buffer.from(value).toString('base64')] as const,
  );
  return { ...entry, data: Object.fromEntries(encoded) };
}

/** The entries with the elements of their lists by name: an apply adds elements to those that are there. */
function byName(value: unknown): unknown {
  if (Array.isArray(value)) {
    const all = value.map(byName);
    const isNamed = all.every((each) => typeof each === 'object' && each !== null && 'name' in each);
    return isNamed
      ? all.toSorted((a, b) => ((a as { name: string }).name < (b as { name: string }).name ? -1 : 1))
      : all;
  }
  if (typeof value !== 'object' || value === null) return value;
  return sorted(Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, byName(inner)])));
}

/** What kubectl says besides the warning that objects are adopted. */
function withoutAdoption(stderr: string): string {
  return stderr.replace(/^Warning: .*adopted.*\n/gm, '');
}

function told({ args, input, env }: KubectlChange): string {
  return [...args, ...(input === undefined ? [] : [JSON.stringify(input)]), env?.['EDIT_FROM'] ?? ''].join(' ');
}
