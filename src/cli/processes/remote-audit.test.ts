import { expect, test } from 'vitest';
import type { FromProcess } from './process-messages.ts';
import { RemoteAuditLines } from './remote-audit.ts';

/** The lines of a process, and a channel that takes messages when the test says so. */
function lines() {
  const sent: { readonly message: FromProcess; readonly taken: () => void }[] = [];
  const remote = new RemoteAuditLines(
    (message, taken) => void sent.push({ message, taken }),
    () => ({ isWritable: true, written: 0, missing: 0 }),
  );
  return { remote, sent, messages: () => sent.map(({ message }) => message) };
}

const unavailable = expect.objectContaining({ code: 'AUDIT_UNAVAILABLE' });

test('lines and notes go in the order in which they come', () => {
  const { remote, messages } = lines();
  remote.write('a\n');
  void remote.note('b\n');
  remote.write('c\n');
  expect(messages()).toEqual([
    { type: 'audit', text: 'a\n', id: null },
    { type: 'audit', text: 'b\n', id: 1 },
    { type: 'audit', text: 'c\n', id: null },
  ]);
});

test('a note settles with its own answer', async () => {
  const { remote } = lines();
  const first = remote.note('a\n');
  const second = remote.note('b\n');
  remote.noted(2, 'the disk is full');
  remote.noted(7, 'of nobody');
  await expect(second).rejects.toEqual(unavailable);
  remote.noted(1, null);
  await expect(first).resolves.toBeUndefined();
});

test('above ten thousand lines that wait, lines are missing and notes are refused', async () => {
  const { remote, sent, messages } = lines();
  for (let line = 0; line < 10_002; line += 1) remote.write(`${line}\n`);
  await expect(remote.note('refused\n')).rejects.toEqual(unavailable);
  expect(sent).toHaveLength(10_000);
  for (const { taken } of sent) taken();
  remote.write('after\n');
  expect(messages().slice(10_000)).toEqual([
    { type: 'missed', lines: 3 },
    { type: 'audit', text: 'after\n', id: null },
  ]);
});

test('lines that wait are bounded by their length too', () => {
  const { remote, sent } = lines();
  const text = 'x'.repeat(1024 * 1024);
  for (let line = 0; line < 40; line += 1) remote.write(text);
  expect(sent).toHaveLength(16);
});

test('a close waits until the channel has every line, and tells of missing ones', async () => {
  const { remote, sent, messages } = lines();
  for (let line = 0; line < 10_001; line += 1) remote.write(`${line}\n`);
  let isClosed = false;
  const closing = remote.close().then(() => {
    isClosed = true;
  });
  expect(messages().at(-1)).toEqual({ type: 'missed', lines: 1 });
  for (const { taken } of sent.slice(0, -1)) taken();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isClosed).toBe(false);
  sent.at(-1)?.taken();
  await closing;
  await lines().remote.close();
});
