/** PATCH in its four forms, and whom it makes the manager of what. */
import { beforeAll, describe, expect, test } from 'vitest';
import { asArray, asObject, asString, at, type JsonObject } from '../../sim/objects/json.ts';
import { type ConformanceClient, causesOf, makeNamespace, type Reply, versionOf } from './conformance-client.ts';

export function patchCases(client: () => ConformanceClient): void {
  describe('patches', () => {
    let maps = '';
    let deployments = '';
    beforeAll(async () => {
      const namespace = await makeNamespace(client(), 'c-patches');
      maps = `${namespace}/configmaps`;
      deployments = `/apis/apps/v1/namespaces/c-patches/deployments`;
    });
    const make = (name: string, data: JsonObject = {}, metadata: JsonObject = {}) =>
      client().post(maps, { metadata: { name, ...metadata }, data });
    const data = (reply: Reply): unknown => reply.body.data;

    test('of JSON do all operations, in order', async () => {
      await make('json', { a: '1', b: '2' });
      const reply = await client().patch(`${maps}/json`, 'json', [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'add', path: '/data/c', value: '3' },
        { op: 'replace', path: '/data/a', value: '0' },
        { op: 'copy', from: '/data/c', path: '/data/d' },
        { op: 'move', from: '/data/b', path: '/data/e' },
        { op: 'remove', path: '/data/c' },
        { op: 'add', path: '/metadata/annotations', value: {} },
        { op: 'add', path: '/metadata/annotations/example.com~1x', value: 'y' },
      ]);
      expect(data(reply)).toEqual({ a: '0', d: '3', e: '2' });
      expect(at(reply.body, 'metadata', 'annotations')).toEqual({ 'example.com/x': 'y' });
    });

    test.each([
      ['a test that fails', [{ op: 'test', path: '/data/a', value: 'x' }], 422],
      ['a path that is not there', [{ op: 'replace', path: '/data/none/none', value: 'x' }], 422],
      ['a removal of nothing', [{ op: 'remove', path: '/data/none' }], 422],
      ['an object', { op: 'remove', path: '/data/a' }, 400],
    ])('of JSON refuse %s', async (_what, patch, code) => {
      await make('refusing', { a: '1' });
      const reply = await client().patch(`${maps}/refusing`, 'json', patch);
      expect(reply.code, reply.text).toBe(code);
      expect(data(await client().get(`${maps}/refusing`))).toEqual({ a: '1' });
    });

    test('that merge take nulls away and leave the rest', async () => {
      await make('merge', { a: '1', b: '2' }, { labels: { x: 'y' }, annotations: { n: 'm' } });
      const reply = await client().patch(`${maps}/merge`, 'merge', {
        metadata: { labels: { x: null, z: '1' } },
        data: { a: null, c: '3' },
      });
      expect(data(reply)).toEqual({ b: '2', c: '3' });
      expect(reply.body.metadata).toMatchObject({ labels: { z: '1' }, annotations: { n: 'm' } });
    });

    test('that change nothing leave the version', async () => {
      const made = await make('same', { a: '1' });
      expect(versionOf(await client().patch(`${maps}/same`, 'merge', {}))).toBe(versionOf(made));
      expect(versionOf(await client().patch(`${maps}/same`, 'json', []))).toBe(versionOf(made));
      expect(versionOf(await client().put(`${maps}/same`, made.body))).toBe(versionOf(made));
    });

    test('are refused in an unknown form, for what is not there, and for another name', async () => {
      const odd = await client().send('PATCH', `${maps}/same`, {}, { type: 'application/json' });
      expect(odd.body).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
      expect((await client().patch(`${maps}/none`, 'merge', {})).code).toBe(404);
      expect((await client().patch(`${maps}/same`, 'merge', { metadata: { name: 'other' } })).code).toBe(400);
    });

    test('that merge strategically know the keys of lists', async () => {
      const labels = { app: 's' };
      const container = (name: string): JsonObject => ({ name, image: `example/${name}:1` });
      await client().post(deployments, {
        metadata: { name: 's' },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: {
              containers: [
                { ...container('a'), ports: [{ containerPort: 80 }], env: [{ name: 'X', value: '1' }] },
                container('b'),
              ],
            },
          },
        },
      });
      const apply = async (spec: JsonObject): Promise<JsonObject[]> => {
        const reply = await client().patch(`${deployments}/s`, 'strategic', { spec: { template: { spec } } });
        expect(reply.code, reply.text).toBe(200);
        return asArray(at(reply.body, 'spec', 'template', 'spec', 'containers')).map(asObject);
      };
      const [merged] = await apply({
        containers: [
          { name: 'a', image: 'example/a:2', ports: [{ containerPort: 81 }], env: [{ name: 'Y', value: '2' }] },
        ],
      });
      expect(merged).toMatchObject({ image: 'example/a:2' });
      expect(
        asArray(merged?.ports)
          .map((port) => asObject(port).containerPort)
          .sort(),
      ).toEqual([80, 81]);
      expect(
        asArray(merged?.env)
          .map((item) => asObject(item).name)
          .sort(),
      ).toEqual(['X', 'Y']);
      const names = (containers: JsonObject[]): string[] => containers.map(({ name }) => asString(name));
      expect(names(await apply({ containers: [{ $patch: 'delete', name: 'b' }] }))).toEqual(['a']);
      const ordered = { $setElementOrder: undefined, '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }] };
      expect(names(await apply({ ...ordered, containers: [container('c')] }))).toEqual(['c', 'a']);
      expect(names(await apply({ containers: [{ $patch: 'replace' }, container('d')] }))).toEqual(['d']);
      const retained = await client().patch(`${deployments}/s`, 'strategic', {
        spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
      });
      expect(at(retained.body, 'spec', 'strategy')).toEqual({ type: 'Recreate' });
    });

    test('that merge strategically add to a set of finalizers', async () => {
      await make('set', {}, { finalizers: ['example.com/a'] });
      const more = { metadata: { finalizers: ['example.com/b', 'example.com/a'] } };
      const reply = await client().patch(`${maps}/set`, 'strategic', more);
      expect(asArray(at(reply.body, 'metadata', 'finalizers')).toSorted()).toEqual(['example.com/a', 'example.com/b']);
      const fewer = { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } };
      const left = await client().patch(`${maps}/set`, 'strategic', fewer);
      expect(at(left.body, 'metadata', 'finalizers')).toEqual(['example.com/b']);
    });
  });

  describe('managed fields', () => {
    let maps = '';
    beforeAll(async () => {
      maps = `${await makeNamespace(client(), 'c-apply')}/configmaps`;
    });
    const config = (name: string, data: JsonObject, metadata: JsonObject = {}): JsonObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, ...metadata },
      data,
    });
    const apply = (manager: string, name: string, body: unknown, more = ''): Promise<Reply> =>
      client().patch(`${maps}/${name}?fieldManager=${manager}${more}`, 'apply', body);
    /** Manager, operation and fields of each entry. */
    const managers = (reply: Reply): unknown[] =>
      asArray(at(reply.body, 'metadata', 'managedFields'))
        .map(asObject)
        .map(({ manager, operation, apiVersion, fieldsType, fieldsV1 }) => {
          expect([apiVersion, fieldsType]).toEqual(['v1', 'FieldsV1']);
          return [manager, operation, fieldsV1];
        })
        .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));

    test('say who made, changed and applied what', async () => {
      const made = await client().post(`${maps}?fieldManager=maker`, config('m', { a: '1' }, { labels: { x: 'y' } }));
      const own = {
        'f:data': { '.': {}, 'f:a': {} },
        'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } },
      };
      expect(managers(made)).toEqual([['maker', 'Update', own]]);
      const changed = await client().send(
        'PATCH',
        `${maps}/m`,
        { data: { b: '2' } },
        { type: 'application/merge-patch+json' },
      );
      expect(managers(changed)).toEqual([
        ['conformance', 'Update', { 'f:data': { 'f:b': {} } }],
        ['maker', 'Update', own],
      ]);
      const applied = await apply('applier', 'm', config('m', { c: '3' }));
      expect(managers(applied)).toEqual([
        ['applier', 'Apply', { 'f:data': { 'f:c': {} } }],
        ['conformance', 'Update', { 'f:data': { 'f:b': {} } }],
        ['maker', 'Update', own],
      ]);
      const taken = await client().patch(`${maps}/m`, 'merge', { data: { a: '0' } });
      expect(managers(taken).at(-1)).toEqual(['maker', 'Update', { 'f:data': {}, 'f:metadata': own['f:metadata'] }]);
    });

    test('are not kept for an object without any, until it is applied', async () => {
      await client().post(maps, { metadata: { name: 'bare' } });
      expect(managers(await client().patch(`${maps}/bare`, 'merge', { data: { a: '1' } }))).toEqual([]);
      expect(managers(await client().put(`${maps}/bare`, config('bare', { b: '1' })))).toEqual([]);
    });

    test('let an applier remove what it alone owns', async () => {
      expect((await apply('one', 'r', config('r', { a: '1', b: '1' }))).code).toBe(201);
      await apply('two', 'r', config('r', { b: '1', c: '1' }));
      expect((await apply('one', 'r', config('r', {}))).body.data).toEqual({ b: '1', c: '1' });
      expect((await apply('two', 'r', config('r', { c: '1' }))).body.data).toEqual({ c: '1' });
    });

    test('share a field of one value, and conflict over two', async () => {
      await apply('one', 's', config('s', { a: '1' }));
      expect((await apply('two', 's', config('s', { a: '1' }))).code).toBe(200);
      const conflict = await apply('two', 's', config('s', { a: '2' }));
      expect(conflict.body).toMatchObject({ code: 409, reason: 'Conflict' });
      expect(causesOf(conflict)).toEqual(['.data.a FieldManagerConflict']);
      expect(conflict.body.message).toBe('Apply failed with 1 conflict: conflict with "one": .data.a');
      const forced = await apply('two', 's', config('s', { a: '2' }), '&force=true');
      expect(managers(forced)).toEqual([['two', 'Apply', { 'f:data': { 'f:a': {} } }]]);
      expect(forced.body.data).toEqual({ a: '2' });
      // Changed by another, who does not apply: that one's now, and a conflict for the applier.
      const changed = await client().patch(`${maps}/s`, 'merge', { data: { a: '3' } });
      expect(managers(changed)).toEqual([['conformance', 'Update', { 'f:data': { 'f:a': {} } }]]);
      expect((await apply('two', 's', config('s', { a: '2' }))).code).toBe(409);
    });

    test('list what conflicts by manager, what is higher up first', async () => {
      const body = config('l', { a: '1' }, { labels: { x: 'y' } });
      await client().post(`${maps}?fieldManager=maker`, body);
      await client().patch(`${maps}/l?fieldManager=helper`, 'merge', { data: { b: '1' } });
      const conflict = await apply('two', 'l', config('l', { a: '2', b: '2' }, { labels: { x: 'z' } }));
      expect(conflict.body).toMatchObject({ code: 409, reason: 'Conflict' });
      expect(conflict.body.message).toBe(
        'Apply failed with 3 conflicts: conflicts with "helper" using v1:\n- .data.b\n' +
          'conflicts with "maker" using v1:\n- .data.a\n- .metadata.labels.x',
      );
      expect(causesOf(conflict).toSorted()).toEqual(
        ['.data.a', '.data.b', '.metadata.labels.x'].map((field) => `${field} FieldManagerConflict`),
      );
      const dry = await apply('two', 'l', config('l', { a: '2' }), '&dryRun=All');
      expect([dry.code, causesOf(dry)]).toEqual([409, ['.data.a FieldManagerConflict']]);
    });

    test('lose what is removed, whoever removes it', async () => {
      await client().post(`${maps}?fieldManager=maker`, config('g', { a: '1', b: '1' }));
      await apply('one', 'g', config('g', { c: '1' }));
      const fewer = await client().patch(`${maps}/g?fieldManager=other`, 'merge', { data: { b: null, c: null } });
      expect(managers(fewer)).toEqual([['maker', 'Update', { 'f:data': { '.': {}, 'f:a': {} } }]]);
      const none = await client().patch(`${maps}/g?fieldManager=other`, 'merge', { data: null });
      expect(managers(none)).toEqual([]);
    });

    test('stand in the order of servers: what is applied first, then by name', async () => {
      await client().post(`${maps}?fieldManager=b`, config('o', { a: '1' }));
      await client().patch(`${maps}/o?fieldManager=a`, 'merge', { data: { b: '1' } });
      const applied = await apply('z', 'o', config('o', { c: '1' }));
      const first = asObject(asArray(at(applied.body, 'metadata', 'managedFields'))[0]);
      expect([first.manager, first.operation]).toEqual(['z', 'Apply']);
    });

    test('have an entry of what was there before the first apply', async () => {
      await client().post(maps, { metadata: { name: 'f' } });
      await client().put(`${maps}/f`, config('f', { a: '1' }));
      const conflict = await apply('one', 'f', config('f', { a: '2' }));
      expect(conflict.body.message).toBe(
        'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
      );
      expect(managers(await apply('one', 'f', config('f', { b: '1' })))).toEqual([
        ['before-first-apply', 'Update', { 'f:data': { '.': {}, 'f:a': {} } }],
        ['one', 'Apply', { 'f:data': { 'f:b': {} } }],
      ]);
    });

    test('apply twice without another version, and dry without any', async () => {
      const first = await apply('one', 't', config('t', { a: '1' }));
      expect(versionOf(await apply('one', 't', config('t', { a: '1' })))).toBe(versionOf(first));
      expect((await apply('one', 't', config('t', { a: '2' }), '&dryRun=All')).body.data).toEqual({ a: '2' });
      expect(versionOf(await client().get(`${maps}/t`))).toBe(versionOf(first));
    });

    test('merge lists by their keys', async () => {
      const pod = (containers: JsonObject[]): JsonObject => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p' },
        spec: { containers },
      });
      const pods = maps.replace('configmaps', 'pods');
      const at1 = { name: 'a', image: 'example/a:1' };
      const made = await client().patch(`${pods}/p?fieldManager=one`, 'apply', pod([at1]));
      expect(made.code, made.text).toBe(201);
      const other = await client().patch(
        `${pods}/p?fieldManager=two`,
        'apply',
        pod([{ name: 'a', image: 'example/a:2' }]),
      );
      expect(other.code).toBe(409);
      expect(causesOf(other)).toEqual(['.spec.containers[name="a"].image FieldManagerConflict']);
    });

    test.each([
      ['without a manager', '', {}, 422],
      ['with managed fields', '?fieldManager=x', { managedFields: [{ manager: 'y', operation: 'Apply' }] }, 400],
      ['with another name', '?fieldManager=x', { name: 'other' }, 400],
    ])('are not applied %s', async (_what, parameters, metadata, code) => {
      const reply = await client().patch(`${maps}/bad${parameters}`, 'apply', config('bad', {}, metadata));
      expect(reply.code, reply.text).toBe(code);
    });

    test('take YAML', async () => {
      const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: "1"\n';
      expect((await apply('one', 'yaml', text)).body.data).toEqual({ a: '1' });
      const posted = await client().post(maps, text.replace('name: yaml', 'name: yaml2'), { type: 'application/yaml' });
      expect(posted.code, posted.text).toBe(201);
    });
  });
}
