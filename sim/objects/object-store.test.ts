import { describe, expect, test } from 'vitest';
import { ObjectStore, type StoreEvent, type View } from './object-store.ts';

const put = (store: ObjectStore, name: string, value = 0, namespace = 'a'): number =>
  store.write('things', namespace, name, `uid-${name}`, (resourceVersion) => ({
    metadata: { name, resourceVersion },
    value,
  })).revision;
const names = (list: readonly { name: string }[] | undefined): string[] | undefined => list?.map((item) => item.name);
const drop = (store: ObjectStore, name: string): void => {
  store.remove('things', 'a', name, (resourceVersion) => ({ metadata: { name, resourceVersion } }));
};

describe('ObjectStore', () => {
  test('keeps keys in order and lists one namespace or all', () => {
    const store = new ObjectStore({ historyEvents: 100 });
    for (const name of ['c', 'a', 'b']) put(store, name);
    put(store, 'z', 0, 'a-b');
    expect(names(store.list('things'))).toEqual(['z', 'a', 'b', 'c']);
    expect(names(store.list('things', 'a'))).toEqual(['a', 'b', 'c']);
    expect(store.nth('things', 1)?.name).toBe('a');
    expect(store.nth('things', 4)).toBeUndefined();
  });

  test('shows the collection as it was at a revision', () => {
    const store = new ObjectStore({ historyEvents: 100 });
    put(store, 'a', 1);
    const then = put(store, 'b', 1);
    put(store, 'a', 2);
    drop(store, 'b');
    put(store, 'c', 1);
    const snapshot = store.snapshot('things', then);
    expect(names(snapshot)).toEqual(['a', 'b']);
    expect(snapshot?.[0]?.object.value).toBe(1);
    expect(names(store.list('things'))).toEqual(['a', 'c']);
  });

  test('hands out the events after a revision and knows when it has forgotten some', () => {
    const store = new ObjectStore({ historyEvents: 3 });
    const first = put(store, 'a', 0);
    for (let i = 1; i <= 3; i++) put(store, 'a', i);
    expect(store.eventsSince('things', first)?.map((event) => event.stored.object.value)).toEqual([1, 2, 3]);
    put(store, 'a', 4);
    expect(store.eventsSince('things', first)).toBeUndefined();
    expect(store.snapshot('things', first)).toBeUndefined();
  });

  test('keeps the history of all resources within its bytes, and forgets the oldest event of all first', () => {
    const store = new ObjectStore({ historyEvents: 1000, historyBytes: 10_000 });
    const padding = 'x'.repeat(900);
    const write = (storage: string): number =>
      store.write(storage, '', 'one', 'u', (resourceVersion) => ({ metadata: { resourceVersion }, padding })).revision;
    const quiet = write('quiet');
    const first = write('busy');
    for (let i = 0; i < 8; i++) write('busy');
    expect(store.eventsSince('quiet', quiet - 1)).toHaveLength(1);
    expect(store.eventsSince('busy', first - 1)).toHaveLength(9);
    const ninth = store.revision;
    for (let i = 0; i < 500; i++) write('busy');
    expect(store.eventsSince('busy', ninth)).toBeUndefined();
    expect(store.eventsSince('busy', store.revision - 9)).toHaveLength(9);
    expect(store.eventsSince('busy', store.revision - 12)).toBeUndefined();
    expect(store.eventsSince('quiet', quiet - 1)).toBeUndefined();
    expect(store.eventsSince('quiet', quiet)).toEqual([]);
  });

  test('forgets everything at compaction but can be resumed from the present', () => {
    const store = new ObjectStore({ historyEvents: 100 });
    const first = put(store, 'a', 0);
    const second = put(store, 'a', 1);
    store.compact();
    expect(store.eventsSince('things', first)).toBeUndefined();
    expect(store.eventsSince('things', second)).toEqual([]);
    put(store, 'b');
    expect(store.eventsSince('things', second)).toHaveLength(1);
  });

  test('lets listeners hear events in revision order even when a listener writes', () => {
    const store = new ObjectStore({ historyEvents: 100 });
    const heard: StoreEvent[] = [];
    store.subscribe('things', (event) => {
      if (event.stored.name === 'a') put(store, 'b');
    });
    store.subscribe('*', (event) => void heard.push(event));
    put(store, 'a');
    expect(heard.map((event) => event.stored.name)).toEqual(['a', 'b']);
    expect(heard[0]?.revision).toBeLessThan(heard[1]?.revision ?? 0);
  });

  test('caches the text of an object for each view', () => {
    const store = new ObjectStore({ historyEvents: 10 });
    const stored = store.write('things', '', 'a', 'u', () => ({ value: 1 }));
    let converted = 0;
    const view: View = {
      convert: (object) => {
        converted++;
        return { ...object, seen: true };
      },
      text: JSON.stringify,
    };
    expect(stored.text(view)).toBe('{"value":1,"seen":true}');
    expect(stored.text(view)).toBe('{"value":1,"seen":true}');
    expect(converted).toBe(1);
    store.write('things', '', 'a', 'u', () => ({ value: 2 }));
    expect(stored.text(view)).toBe('{"value":1,"seen":true}');
    expect(converted).toBe(2);
  });

  test('caches no text when it is told so', () => {
    const store = new ObjectStore({ historyEvents: 10, keepTexts: false });
    const stored = store.write('things', '', 'a', 'u', () => ({ value: 1 }));
    let converted = 0;
    const view: View = { convert: (object) => ({ ...object, seen: ++converted }), text: JSON.stringify };
    expect(stored.text(view)).toBe('{"value":1,"seen":1}');
    expect(stored.text(view)).toBe('{"value":1,"seen":2}');
  });
});
