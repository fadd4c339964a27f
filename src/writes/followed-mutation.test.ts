import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attacked, startAttackedCluster } from '../../test/kit/attacked-cluster.ts';
import { engineFixture } from '../../test/kit/engine-fixture.ts';
import { eventually } from '../../test/kit/eventually.ts';
import { widget, widgets } from '../../test/kit/graphql-world.ts';
import { kubeconfigFolder } from '../../test/kit/kubeconfig-file.ts';
import { configMap } from '../../test/kit/writes-suite.ts';
import { clusterName } from '../../test/kit/writing-gateway.ts';
import { localUser } from '../access/caller.ts';
import { connect } from '../kube/client/connection.ts';
import { RestClient } from '../kube/client/rest-client.ts';
import { beginOperation, type Operation } from '../operation/operation.ts';
import { WriteGate } from '../operation/write-gate.ts';
import { FollowedMutation } from './followed-mutation.ts';
import { carryOut, type WantedMutation } from './mutation.ts';
import { writeOptions } from './run/write-options.ts';
import type { Follower } from './session/write-session.ts';

describe('a mutation that is followed', () => {
  const folder = kubeconfigFolder();
  let cluster: Awaited<ReturnType<typeof startAttackedCluster>>;
  let client: RestClient;
  const gate = new WriteGate();

  beforeAll(async () => {
    cluster = await startAttackedCluster();
    client = new RestClient(await connect({ kubeconfig: folder.write({ server: cluster.proxy.url }) }));
  });
  afterAll(async () => {
    await client?.connection.close();
    await cluster?.proxy.close();
    await cluster?.sim.close();
    folder.remove();
  });

  async function begun(signal?: AbortSignal): Promise<Operation> {
    const unexpected = () => Promise.reject(new Error('no long manifests here'));
    const fixture = engineFixture({
      engine: {
        writes: {
          client: async () => client,
          planKey: new Uint8Array(32),
          charge: () => {},
          gate,
          redact: [],
          setKinds: [],
          audit: null,
          meter: { sends: () => () => {} },
          longManifests: { read: unexpected },
          version: '1.0.0',
        },
      },
    });
    await fixture.declare(widget());
    await fixture.sync(widgets, [], clusterName);
    const credentials = { header: () => undefined, headers: () => [], headerNames: () => [] };
    return beginOperation(fixture.engine.source, localUser, signal, { credentials });
  }

  function follow(operation: Operation, wanted: WantedMutation, stalled?: number): Promise<FollowedMutation> {
    const { options } = wanted;
    const mutation = { options, carryOut: (follower?: Follower) => carryOut(operation, wanted, follower) };
    return FollowedMutation.begin(operation, mutation, stalled);
  }

  /** Creates ConfigMaps one after the other. */
  function creates(names: readonly string[], value = ''): WantedMutation {
    const documents = names.map((name) => ({
      cluster: clusterName,
      namespace: attacked,
      json: configMap(attacked, name, { value }),
      yaml: null,
    }));
    return {
      verb: 'create',
      operationName: null,
      args: names,
      force: false,
      targets: { documents },
      action: ({ manifest }) => ({ verb: 'create', manifest: manifest ?? {} }),
      options: writeOptions({
        requestId: '01890a5d-ac96-774b-bcce-b302099a8057',
        order: 'GIVEN',
        onError: 'CONTINUE',
        waitMs: 0,
      }),
    };
  }

  const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const created = (names: readonly string[]): number =>
    names.filter((name) => cluster.sim.get(`/api/v1/namespaces/${attacked}/configmaps/${name}`) !== undefined).length;

  /** Rejects if somebody holds more than `bytes` of what all mutations may hold. */
  function requireFree(bytes: number): void {
    const helds = Array.from({ length: 8 }, () => gate.held());
    try {
      for (const held of helds) held.add(32 * 1024 * 1024 - bytes / 8);
    } finally {
      for (const held of helds) held.end();
    }
  }

  test('tells of each object, and then of all', async () => {
    const followed = await follow(await begun(), creates(namesOf('told', 5)));
    const messages = await Array.fromAsync(followed.messages(new AbortController().signal));
    expect(messages.map(({ done, total, item, report }) => [done, total, item?.result, report?.items.length])).toEqual([
      [0, 5, undefined, undefined],
      ...[1, 2, 3, 4, 5].map((done) => [done, 5, 'CREATED', undefined]),
      [5, 5, undefined, 5],
    ]);
    requireFree(0);
  });

  test('begins only if the objects are known', async () => {
    const wanted = creates(['x']);
    const nowhere = {
      ...wanted,
      targets: { documents: [{ cluster: 'nowhere', namespace: null, json: {}, yaml: null }] },
    };
    await expect(follow(await begun(), nowhere)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    requireFree(0);
  });

  test('a client that takes no message loses the items, and what is not begun is skipped', async () => {
    const names = namesOf('stalled', 400);
    const followed = await follow(await begun(), creates(names, 'x'.repeat(10_000)), 20);
    const messages = followed.messages(new AbortController().signal);
    await messages.next();
    await messages.next();
    await eventually(() => requireFree(0));
    const sent = created(names);
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(names.length);
    await expect(messages.next()).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(created(names)).toBe(sent);
    await expect(messages.next()).resolves.toEqual({ done: true, value: undefined });
  });

  test.each([0, 1, 3])('the end of the subscription after %i messages cancels the rest', async (count) => {
    const prefix = `left-${count}`;
    const names = namesOf(prefix, 400);
    const followed = await follow(await begun(), creates(names));
    const stop = new AbortController();
    const messages = followed.messages(stop.signal);
    for (let taken = 0; taken < count; taken += 1) await messages.next();
    stop.abort();
    await eventually(() => requireFree(0));
    expect(created(names)).toBeLessThan(names.length);
    await expect(messages.next()).resolves.toEqual({ done: true, value: undefined });
  });

  test('a lost connection cancels the rest', async () => {
    const lost = new AbortController();
    const names = namesOf('lost', 400);
    const followed = await follow(await begun(lost.signal), creates(names));
    const messages = followed.messages(new AbortController().signal);
    await messages.next();
    lost.abort();
    const last = (await Array.fromAsync(messages)).at(-1);
    const codes = last?.report?.items.map(({ errors }) => errors[0]?.code ?? null) ?? [];
    // The request that was under way has no answer.
    expect(codes.filter((code) => code !== 'SKIPPED').length).toBeLessThanOrEqual(1);
    expect(created(names.filter((_, index) => codes[index] === 'SKIPPED'))).toBe(0);
    expect(codes).toHaveLength(names.length);
  });
});
