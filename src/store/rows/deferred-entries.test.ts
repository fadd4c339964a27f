import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeferredEntries, type IndexEntries } from './deferred-entries.ts';

const row = (id: number, uid: string, labels: readonly (readonly [string, string])[] = []) => ({
  id,
  received: { uid, labels },
});

/** The entries as lines, so that they can be compared. */
function linesOf({ uids, labels }: IndexEntries): string[] {
  const lines: string[] = [];
  for (let at = 0; at < uids.length; at += 2) lines.push(`${uids[at]}=${uids[at + 1]}`);
  for (let at = 0; at < labels.length; at += 3) lines.push(`${labels[at]}:${labels[at + 1]}=${labels[at + 2]}`);
  return lines;
}

function allOf(deferred: DeferredEntries, most: number): string[] {
  const lines: string[] = [];
  for (let some = deferred.rest(most); some !== null; some = deferred.rest(most)) lines.push(...linesOf(some));
  return lines;
}

const label = fc.tuple(fc.constantFrom('app', 'tier', 'a'), fc.string({ maxLength: 3 }));
const object = fc.record({
  uid: fc.string({ maxLength: 4 }),
  labels: fc.uniqueArray(label, { maxLength: 3, selector: ([key]) => key }),
});
const step = fc.oneof(
  fc.record({ add: fc.array(object, { maxLength: 12 }) }),
  fc.record({ forget: fc.nat({ max: 200 }) }),
);

test('each entry comes once, but those of what was forgotten before', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 40 }), (steps, gathered) => {
      const deferred = new DeferredEntries(gathered);
      const wanted = new Set<string>();
      const came: string[] = [];
      let id = 0;
      for (const each of steps) {
        if ('forget' in each) {
          if (each.forget > id) continue;
          deferred.forget(each.forget);
          for (const line of wanted) if (line.endsWith(`=${each.forget}`) && !came.includes(line)) wanted.delete(line);
          continue;
        }
        const rows = each.add.map(({ uid, labels }, at) => row(id + at + 1, uid, labels));
        id += rows.length;
        deferred.add(rows);
        for (const { id: at, received } of rows) {
          wanted.add(`${received.uid}=${at}`);
          for (const [key, value] of received.labels) wanted.add(`${key}:${value}=${at}`);
        }
        came.push(...linesOf(deferred.due(rows.length)));
      }
      came.push(...allOf(deferred, 5));
      expect(came.toSorted()).toEqual([...wanted].toSorted());
      expect(deferred.rest(5)).toBeNull();
    }),
  );
});

test('they come in their order, and are over when as many again have come', () => {
  const deferred = new DeferredEntries(100);
  const uidOf = (id: number) => `u${String((id * 37) % 1000).padStart(3, '0')}`;
  const put = (from: number) => {
    deferred.add(Array.from({ length: 10 }, (_, at) => row(from + at, uidOf(from + at), [['app', uidOf(from + at)]])));
    return linesOf(deferred.due(10));
  };
  let came: string[] = [];
  for (let from = 0; from < 90; from += 10) expect(put(from)).toEqual([]);
  for (let from = 90; from < 190; from += 10) {
    const lines = put(from);
    expect(lines.length).toBeLessThan(40);
    came = [...came, ...lines];
  }
  const uids = came.filter((line) => !line.startsWith('app'));
  expect(uids).toHaveLength(100);
  expect(uids).toEqual(uids.toSorted());
  const labels = came.filter((line) => line.startsWith('app'));
  expect(labels).toEqual(labels.toSorted());
  expect(allOf(deferred, 1000)).toHaveLength(180);
});
