import { expect, test } from 'vitest';
import { readIncoming } from './incoming.ts';
import { createRedaction } from './redaction.ts';

test('keys and owners that are one text to SQLite are stored once', () => {
  const text = JSON.stringify({
    metadata: {
      name: 'a',
      uid: 'u',
      resourceVersion: '1',
      labels: { 'x\ud800': '1', 'x\ud801': '2' },
      ownerReferences: [{ uid: 'o\ud800' }, { uid: 'o\ud801', controller: true }, { uid: 'o\ud801', controller: true }],
    },
  });
  const received = readIncoming(
    { text },
    { names: { apiVersion: 'v1', kind: 'Pod' }, redaction: createRedaction([]), health: undefined },
  );
  expect(received.labels).toEqual([['x\ufffd', '2']]);
  expect(received.owners).toEqual([{ uid: 'o\ufffd', controller: true }]);
});
