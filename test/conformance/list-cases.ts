/** LIST: pages, continue tokens, resourceVersion and resourceVersionMatch, and what is refused. */
import { beforeAll, describe, expect, test } from 'vitest';
import { asArray, asString, at } from '../../sim/objects/json.ts';
import { type ConformanceClient, causesOf, makeNamespace, namesOf, query, versionOf } from './conformance-client.ts';
import { initialEventsOfList, listFromMalformedVersion } from './version-differences.ts';

export function listCases(client: () => ConformanceClient): void {
  describe('lists', () => {
    let maps = '';
    /** The version before `e` was made. */
    let before = '';
    const all = { labelSelector: 'list=yes' };
    beforeAll(async () => {
      maps = `${await makeNamespace(client(), 'c-lists')}/configmaps`;
      const make = (name: string) => client().post(maps, { metadata: { name, labels: { list: 'yes' } } });
      for (const name of ['a', 'b', 'c', 'd']) before = versionOf(await make(name));
      await make('e');
    });
    const list = (parameters: Readonly<Record<string, string>>) => client().get(maps + query(parameters));
    const tokenOf = (body: unknown): string => asString(at(body, 'metadata', 'continue') ?? '');

    test('have the kind of a list, and items without kind', async () => {
      const reply = await list(all);
      expect(reply.body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
      expect(namesOf(reply)).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(asArray(reply.body.items)[0]).not.toHaveProperty('kind');
      expect(tokenOf(reply.body)).toBe('');
      const empty = await list({ labelSelector: 'list=no' });
      expect(empty.body.items).toEqual([]);
    });

    test('page to the end, at one version', async () => {
      const pages: unknown[][] = [];
      const versions = new Set<string>();
      for (let token = ''; ; ) {
        const page = await list({ ...all, limit: '2', ...(token === '' ? {} : { continue: token }) });
        pages.push(namesOf(page));
        versions.add(versionOf(page));
        // With a selector nobody counts what remains.
        expect(at(page.body, 'metadata', 'remainingItemCount')).toBeUndefined();
        token = tokenOf(page.body);
        if (token === '') break;
      }
      expect(pages).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
      expect(versions.size).toBe(1);
    });

    test('say how many remain', async () => {
      const whole = asArray((await list({})).body.items).length;
      const page = await list({ limit: '2' });
      expect(at(page.body, 'metadata', 'remainingItemCount')).toBe(whole - 2);
      const next = await list({ limit: '1', continue: tokenOf(page.body) });
      expect(at(next.body, 'metadata', 'remainingItemCount')).toBe(whole - 3 || undefined);
    });

    test('page over all namespaces in order of namespace and name', async () => {
      const seen: string[] = [];
      for (let token = ''; ; ) {
        const page = await client().get(
          `/api/v1/configmaps${query({ limit: '3', ...(token === '' ? {} : { continue: token }) })}`,
        );
        for (const item of asArray(page.body.items))
          seen.push(`${asString(at(item, 'metadata', 'namespace'))}/${asString(at(item, 'metadata', 'name'))}`);
        token = tokenOf(page.body);
        if (token === '') break;
      }
      expect(seen).toEqual(seen.toSorted());
      expect(seen).toEqual(expect.arrayContaining(['c-lists/a', 'c-lists/e']));
    });

    test('give an exact version, or one that is not older', async () => {
      const at = { ...all, resourceVersion: before };
      expect(namesOf(await list({ ...at, resourceVersionMatch: 'Exact' }))).toEqual(['a', 'b', 'c', 'd']);
      expect(versionOf(await list({ ...at, resourceVersionMatch: 'Exact' }))).toBe(before);
      expect(namesOf(await list({ ...at, resourceVersionMatch: 'Exact', limit: '3' }))).toEqual(['a', 'b', 'c']);
      expect(namesOf(await list({ ...at, limit: '10' }))).toEqual(['a', 'b', 'c', 'd']);
      // From a cache, and so in no order that was promised.
      const newer = await list({ ...at, resourceVersionMatch: 'NotOlderThan' });
      expect(namesOf(newer).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(namesOf(await list(at)).sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
      const any = { ...all, resourceVersion: '0' };
      expect(namesOf(await list(any))).toHaveLength(5);
      expect(namesOf(await list({ ...any, resourceVersionMatch: 'NotOlderThan' }))).toHaveLength(5);
      expect(namesOf(await list({ ...any, limit: '1' }))).toHaveLength(5);
    });

    test.each([
      ['a match without a version', { resourceVersionMatch: 'Exact' }, 422],
      ['an exact match of zero', { resourceVersionMatch: 'Exact', resourceVersion: '0' }, 422],
      ['an unknown match', { resourceVersionMatch: 'Sometimes', resourceVersion: '1' }, 422],
      ['a match and a token', { resourceVersionMatch: 'NotOlderThan', resourceVersion: '1', continue: 'x' }, 422],
      ['a limit that is no number', { limit: 'abc' }, 400],
      ['a token of nobody', { continue: 'zzzz' }, 400],
      ['a token that is empty JSON', { continue: Buffer.from('{}').toString('base64url') }, 400],
    ])('refuse %s', async (_what, parameters, code) => {
      const reply = await list(parameters);
      expect(reply.code, reply.text).toBe(code);
      expect(reply.body).toMatchObject({ kind: 'Status', status: 'Failure', code });
      if (code === 422) {
        expect(reply.body.reason).toBe('Invalid');
        expect(causesOf(reply).join()).toMatch(/^resourceVersionMatch FieldValue(Forbidden|NotSupported)$/);
      }
    });

    test('refuse a version that is no number', async () => {
      const { code, reason } = await client().expected(listFromMalformedVersion);
      const { body } = await list({ resourceVersion: 'abc' });
      expect(body).toMatchObject({ kind: 'Status', status: 'Failure', code });
      expect(body.reason).toBe(reason);
    });

    test('refuse initial events, which only a watch sends', async () => {
      const reply = await list({
        sendInitialEvents: 'true',
        resourceVersion: before,
        resourceVersionMatch: 'NotOlderThan',
      });
      const code = await client().expected(initialEventsOfList);
      expect(reply.code, reply.text).toBe(code);
      if (code === 422) expect(causesOf(reply)).toEqual(['sendInitialEvents FieldValueForbidden']);
    });

    test('refuse a version beside a token', async () => {
      const token = tokenOf((await list({ limit: '1' })).body);
      const reply = await list({ limit: '1', continue: token, resourceVersion: before });
      expect(reply.code, reply.text).toBe(400);
    });

    test('wait for a version of the future, and give up with 504', async () => {
      const reply = await list({ resourceVersion: '99999999', resourceVersionMatch: 'NotOlderThan' });
      expect(reply.body).toMatchObject({ code: 504, reason: 'Timeout' });
      expect(reply.body.message).toMatch(/Too large resource version: 99999999, current: \d+/);
      expect(causesOf(reply)).toEqual([' ResourceVersionTooLarge']);
      expect(at(reply.body, 'details', 'retryAfterSeconds')).toBe(1);
      const one = await client().get(`${maps}/a${query({ resourceVersion: '99999999' })}`);
      expect(one.body).toMatchObject({ code: 504, reason: 'Timeout' });
      expect((await client().get(`${maps}/a${query({ resourceVersion: '0' })}`)).code).toBe(200);
    });

    test('of another namespace are empty, and of one that is not there too', async () => {
      expect((await client().get('/api/v1/namespaces/nowhere/configmaps')).body.items).toEqual([]);
    });
  });
}

/** What is gone after compaction. Last of all: it takes everybody's history. */
export function compactionCases(client: () => ConformanceClient): void {
  describe('after compaction', () => {
    let maps = '';
    beforeAll(async () => {
      maps = `${await makeNamespace(client(), 'c-compaction')}/configmaps`;
    });

    test('an exact version and a continue token have expired', async () => {
      const make = async (name: string) =>
        versionOf(await client().post(maps, { metadata: { name, labels: { c: 'y' } } }));
      for (const name of ['a', 'b']) await make(name);
      const old = await make('c');
      const selected = { labelSelector: 'c=y', limit: '1' };
      const page = await client().get(maps + query(selected));
      await make('d');
      await client().delete(`${maps}/b`);
      await client().target.compact();
      const exact = await client().get(maps + query({ resourceVersion: old, resourceVersionMatch: 'Exact' }));
      expect(exact.body).toMatchObject({ code: 410, reason: 'Expired' });
      const token = asString(at(page.body, 'metadata', 'continue'));
      const next = await client().get(maps + query({ ...selected, continue: token }));
      expect(next.body).toMatchObject({ code: 410, reason: 'Expired' });
      // Its metadata has a token that goes on behind the last key, at the present version.
      const going = asString(at(next.body, 'metadata', 'continue'));
      const rest = await client().get(maps + query({ ...selected, limit: '5', continue: going }));
      expect(namesOf(rest)).toEqual(['c', 'd']);
    });

    test('a watch from the beginning has expired, which an event says', async () => {
      const events = await client().watched(maps + query({ watch: '1', resourceVersion: '1', timeoutSeconds: '5' }));
      expect(events).toMatchObject([
        { type: 'ERROR', object: { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 } },
      ]);
    });
  });
}
