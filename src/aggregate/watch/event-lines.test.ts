/** The bounds of a watch whose client does not read. */
import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { ManualClock, settle } from '../../../test/kit/manual-clock.ts';
import { goneResource } from '../sets/shadow-resource.ts';
import { EventLines } from './event-lines.ts';

const api = { group: 'shadow.portolan.dev', version: 'v1alpha1' };
const show = { api, shown: { as: 'object', version: '' }, included: 'Metadata', now: () => 0 } as const;
const large = goneResource(
  api,
  { namespace: 'shop', name: 'x'.repeat(100_000), uid: 'u', labels: {}, createdAt: '' },
  1n,
);

/** Lines to a client that reads nothing until the test lets it. */
async function unreadLines() {
  const clock = new ManualClock();
  const opened = Promise.withResolvers<EventLines>();
  const server = await startLoopbackServer((_request, response) => {
    const lines = new EventLines(response, show, clock);
    lines.open();
    opened.resolve(lines);
  });
  onTestFinished(() => server.close());
  const closed = Promise.withResolvers<void>();
  const read = Promise.withResolvers<() => void>();
  const sent = request(server.url, (response) => {
    response.on('error', () => {});
    response.on('close', () => closed.resolve());
    read.resolve(() => void response.resume());
  });
  onTestFinished(() => void sent.destroy());
  sent.on('error', () => {});
  sent.end();
  return { clock, lines: await opened.promise, resume: await read.promise, closed: closed.promise };
}

/** Writes until nothing more is taken. The value resolves when it is. */
async function filled(lines: EventLines): Promise<{ readonly taken: Promise<boolean> }> {
  for (;;) {
    lines.event('ADDED', large);
    const taken = lines.ready();
    if (!(await Promise.race([taken, settle().then(() => false)]))) return { taken };
  }
}

test('a client that takes nothing for thirty seconds is cut off', async () => {
  const { clock, lines, resume, closed } = await unreadLines();
  const { taken } = await filled(lines);
  await expect.poll(() => clock.sleepers).toBe(1);
  await clock.advance(29_999);
  await clock.advance(1);
  expect(await taken).toBe(false);
  resume();
  await closed;
  expect(await lines.ready()).toBe(false);
});

test('a client that reads again gets on', async () => {
  const { clock, lines, resume } = await unreadLines();
  const { taken } = await filled(lines);
  resume();
  expect(await taken).toBe(true);
  await expect.poll(() => clock.sleepers).toBe(0);
});
