/** What a real API server never does, the model's must not do either: it would be held against ingest. */
import { expect, test } from 'vitest';
import { ModelClock, settle } from './model-clock.ts';
import { type FaultName, ModelFaults } from './model-faults.ts';
import { ModelServer } from './model-server.ts';
import { configMaps, type ModelObject } from './model-storage.ts';
import { RequestJudge } from './request-judge.ts';

const at = { namespace: 'default', name: 'a' };

/** A server whose chance is the given number: below a quarter, each of the faults strikes whenever it can. */
function serverWith(random: () => number, ...faultNames: FaultName[]) {
  const clock = new ModelClock();
  const faults = new ModelFaults(random, faultNames);
  const judge = new RequestJudge(clock, random, { burst: 100, perSecond: 100 });
  const server = new ModelServer({ name: 'model', clock, random, faults, judge, resources: [configMaps] });
  /** Asks for ConfigMaps; gives what has come so far, line by line, as `TYPE version`. */
  const ask = async (query: string) => {
    const stop = new AbortController();
    const path = `${configMaps.path}?${query}`;
    const patience = { headersTimeoutMs: 0, bodyTimeoutMs: 0 };
    const asked = server.connection.request({ method: 'GET', path, signal: stop.signal, ...patience });
    await clock.advance(100);
    const { body } = await asked;
    let text = '';
    body.on('data', (chunk: Buffer) => {
      text += String(chunk);
    });
    await settle();
    const lines = async () => {
      await settle();
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { type: string; object: { metadata: { resourceVersion: string } } })
        .map(({ type, object }) => `${type} ${object.metadata.resourceVersion}`);
    };
    return { lines, stop: () => stop.abort() };
  };
  const change = (object?: ModelObject): ModelObject =>
    server.write(configMaps, object === undefined ? 'ADDED' : 'MODIFIED', object ?? at).object;
  return { server, clock, ask, change };
}

/** Every second request is answered by the front end that may be behind. */
async function atSecond(ask: (query: string) => Promise<{ stop(): void }>): Promise<void> {
  (await ask('limit=1')).stop();
}

test('F36, F22: no front end stands between an object that no watch is told of and its deletion', async () => {
  const { server, ask, change } = serverWith(() => 0.5);
  change();
  server.lag = 1;
  await atSecond(ask);
  const watch = await ask('watch=true&resourceVersion=100');
  const unseen = server.write(configMaps, 'ADDED', { namespace: 'default', name: 'b' }, true);
  server.write(configMaps, 'DELETED', unseen.object);
  server.bookmark();
  expect(await watch.lines()).toEqual(['ADDED 101', 'BOOKMARK 101']);
  server.lag = 0;
  server.bookmark();
  expect(await watch.lines()).toEqual(['ADDED 101', 'BOOKMARK 101', 'DELETED 103', 'BOOKMARK 103']);
});

test('F22: a front end falls behind, and never back: the end of a stream is marked at what the stream has told', async () => {
  const { server, clock, ask, change } = serverWith(() => 0.5);
  const first = change();
  for (let version = 102; version <= 110; version += 1) change(first);
  server.lag = 2;
  await atSecond(ask);
  const stream = await ask('watch=true&sendInitialEvents=true&resourceVersion=105');
  server.lag = 7;
  server.bookmark();
  expect(await stream.lines()).toEqual(['ADDED 108']);
  await clock.advance(1000);
  expect(await stream.lines()).toEqual(['ADDED 108', 'BOOKMARK 108']);
});

test('F4: a collection whose only watch hangs on a dead connection is not watched', async () => {
  let chance = 0.5;
  const { server, ask, change } = serverWith(() => chance, 'F4');
  expect(server.watched).toBe(false);
  const watch = await ask('watch=true&resourceVersion=100');
  expect(server.watched).toBe(true);
  chance = 0.1;
  change();
  expect(server.watched).toBe(false);
  expect(server.bodies.size).toBe(1);
  watch.stop();
});

test('F4, F22: no bookmark passes an event that a dead connection has swallowed', async () => {
  let chance = 0.5;
  const { server, ask, change } = serverWith(() => chance, 'F4');
  change();
  server.lag = 1;
  await atSecond(ask);
  const watch = await ask('watch=true&resourceVersion=100');
  server.lag = 0;
  chance = 0.1;
  server.bookmark();
  expect(server.watched).toBe(false);
  expect(await watch.lines()).toEqual([]);
});
