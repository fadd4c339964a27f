import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SimClient, type WatchEvent } from '../../test/kit/sim-client.ts';
import { asString, at, type JsonObject } from '../objects/json.ts';
import { type SimCluster, startSimCluster } from '../sim-cluster.ts';

let cluster: SimCluster;
let client: SimClient;
const maps = '/api/v1/namespaces/default/configmaps';
const make = (name: string, labels: JsonObject = {}, namespace = 'default'): JsonObject =>
  cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels, namespace } });
const version = (object: JsonObject): string => asString(at(object, 'metadata', 'resourceVersion'));
const short = (event: WatchEvent | undefined): string =>
  `${event?.type} ${asString(at(event?.object, 'metadata', 'name'))}`;
const now = async (): Promise<string> => version((await client.get(maps)).body);

async function restart(options: Parameters<typeof startSimCluster>[0]): Promise<void> {
  await cluster.close();
  cluster = await startSimCluster(options);
  client = new SimClient(cluster.url);
}

beforeEach(async () => {
  cluster = await startSimCluster({ historyEvents: 10 });
  client = new SimClient(cluster.url);
});
afterEach(() => cluster.close());

describe('watches', () => {
  test('tell what happened strictly after a version, then what happens', async () => {
    const first = make('a');
    make('b');
    const watch = await client.watch(`${maps}?watch=1&resourceVersion=${version(first)}`);
    expect(short(await watch.next())).toBe('ADDED b');
    cluster.patch(`${maps}/a`, { data: { k: 'v' } });
    const modified = await watch.next();
    expect(short(modified)).toBe('MODIFIED a');
    expect(modified?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    cluster.delete(`${maps}/a`);
    const deleted = await watch.next();
    expect(short(deleted)).toBe('DELETED a');
    expect(Number(version(deleted?.object ?? {}))).toBeGreaterThan(Number(version(modified?.object ?? {})));
    await watch.close();
  });

  test('cover one namespace or all, one name, and the old form of the path', async () => {
    const from = await now();
    make('a');
    make('b', {}, 'kube-system');
    const all = await client.watch(`/api/v1/configmaps?watch=true&resourceVersion=${from}`);
    expect([short(await all.next()), short(await all.next())]).toEqual(['ADDED a', 'ADDED b']);
    const one = await client.watch(`/api/v1/namespaces/kube-system/configmaps?watch=true&resourceVersion=${from}`);
    expect(short(await one.next())).toBe('ADDED b');
    const named = await client.watch(
      `/api/v1/configmaps?watch=1&fieldSelector=metadata.name%3Db&resourceVersion=${from}`,
    );
    expect(short(await named.next())).toBe('ADDED b');
    const old = await client.watch(`/api/v1/watch/namespaces/kube-system/configmaps?resourceVersion=${from}`);
    expect(short(await old.next())).toBe('ADDED b');
    for (const watch of [all, one, named, old]) await watch.close();
  });

  test('turn entering and leaving a selector into ADDED and DELETED', async () => {
    make('a', { on: 'no' });
    const watch = await client.watch(`${maps}?watch=1&labelSelector=on%3Dyes&resourceVersion=${await now()}`);
    cluster.patch(`${maps}/a`, { metadata: { labels: { on: 'yes' } } });
    cluster.patch(`${maps}/a`, { data: { k: 'v' } });
    const left = cluster.patch(`${maps}/a`, { metadata: { labels: { on: 'no' } } });
    cluster.patch(`${maps}/a`, { data: { k: 'w' } });
    make('b', { on: 'yes' });
    cluster.delete(`${maps}/b`);
    expect(short(await watch.next())).toBe('ADDED a');
    expect(short(await watch.next())).toBe('MODIFIED a');
    const leaving = await watch.next();
    expect(short(leaving)).toBe('DELETED a');
    expect(at(leaving?.object, 'metadata', 'labels', 'on')).toBe('yes');
    expect(version(leaving?.object ?? {})).toBe(version(left));
    expect([short(await watch.next()), short(await watch.next())]).toEqual(['ADDED b', 'DELETED b']);
    await watch.close();
  });

  test('start with the present state when no version is given', async () => {
    make('a');
    make('b');
    const watch = await client.watch(`${maps}?watch=1`);
    expect([short(await watch.next()), short(await watch.next())]).toEqual(['ADDED a', 'ADDED b']);
    make('c');
    expect(short(await watch.next())).toBe('ADDED c');
    await watch.close();
  });

  test('say Expired in an ERROR event, or as HTTP 410', async () => {
    const first = make('a');
    for (let i = 0; i < 12; i++) cluster.patch(`${maps}/a`, { data: { k: String(i) } });
    const path = `${maps}?watch=1&resourceVersion=${version(first)}`;
    const watch = await client.watch(path);
    expect(watch.status).toBe(200);
    expect(await watch.next()).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired' },
    });
    expect(await watch.next()).toBeUndefined();
    await restart({ features: { expiredAsHttp: true } });
    make('a');
    cluster.compact();
    expect((await client.get(`${maps}?watch=1&resourceVersion=2`)).status).toBe(410);
  });

  test('say Expired for a version whose events went beyond the bytes of the history, and so do pages', async () => {
    await restart({ historyBytes: 20_000 });
    const first = version(make('a'));
    make('b');
    const page = asString(at((await client.get(`${maps}?limit=1`)).body, 'metadata', 'continue'));
    const path = `${maps}?watch=1&resourceVersion=${first}`;
    const early = await client.watch(path);
    expect(short(await early.next())).toBe('ADDED b');
    await early.close();
    for (let i = 0; i < 30; i++) cluster.patch(`${maps}/a`, { data: { k: `${i}`.repeat(500) } });
    const late = await client.watch(path);
    expect(await late.next()).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect((await client.get(`${maps}?limit=1&continue=${page}`)).body).toMatchObject({ code: 410, reason: 'Expired' });
  });

  test('send bookmarks, and one more before the timeout ends them', async () => {
    await restart({ features: { bookmarkMs: 20 } });
    const from = await now();
    cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } });
    const watch = await client.watch(`${maps}?watch=1&allowWatchBookmarks=true&resourceVersion=${from}`);
    const mark = await watch.next();
    expect(mark).toMatchObject({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1' } });
    expect(Number(version(mark?.object ?? {}))).toBeGreaterThan(Number(from));
    await watch.close();
    const timed = await client.watch(
      `${maps}?watch=1&allowWatchBookmarks=true&timeoutSeconds=1&resourceVersion=${from}`,
    );
    const types: string[] = [];
    for (let event = await timed.next(); event; event = await timed.next()) types.push(event.type);
    expect(types.at(-1)).toBe('BOOKMARK');
    const silent = await client.watch(`${maps}?watch=1&timeoutSeconds=1&resourceVersion=${from}`);
    expect(await silent.next()).toBeUndefined();
  });

  test('stream a list and mark its end', async () => {
    make('a');
    make('b');
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await client.watch(`${maps}?${query}`);
    const events = await watch.until('BOOKMARK');
    expect(events.map(short)).toEqual(['ADDED a', 'ADDED b', 'BOOKMARK ']);
    expect(at(events.at(-1)?.object, 'metadata', 'annotations')).toEqual({ 'k8s.io/initial-events-end': 'true' });
    expect(version(events.at(-1)?.object ?? {})).toBe(await now());
    make('c');
    expect(short(await watch.next())).toBe('ADDED c');
    await watch.close();
    expect((await client.get(`${maps}?watch=1&sendInitialEvents=true`)).status).toBe(422);
    await restart({ features: { watchList: false } });
    expect((await client.get(`${maps}?${query}`)).body).toMatchObject({ code: 422, reason: 'Invalid' });
  });

  test('can be cut, refused for a while, and end when the cluster closes', async () => {
    const watch = await client.watch(`${maps}?watch=1&resourceVersion=${await now()}`);
    cluster.dropWatches();
    await expect(watch.next()).rejects.toThrow();
    const second = await client.watch(`${maps}?watch=1&resourceVersion=${await now()}`);
    cluster.setAvailable(false);
    await expect(second.next()).rejects.toThrow();
    expect((await client.get(maps)).status).toBe(503);
    cluster.setAvailable(true);
    expect((await client.get(maps)).status).toBe(200);
    expect(cluster.openWatches).toBe(0);
    await client.watch(`${maps}?watch=1`);
    expect(cluster.openWatches).toBe(1);
    await cluster.close();
    await cluster.close();
  });

  test('deliver a burst completely and in order', async () => {
    const watch = await client.watch(`${maps}?watch=1&resourceVersion=${await now()}`);
    for (let i = 0; i < 2000; i++) make(`n-${i}`);
    let last = 0;
    for (let i = 0; i < 2000; i++) {
      const event = await watch.next();
      expect(short(event)).toBe(`ADDED n-${i}`);
      const revision = Number(version(event?.object ?? {}));
      expect(revision).toBeGreaterThan(last);
      last = revision;
    }
    await watch.close();
  });
});
