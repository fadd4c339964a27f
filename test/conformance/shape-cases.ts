/** The shapes of an answer that an Accept header may ask for: metadata alone, and tables. */
import { beforeAll, describe, expect, test } from 'vitest';
import { asArray, asObject, at } from '../../sim/objects/json.ts';
import { type ConformanceClient, makeNamespace, query, type Reply } from './conformance-client.ts';

const as = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;

export function shapeCases(client: () => ConformanceClient): void {
  describe('shapes', () => {
    let maps = '';
    beforeAll(async () => {
      maps = `${await makeNamespace(client(), 'c-shapes')}/configmaps`;
      for (const name of ['a', 'b'])
        await client().post(maps, { metadata: { name, labels: { l: 'y' } }, data: { k: 'v' } });
    });

    test('of metadata alone', async () => {
      const one = await client().get(`${maps}/a`, { accept: as('PartialObjectMetadata') });
      expect(one.body).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'a', labels: { l: 'y' } },
      });
      expect(Object.keys(one.body).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
      const list = await client().get(maps + query({ labelSelector: 'l=y', limit: '1' }), {
        accept: as('PartialObjectMetadataList'),
      });
      expect(list.body).toMatchObject({
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { continue: expect.stringMatching(/./) },
        items: [{ metadata: { name: 'a' } }],
      });
      expect(asArray(list.body.items)[0]).not.toHaveProperty('data');
      const watch = await client().get(maps + query({ watch: '1', timeoutSeconds: '1', labelSelector: 'l=y' }), {
        accept: as('PartialObjectMetadata'),
      });
      for (const line of watch.text.trim().split('\n'))
        expect(asObject(JSON.parse(line)).object).toMatchObject({ kind: 'PartialObjectMetadata' });
    });

    const columns = (reply: Reply): unknown[] =>
      asArray(reply.body.columnDefinitions).map((column) => asObject(column).name);
    const rows = (reply: Reply): unknown[][] => asArray(reply.body.rows).map((row) => asArray(asObject(row).cells));
    const table = (path: string): Promise<Reply> => client().get(path, { accept: as('Table') });

    test('of a table', async () => {
      const list = await table(maps + query({ labelSelector: 'l=y' }));
      expect(list.body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
      expect(at(list.body, 'metadata', 'resourceVersion')).toMatch(/^\d+$/);
      expect(columns(list)).toEqual(['Name', 'Data', 'Age']);
      expect(rows(list).map(([name, data]) => [name, data])).toEqual([
        ['a', 1],
        ['b', 1],
      ]);
      expect(asObject(asArray(list.body.rows)[0]).object).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'a' },
      });
      const one = await table(`${maps}/b${query({ includeObject: 'None' })}`);
      expect(rows(one).map(([name]) => name)).toEqual(['b']);
      expect(at(asArray(one.body.rows)[0], 'object') ?? null).toBeNull();
      const whole = await table(`${maps}/b${query({ includeObject: 'Object' })}`);
      expect(at(asArray(whole.body.rows)[0], 'object')).toMatchObject({ kind: 'ConfigMap', data: { k: 'v' } });
    });

    test('of tables of other kinds', async () => {
      const pods = maps.replace('configmaps', 'pods');
      await client().post(pods, {
        metadata: { name: 'p' },
        spec: { containers: [{ name: 'c', image: 'example/c:1' }] },
      });
      const list = await table(pods);
      expect(columns(list)).toEqual([
        'Name',
        'Ready',
        'Status',
        'Restarts',
        'Age',
        'IP',
        'Node',
        'Nominated Node',
        'Readiness Gates',
      ]);
      expect(rows(list)[0]?.slice(0, 3)).toEqual(['p', '0/1', 'Pending']);
      const namespaces = await table('/api/v1/namespaces/c-shapes');
      expect(rows(namespaces)[0]?.slice(0, 2)).toEqual(['c-shapes', 'Active']);
    });

    test('of no kind the server knows are refused', async () => {
      const odd = await client().get(maps, { accept: 'application/json;as=Nothing;g=meta.k8s.io;v=v1' });
      expect(odd.body).toMatchObject({ code: 406, reason: 'NotAcceptable' });
      expect((await client().get(maps, { accept: 'text/plain' })).code).toBe(406);
      expect((await client().get(maps, { accept: '*/*' })).code).toBe(200);
    });
  });
}
