/** WATCH: order, beginnings, selectors, bookmarks, ends. */
import { beforeAll, describe, expect, test } from 'vitest';
import { asObject, at } from '../../sim/objects/json.ts';
import {
  type ConformanceClient,
  causesOf,
  makeNamespace,
  query,
  versionOf,
  type WatchEvent,
} from './conformance-client.ts';
import { initialEvents } from './version-differences.ts';

const told = ({ type, object }: WatchEvent): unknown[] => [type, at(object, 'metadata', 'name')];

export function watchCases(client: () => ConformanceClient): void {
  describe('watches', () => {
    let maps = '';
    const labels = { watch: 'yes' };
    const selected = { labelSelector: 'watch=yes' };
    beforeAll(async () => {
      maps = `${await makeNamespace(client(), 'c-watches')}/configmaps`;
    });
    const now = async (): Promise<string> => versionOf(await client().get(maps));
    const make = (name: string) => client().post(maps, { metadata: { name, labels } });

    test('tell what happens in order, each with its version', async () => {
      const watch = await client().watch(
        maps + query({ watch: '1', ...selected, resourceVersion: await now(), timeoutSeconds: '20' }),
      );
      await make('o1');
      await client().patch(`${maps}/o1`, 'merge', { data: { a: '1' } });
      await make('o2');
      await client().delete(`${maps}/o1`);
      await client().delete(`${maps}/o2`);
      const events = await watch.take(5);
      watch.close();
      expect(events.map(told)).toEqual([
        ['ADDED', 'o1'],
        ['MODIFIED', 'o1'],
        ['ADDED', 'o2'],
        ['DELETED', 'o1'],
        ['DELETED', 'o2'],
      ]);
      const versions = events.map((event) => Number(versionOf(event)));
      expect(versions).toEqual(versions.toSorted((a, b) => a - b));
      expect(new Set(versions).size).toBe(5);
      for (const { object } of events) expect(object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
      expect(events[3]?.object.data).toEqual({ a: '1' });
    });

    test('begin with what there is, without a version or with 0', async () => {
      await make('s1');
      await make('s2');
      for (const beginning of [{}, { resourceVersion: '0' }]) {
        const events = await client().watched(
          maps + query({ watch: 'true', ...selected, ...beginning, timeoutSeconds: '1' }),
        );
        expect(events.map(told).sort()).toEqual([
          ['ADDED', 's1'],
          ['ADDED', 's2'],
        ]);
      }
    });

    test('follow one object, by field selector and by the old path', async () => {
      const from = { resourceVersion: await now(), timeoutSeconds: '1' };
      await client().patch(`${maps}/s1`, 'merge', { data: { k: '1' } });
      await client().patch(`${maps}/s2`, 'merge', { data: { k: '1' } });
      for (const path of [
        maps + query({ ...from, watch: '1', fieldSelector: 'metadata.name=s2' }),
        `${maps.replace('/api/v1/', '/api/v1/watch/')}/s2${query(from)}`,
      ])
        expect((await client().watched(path)).map(told), path).toEqual([['MODIFIED', 's2']]);
      // The path of an object is no collection, whatever is asked of it.
      expect((await client().get(`${maps}/s2?watch=1`)).body).toMatchObject({ kind: 'ConfigMap' });
    });

    test('tell of selection: what comes to match is ADDED, what ceases is DELETED as it was', async () => {
      const from = { resourceVersion: await now(), timeoutSeconds: '1' };
      await client().post(maps, { metadata: { name: 'move' }, data: { n: '1' } });
      await client().patch(`${maps}/move`, 'merge', { metadata: { labels: { watch: 'yes' } }, data: { n: '2' } });
      await client().patch(`${maps}/move`, 'merge', { data: { n: '3' } });
      const left = await client().patch(`${maps}/move`, 'merge', { metadata: { labels: null }, data: { n: '4' } });
      await client().delete(`${maps}/move`);
      const events = await client().watched(maps + query({ watch: '1', ...selected, ...from }));
      expect(events.map(({ type, object }) => [type, at(object, 'data', 'n')])).toEqual([
        ['ADDED', '2'],
        ['MODIFIED', '3'],
        ['DELETED', '3'],
      ]);
      expect(versionOf(events[2] ?? left)).toBe(versionOf(left));
    });

    test('end with their time; bookmarks, where they come, say how far they are', async () => {
      const from = await now();
      const made = await make('b1');
      const events = await client().watched(
        maps + query({ watch: '1', resourceVersion: from, allowWatchBookmarks: 'true', timeoutSeconds: '4' }),
      );
      expect(told(events[0] ?? { type: '', object: {} })).toEqual(['ADDED', 'b1']);
      const bookmarks = events.filter(({ type }) => type === 'BOOKMARK');
      for (const bookmark of bookmarks) {
        expect(bookmark.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
        expect(at(bookmark.object, 'metadata', 'name')).toBeUndefined();
        expect(Number(versionOf(bookmark))).toBeGreaterThanOrEqual(Number(versionOf(made)));
      }
    });

    test('from a version of the future are silent', async () => {
      const events = await client().watched(
        maps + query({ watch: '1', resourceVersion: '99999999', timeoutSeconds: '1' }),
      );
      expect(events).toEqual([]);
    });

    test.each([
      ['a version that is no number', { resourceVersion: 'abc' }, 500],
      ['a match', { resourceVersion: '1', resourceVersionMatch: 'NotOlderThan' }, 422],
      ['a field nobody selects by', { fieldSelector: 'data.k=v' }, 400],
      ['half a selector', { labelSelector: 'a in (' }, 400],
    ])('refuse %s', async (_what, parameters, code) => {
      const reply = await client().get(maps + query({ ...parameters, watch: '1', timeoutSeconds: '1' }));
      expect(reply.code, reply.text).toBe(code);
    });

    const streamed = {
      watch: '1',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      labelSelector: 'stream=yes',
      timeoutSeconds: '5',
    };
    const endsInitial = ({ object }: WatchEvent): unknown =>
      at(object, 'metadata', 'annotations', 'k8s.io/initial-events-end');

    test('begin with the objects and a mark behind them, as a streaming list', async () => {
      for (const name of ['i1', 'i2'])
        await client().post(maps, { metadata: { name, labels: { stream: 'yes' } }, data: { k: name } });
      const { code, causes } = await client().expected(initialEvents);
      if (code !== 200) {
        const reply = await client().get(maps + query(streamed));
        expect([reply.code, causesOf(reply)]).toEqual([code, causes]);
        return;
      }
      const newest = await now();
      const watch = await client().watch(maps + query({ ...streamed, resourceVersion: newest }));
      const events = await watch.take(3);
      expect(events.slice(0, 2).map(told).sort()).toEqual([
        ['ADDED', 'i1'],
        ['ADDED', 'i2'],
      ]);
      const [, , mark] = events;
      expect(mark).toMatchObject({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1' } });
      expect(mark && endsInitial(mark)).toBe('true');
      expect(Number(mark && versionOf(mark))).toBeGreaterThanOrEqual(Number(newest));
      // The mark has nothing but a version and the annotation.
      expect(Object.keys(asObject(mark?.object.metadata)).sort()).toEqual(['annotations', 'resourceVersion']);
      await client().patch(`${maps}/i1`, 'merge', { data: { k: 'changed' } });
      expect((await watch.take(1)).map(told)).toEqual([['MODIFIED', 'i1']]);
      watch.close();
    });

    test('that are asked for no initial events begin with the present', async ({ skip }) => {
      await client().needs(initialEvents, skip);
      const watch = await client().watch(maps + query({ ...streamed, sendInitialEvents: 'false' }));
      await client().post(maps, { metadata: { name: 'i3', labels: { stream: 'yes' } } });
      expect((await watch.take(1)).map(told)).toEqual([['ADDED', 'i3']]);
      watch.close();
    });

    test('that are asked for initial events of the future give up with 504, inside the stream', async ({ skip }) => {
      await client().needs(initialEvents, skip);
      const events = await client().watched(maps + query({ ...streamed, resourceVersion: '99999999' }));
      expect(events).toMatchObject([
        { type: 'ERROR', object: { kind: 'Status', status: 'Failure', code: 504, reason: 'Timeout' } },
      ]);
      expect(at(events[0]?.object, 'details', 'causes')).toMatchObject([{ reason: 'ResourceVersionTooLarge' }]);
    });

    test.for([
      ['no match', '', ['FieldValueForbidden']],
      ['another match', 'Exact', ['FieldValueForbidden', 'FieldValueNotSupported']],
    ] as const)('with initial events need to match what is not older: %s', async ([, match, reasons], { skip }) => {
      await client().needs(initialEvents, skip);
      const reply = await client().get(maps + query({ ...streamed, resourceVersionMatch: match, timeoutSeconds: '1' }));
      expect(reply.body, reply.text).toMatchObject({ code: 422, reason: 'Invalid' });
      expect(causesOf(reply)).toEqual(reasons.map((reason) => `resourceVersionMatch ${reason}`));
    });

    test('are not for every resource', async () => {
      expect((await client().get('/api/v1/componentstatuses?watch=1')).body).toMatchObject({ code: 405 });
    });
  });
}
