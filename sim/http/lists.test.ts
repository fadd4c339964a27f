import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { type Answer, SimClient } from '../../test/kit/sim-client.ts';
import { asArray, asString, at, type JsonObject } from '../objects/json.ts';
import { type SimCluster, startSimCluster } from '../sim-cluster.ts';

let cluster: SimCluster;
let client: SimClient;
const maps = '/api/v1/namespaces/default/configmaps';
const path = (name: string): string => `${maps}/${name}`;
const make = (name: string, labels: JsonObject = {}): JsonObject =>
  cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { n: name } });
const names = (answer: Answer): unknown[] => asArray(answer.body.items).map((item) => at(item, 'metadata', 'name'));
const token = (answer: Answer): string => asString(at(answer.body, 'metadata', 'continue'));
const version = (answer: Answer): string => asString(at(answer.body, 'metadata', 'resourceVersion'));
/** A clock whose sleeps end at once. */
const hasty: Clock = { now: () => Date.now(), monotonic: () => performance.now(), sleep: () => Promise.resolve() };

beforeEach(async () => {
  cluster = await startSimCluster({ historyEvents: 20 });
  client = new SimClient(cluster.url);
  for (const name of ['a', 'b', 'c', 'd', 'e']) make(name, { vowel: name === 'a' || name === 'e' ? 'yes' : 'no' });
});
afterEach(() => cluster.close());

describe('lists', () => {
  test('carry the version of the collection; items of built-in kinds have no kind of their own', async () => {
    const all = await client.get('/api/v1/configmaps');
    expect(all.body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(names(all)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(asArray(all.body.items)[0]).not.toHaveProperty('kind');
    expect(version(all)).toMatch(/^\d+$/);
    expect(names(await client.get('/api/v1/namespaces/kube-system/configmaps'))).toEqual([]);
  });

  test('select by labels and fields', async () => {
    expect(names(await client.get(`${maps}?labelSelector=vowel%3Dyes`))).toEqual(['a', 'e']);
    expect(names(await client.get(`${maps}?fieldSelector=metadata.name%3Db`))).toEqual(['b']);
    expect((await client.get(`${maps}?fieldSelector=data.n%3Db`)).status).toBe(400);
  });

  test('page through one moment, whatever changes meanwhile', async () => {
    const first = await client.get(`${maps}?limit=2`);
    expect(names(first)).toEqual(['a', 'b']);
    expect(at(first.body, 'metadata', 'remainingItemCount')).toBe(3);
    cluster.delete(path('c'));
    make('bb');
    cluster.patch(path('d'), { data: { n: 'changed' } });
    const second = await client.get(`${maps}?limit=2&continue=${token(first)}`);
    expect(names(second)).toEqual(['c', 'd']);
    expect(at(asArray(second.body.items)[1], 'data', 'n')).toBe('d');
    expect(version(second)).toBe(version(first));
    const last = await client.get(`${maps}?limit=2&continue=${token(second)}`);
    expect(names(last)).toEqual(['e']);
    expect(token(last)).toBe('');
  });

  test('page with selectors, without a remaining count', async () => {
    const first = await client.get(`${maps}?limit=1&labelSelector=vowel%3Dyes`);
    expect(names(first)).toEqual(['a']);
    expect(at(first.body, 'metadata', 'remainingItemCount')).toBeUndefined();
    const second = await client.get(`${maps}?limit=1&labelSelector=vowel%3Dyes&continue=${token(first)}`);
    expect(names(second)).toEqual(['e']);
    expect(token(second)).toBe('');
  });

  test('answer 410 for a token whose moment is forgotten', async () => {
    const first = await client.get(`${maps}?limit=2`);
    make('f');
    cluster.compact();
    const expired = await client.get(`${maps}?limit=2&continue=${token(first)}`);
    expect(expired.body).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
    const other = await client.get(`${maps}?limit=2`);
    for (let i = 0; i < 25; i++) cluster.patch(path('a'), { data: { n: String(i) } });
    expect((await client.get(`${maps}?limit=2&continue=${token(other)}`)).status).toBe(410);
    expect((await client.get(`${maps}?continue=nonsense`)).status).toBe(400);
  });

  test('give an exact version while history lasts, and at least a version otherwise', async () => {
    const before = version(await client.get(maps));
    make('f');
    expect(names(await client.get(`${maps}?resourceVersion=${before}&resourceVersionMatch=Exact`))).not.toContain('f');
    expect(names(await client.get(`${maps}?resourceVersion=${before}&limit=100`))).not.toContain('f');
    expect(names(await client.get(`${maps}?resourceVersion=${before}&resourceVersionMatch=NotOlderThan`))).toContain(
      'f',
    );
    expect(names(await client.get(`${maps}?resourceVersion=${before}`))).toContain('f');
    expect(names(await client.get(`${maps}?resourceVersion=0&limit=1`))).toHaveLength(6);
    cluster.compact();
    make('g');
    expect((await client.get(`${maps}?resourceVersion=${before}&resourceVersionMatch=Exact`)).status).toBe(410);
  });

  test.each([
    ['resourceVersionMatch=Exact', 422],
    ['resourceVersion=0&resourceVersionMatch=Exact', 422],
    ['resourceVersion=1&resourceVersionMatch=Sometimes', 422],
    ['resourceVersion=abc', 400],
  ])('refuse %s', async (query, code) => {
    expect((await client.get(`${maps}?${query}`)).status).toBe(code);
  });

  test('wait for a version of the future and then give up', async () => {
    await cluster.close();
    cluster = await startSimCluster({ clock: hasty });
    const answer = await new SimClient(cluster.url).get(`${maps}?resourceVersion=999999`);
    expect(answer.status).toBe(504);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(at(answer.body, 'details', 'causes')).toMatchObject([{ reason: 'ResourceVersionTooLarge' }]);
  });

  test('come whole however many there are', async () => {
    const blob = 'x'.repeat(5000);
    for (let i = 0; i < 300; i++)
      cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `n-${i}` }, data: { blob } });
    expect(names(await client.get(maps))).toHaveLength(305);
  });
});
