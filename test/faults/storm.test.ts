/**
 * F40: a flood of changes, and a store that stalls in the middle of it. PORTOLAN_STORM=full plays it for five minutes with 5,000 changes
 * a second and a stall of ten seconds; without it, a few seconds of it.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { IngestHost } from '../../src/ingest/thread/ingest-host.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { openWriter } from '../../src/store/write/writer.ts';
import { eventually } from '../kit/eventually.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { storedObjects } from '../kit/reflector-bench.ts';
import { base, stormObjects, stormVersion } from '../kit/storm.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { overlaid } from '../model/watched-writer.ts';

const full = process.env['PORTOLAN_STORM'] === 'full';
const { seconds, perSecond, stallMs, bodyBytes } = full
  ? { seconds: 300, perSecond: 5000, stallMs: 10_000, bodyBytes: 1000 }
  : { seconds: 4, perSecond: 2500, stallMs: 2500, bodyBytes: 6000 };
const changes = seconds * perSecond;
/** Resident memory may grow by this much from the first tenth of the changes on: far below what comes during the stall and after. */
const roomBytes = 96 * 1024 * 1024;

test('F40: a flood of changes and a store that stalls: the sender is held up, memory stays flat, nothing is lost', {
  timeout: 120_000 + seconds * 5000,
}, async () => {
  const server = fork(fileURLToPath(new URL('../kit/storm-process.ts', import.meta.url)), [
    ...[changes, perSecond, bodyBytes].map(String),
  ]);
  onTestFinished(() => void server.kill());
  const [{ port }] = (await once(server, 'message')) as [{ port: number }];
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const kubeconfig = folder.write({ server: `http://127.0.0.1:${port}` });
  const file = join(temporaryDirectory('ingest'), 'store.db');
  const writer = openWriter(file);
  const rss: number[] = [];
  let calls = 0;
  let stalled = false;
  const apply: typeof writer.apply = (...args) => {
    calls += 1;
    if (calls % 20 === 0) rss.push(process.memoryUsage.rss());
    if (!stalled && writer.revision() - synced > changes / 3) {
      stalled = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stallMs);
    }
    return writer.apply(...args);
  };
  const host = new IngestHost({
    options: {
      file,
      clusters: [{ name: 'east', kubeconfig }],
      include: ['configmaps'],
      reflector: { streamingLists: false },
    },
    writer: overlaid(writer, { apply }),
    open: (cluster) => connect({ ...cluster, env: {} }),
    post: () => {},
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
  });
  onTestFinished(() => host.close());
  host.start();
  await eventually(() => expect(writer.states()).toMatchObject([{ synced: true, objects: stormObjects }]));
  const synced = writer.revision();
  server.send('begin');
  await eventually(() => expect(writer.revision() - synced).toBe(changes), 60_000 + seconds * 4000);

  expect(storedObjects(file)).toEqual(
    Array.from(
      { length: stormObjects },
      (_, index) => `east/configmaps/default/o${index} uid-${index}@${stormVersion(index, changes)}`,
    ).sort(),
  );
  expect(writer.states()).toMatchObject([{ lastResourceVersion: String(base + changes), status: { error: null } }]);
  expect(stalled).toBe(true);
  server.send('how');
  const [{ paused, behind }] = (await once(server, 'message')) as [{ paused: number; behind: number }];
  expect(paused).toBeGreaterThan(0);
  const early = Math.max(...rss.slice(0, Math.ceil(rss.length / 10)));
  const most = Math.max(...rss);
  if (full) {
    const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;
    process.stdout.write(
      `storm: ${changes} changes, the sender was held up ${paused} times and ${behind} changes; resident memory ${megabytes(early)} at first, ${megabytes(most)} at most\n`,
    );
  }
  expect(most - early).toBeLessThan(roomBytes);
});
