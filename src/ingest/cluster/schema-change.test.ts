/** A server whose OpenAPI schemas change while it runs, as in an upgrade. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { quick, type RunningHost, ready, run, simulated } from '../../../test/kit/ingest-bench.ts';
import { must } from '../../base/must.ts';

/** Changes the hash of the core group in the v3 index, and adds a field to the spec of a Pod. */
function upgrade(running: RunningHost, url: string): void {
  running.between = (path) => {
    if (!path.startsWith('/openapi/v3')) return undefined;
    // The server rejects a hash that it did not announce.
    return fetch(url + path.replace('?hash=upgraded', '')).then(async (answer) => {
      const text = (await answer.text())
        .replace(/(\/api\/v1\?hash=)[^"]*/, '$1upgraded')
        .replaceAll('"nodeName":{', '"brandNew":{"type":"string"},"nodeName":{');
      const headers = { 'content-type': 'application/json' };
      return { status: answer.status, headers, body: Readable.from([Buffer.from(text)]) };
    });
  };
}

test('the schema of built-in kinds is read anew, once, when another one has stood', async () => {
  const { sim, options } = await simulated();
  const supervisor = { ...quick, rediscoverMs: 40, schemaStableMs: 200 };
  const running = run([options], { include: ['pods', 'nodes'], supervisor });
  await ready(running);
  const described = (key: string) =>
    must(
      running.writer.states().find(({ handle }) => handle.key === key),
      key,
    ).described;
  const hasNew = (): boolean => JSON.stringify(described('pods').tree).includes('brandNew');
  const [pods, nodes] = [described('pods'), described('nodes')];
  expect(hasNew()).toBe(false);
  upgrade(running, sim.url);
  await eventually(() => expect(hasNew()).toBe(true));
  expect(described('pods').shapeHash).not.toBe(pods.shapeHash);
  expect(described('nodes').shapeHash).toBe(nodes.shapeHash);
  const reads = (): number => running.asked.filter((each) => each.includes('hash=upgraded')).length;
  const rounds = (): number => running.asked.filter((each) => each === 'GET /openapi/v3').length;
  const [read, round] = [reads(), rounds()];
  await eventually(() => expect(rounds()).toBeGreaterThan(round + 10));
  expect(reads()).toBe(read);
  await ready(running);
});
