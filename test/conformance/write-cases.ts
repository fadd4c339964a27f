/** Rules of every write: preconditions, options, strict reading of bodies, and fields that may not change. */
import { beforeAll, describe, expect, test } from 'vitest';
import { asString, at, type JsonObject } from '../../sim/objects/json.ts';
import {
  type ConformanceClient,
  causesOf,
  makeNamespace,
  patchTypes,
  type Reply,
  strangerUid,
  versionOf,
} from './conformance-client.ts';
import { badDeleteOptions, duplicateWarning, fixedServiceName, strictUnknownField } from './version-differences.ts';

export function writeCases(client: () => ConformanceClient): void {
  describe('writes', () => {
    let maps = '';
    let deployments = '';
    beforeAll(async () => {
      maps = `${await makeNamespace(client(), 'c-writes')}/configmaps`;
      deployments = '/apis/apps/v1/namespaces/c-writes/deployments';
    });
    const config = (name: string, data: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, ...metadata },
      data,
    });
    const make = (name: string, data: JsonObject = {}): Promise<Reply> => client().post(maps, config(name, data));
    const deployment = (name: string, spec: JsonObject = {}): JsonObject => {
      const labels = { app: name };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'example/c:1' }] } };
      return {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name },
        spec: { replicas: 1, paused: true, selector: { matchLabels: labels }, template, ...spec },
      };
    };
    const apply = (name: string, body: unknown, more = ''): Promise<Reply> =>
      client().patch(`${maps}/${name}?fieldManager=x&force=true${more}`, 'apply', body);

    describe('have preconditions', () => {
      test.each([
        ['PUT', async (name, stale) => client().put(`${maps}/${name}`, config(name, {}, stale))],
        ['a merge patch', async (name, stale) => client().patch(`${maps}/${name}`, 'merge', { metadata: stale })],
        [
          'a strategic patch',
          async (name, stale) => client().patch(`${maps}/${name}`, 'strategic', { metadata: stale }),
        ],
        ['an apply', async (name, stale) => apply(name, config(name, {}, stale))],
        [
          'a JSON patch',
          async (name, { resourceVersion }) =>
            client().patch(`${maps}/${name}`, 'json', [
              { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
            ]),
        ],
      ] as const satisfies readonly (readonly [string, (name: string, stale: JsonObject) => Promise<Reply>])[])(
        'on the version: %s',
        async (what, write) => {
          const name = what.toLowerCase().replaceAll(' ', '-');
          const made = await make(name, { a: '1' });
          const newer = await client().patch(`${maps}/${name}`, 'merge', { data: { a: '2' } });
          const refused = await write(name, { resourceVersion: versionOf(made) });
          expect(refused.body, refused.text).toMatchObject({
            code: 409,
            reason: 'Conflict',
            details: { name, kind: 'configmaps' },
          });
          expect(refused.body.message).toContain('the object has been modified');
          expect((await write(name, { resourceVersion: 'x' })).body).toMatchObject({ code: 500 });
          expect((await client().get(`${maps}/${name}`)).body).toEqual(newer.body);
          const right = await write(name, { resourceVersion: versionOf(newer) });
          expect(right.code, right.text).toBe(200);
        },
      );

      test('on the uid: another is a conflict for a replacement, and an invalid change for a patch', async () => {
        const made = await make('uid');
        const other = { uid: strangerUid };
        const put = await client().put(`${maps}/uid`, config('uid', {}, other));
        expect(put.body, put.text).toMatchObject({ code: 409, reason: 'Conflict' });
        for (const reply of [
          await client().patch(`${maps}/uid`, 'merge', { metadata: other }),
          await client().patch(`${maps}/uid`, 'strategic', { metadata: other }),
          await apply('uid', config('uid', {}, other)),
        ]) {
          expect(reply.body, reply.text).toMatchObject({
            code: 422,
            reason: 'Invalid',
            details: { name: 'uid', kind: 'ConfigMap' },
          });
          expect(new Set(causesOf(reply))).toEqual(new Set(['metadata.uid FieldValueInvalid']));
          expect(reply.body.message).toContain('field is immutable');
        }
        const right = { metadata: { uid: at(made.body, 'metadata', 'uid') }, data: { a: '1' } };
        expect((await client().patch(`${maps}/uid`, 'merge', right)).code).toBe(200);
      });

      test('of an apply that makes an object: no uid, and any version', async () => {
        const refused = await apply('new', config('new', {}, { uid: strangerUid }));
        expect(refused.body, refused.text).toMatchObject({ code: 409, reason: 'Conflict', details: { name: 'new' } });
        expect(refused.body.message).toContain('uid mismatch');
        expect((await apply('new', config('new', {}, { resourceVersion: '1' }))).code).toBe(201);
      });

      test('of a deletion: its uid and its version, in the body', async () => {
        const made = await make('deleted');
        const remove = (options: JsonObject): Promise<Reply> => client().delete(`${maps}/deleted`, options);
        const uid = asString(at(made.body, 'metadata', 'uid'));
        for (const dryRun of [{}, { dryRun: ['All'] }]) {
          const foreign = await remove({ preconditions: { uid: strangerUid }, ...dryRun });
          expect(foreign.body, foreign.text).toMatchObject({
            code: 409,
            reason: 'Conflict',
            details: { name: 'deleted', kind: 'ConfigMap' },
          });
          expect(foreign.body.message).toBe(
            `Operation cannot be fulfilled on ConfigMap "deleted": the UID in the precondition (${strangerUid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
          );
          const stale = await remove({ preconditions: { uid, resourceVersion: '1' }, ...dryRun });
          expect(stale.body).toMatchObject({ code: 409, reason: 'Conflict' });
          expect(stale.body.message).toContain('the ResourceVersion in the precondition (1) does not match');
          expect((await remove({ preconditions: { uid: '' }, ...dryRun })).code).toBe(409);
        }
        const right = { preconditions: { uid, resourceVersion: versionOf(made) } };
        expect((await remove({ ...right, dryRun: ['All'] })).body).toMatchObject({ kind: 'Status', status: 'Success' });
        expect((await client().get(`${maps}/deleted`)).body).toEqual(made.body);
        expect((await remove(right)).code).toBe(200);
      });
    });

    describe('are refused', () => {
      test.each([
        ['force where nothing is applied', 'PATCH', '?force=true', 'PatchOptions', 'force FieldValueForbidden'],
        [
          'too long a manager',
          'PATCH',
          `?fieldManager=${'x'.repeat(129)}`,
          'PatchOptions',
          'fieldManager FieldValueTooLong',
        ],
        [
          'a manager that cannot be printed',
          'PUT',
          '?fieldManager=a%07',
          'UpdateOptions',
          'fieldManager FieldValueInvalid',
        ],
        ['half a dry run', 'PUT', '?dryRun=Some', 'UpdateOptions', 'dryRun FieldValueNotSupported'],
        ['an empty dry run', 'PATCH', '?dryRun=', 'PatchOptions', 'dryRun FieldValueNotSupported'],
        ['half a dry run of a deletion', 'DELETE', '?dryRun=Some', 'DeleteOptions', 'dryRun FieldValueNotSupported'],
        [
          'an odd propagation',
          'DELETE',
          '?propagationPolicy=Odd',
          'DeleteOptions',
          'propagationPolicy FieldValueNotSupported',
        ],
      ])('with %s', async (_what, method, query, kind, cause) => {
        await make('optional');
        const body = method === 'DELETE' ? undefined : config('optional');
        const type = method === 'PATCH' ? patchTypes.merge : 'application/json';
        const reply = await client().send(method, `${maps}/optional${query}`, body, { type });
        expect(reply.body, reply.text).toMatchObject({
          code: 422,
          reason: 'Invalid',
          details: { group: 'meta.k8s.io', kind },
        });
        expect(causesOf(reply)).toEqual([cause]);
      });

      test.each([
        ['another kind', { kind: 'Pod', apiVersion: 'v1' }],
        ['text for seconds', { gracePeriodSeconds: 'x' }],
      ])('as deletions with %s', async (_what, options) => {
        await make('optional');
        const reply = await client().delete(`${maps}/optional`, { ...options, dryRun: ['All'] });
        expect(reply.code, reply.text).toBe(await client().expected(badDeleteOptions));
      });

      test.each([
        ['POST', 400, [], () => client().post(maps, config('typed', { a: 1 }))],
        ['PUT', 400, [], () => client().put(`${maps}/optional`, config('optional', { a: 1 }))],
        ['merge', 422, ['patch'], () => client().patch(`${maps}/optional`, 'merge', { data: 'x' })],
        ['strategic', 422, ['patch'], () => client().patch(`${maps}/optional`, 'strategic', { data: 'x' })],
        ['apply', 500, [], () => apply('optional', config('optional', { a: 1 }))],
      ])('with values of another type: %s', async (_what, code, fields, write) => {
        await make('optional');
        const reply = await write();
        expect(reply.code, reply.text).toBe(code);
        expect(causesOf(reply)).toEqual(fields.map((field) => `${field} FieldValueInvalid`));
      });

      test('as JSON patches of operations that there are not', async () => {
        await make('optional');
        for (const operation of [
          { op: 'foo', path: '/data' },
          { op: 'add', value: '1' },
        ]) {
          const reply = await client().patch(`${maps}/optional`, 'json', [operation]);
          expect(reply.body).toMatchObject({ code: 422, reason: 'Invalid' });
          expect(causesOf(reply)).toEqual([]);
        }
      });

      test('without a name, and as an applied configuration of another kind', async () => {
        await make('optional');
        const { kind, apiVersion } = config('');
        expect((await client().put(`${maps}/optional`, { kind, apiVersion, data: {} })).code).toBe(400);
        expect((await apply('nameless', { kind, apiVersion })).body).toMatchObject({ code: 400, reason: 'BadRequest' });
        expect((await apply('optional', { kind, apiVersion })).code).toBe(200);
        expect((await apply('optional', { metadata: { name: 'optional' } })).code).toBe(400);
        expect((await apply('optional', { kind, metadata: { name: 'optional' } })).code).toBe(400);
        const status = { apiVersion: 'apps/v1', kind: 'Deployment', status: { replicas: 3 } };
        const none = await client().patch(`${deployments}/none/status?fieldManager=x`, 'apply', status);
        expect(none.body).toMatchObject({ code: 404, details: { name: 'none', kind: 'deployments' } });
      });
    });

    test('that name a field twice are refused or warned of', async () => {
      await make('twice');
      const strict = await client().expected(strictUnknownField);
      const twice = '{"metadata":{"name":"twice-2"},"data":{"a":"1","a":"2"}}';
      const posted = await client().post(`${maps}?fieldValidation=Strict&dryRun=All`, twice);
      expect(posted.code, posted.text).toBe(strict.create);
      const patched = await client().patch(
        `${maps}/twice?fieldValidation=Strict`,
        'merge',
        '{"data":{"a":"1","a":"2"}}',
      );
      expect(patched.code, patched.text).toBe(strict.patch);
      if (strict.patch === 422) {
        expect(posted.body.message).toContain('strict decoding error: duplicate field "data.a"');
        expect(causesOf(patched)).toEqual(['patch FieldValueInvalid']);
        expect(patched.body.message).toContain('strict decoding error: duplicate field "data.a"');
      }
      const warned = await client().post(`${maps}?dryRun=All`, twice);
      expect(warned.body).toMatchObject({ data: { a: '2' } });
      const warnings = await client().expected(duplicateWarning);
      expect(warned.headers['warning']).toBe(warnings.json);

      const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: twice\ndata:\n  a: "1"\n  a: "2"\n';
      const applied = await apply('twice', yaml);
      expect(applied.body, applied.text).toMatchObject({ data: { a: '2' } });
      expect(applied.headers['warning']).toBe(warnings.yaml);
      const refused = await apply('twice', yaml, '&fieldValidation=Strict');
      expect(refused.code, refused.text).toBe(strict.create === 201 ? 200 : 400);
    });

    test('of JSON patches are read strictly on request', async () => {
      await make('operations');
      const patch = [{ op: 'add', path: '/metadata/labels', value: {}, bogus: 1 }];
      const reply = await client().patch(`${maps}/operations?fieldValidation=Strict`, 'json', patch);
      expect(reply.code, reply.text).toBe((await client().expected(strictUnknownField)).patch);
      if (reply.code === 422) expect(reply.body.message).toContain('json patch unknown field "[0].bogus"');
    });

    test('that delete take their options from the body, or else from the parameters', async () => {
      await make('options');
      const orphaned = await client().delete(`${maps}/options?orphanDependents=true&dryRun=All`);
      expect(at(orphaned.body, 'metadata', 'finalizers')).toEqual(['orphan']);
      const background = await client().delete(`${maps}/options?propagationPolicy=Foreground&dryRun=All`, {
        propagationPolicy: 'Background',
        dryRun: ['All'],
      });
      expect(background.body).toMatchObject({ kind: 'Status', status: 'Success' });
      const held = { finalizers: ['example.com/held'] };
      await client().patch(`${maps}/options`, 'merge', { metadata: held });
      const foreground = await client().delete(`${maps}/options`, { propagationPolicy: 'Foreground', dryRun: ['All'] });
      expect(at(foreground.body, 'metadata', 'finalizers')).toEqual(['example.com/held', 'foregroundDeletion']);
      expect((await client().get(`${maps}/options`)).body.metadata).not.toHaveProperty('deletionTimestamp');
      // With a body, the parameters mean nothing.
      const done = await client().delete(`${maps}/options?dryRun=All`, { propagationPolicy: 'Background' });
      expect(at(done.body, 'metadata', 'finalizers')).toEqual(['example.com/held']);
      expect(at((await client().get(`${maps}/options`)).body, 'metadata', 'deletionTimestamp')).toBeTypeOf('string');
      await client().patch(`${maps}/options`, 'merge', { metadata: { finalizers: null } });
    });

    test('that would delete a Pod show it as it ends', async () => {
      const pods = maps.replace('configmaps', 'pods');
      const spec = { containers: [{ name: 'c', image: 'example/c:1' }] };
      await client().post(pods, { metadata: { name: 'ending' }, spec });
      const dry = await client().delete(`${pods}/ending`, { dryRun: ['All'] });
      expect(dry.body).toMatchObject({
        kind: 'Pod',
        metadata: { deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 },
      });
      expect((await client().get(`${pods}/ending`)).body.metadata).not.toHaveProperty('deletionTimestamp');
    });

    describe('may not change', () => {
      test('an immutable ConfigMap', async () => {
        await client().post(maps, { ...config('fixed', { a: '1' }), immutable: true });
        const reply = await client().patch(`${maps}/fixed`, 'merge', { data: { a: '2' } });
        expect([reply.code, causesOf(reply)]).toEqual([422, ['data FieldValueForbidden']]);
        expect((await client().patch(`${maps}/fixed`, 'merge', { metadata: { labels: { a: 'b' } } })).code).toBe(200);
      });

      test('the selector of a workload, or its replicas to less than nothing', async () => {
        await client().post(deployments, deployment('fixed'));
        const reply = await client().patch(`${deployments}/fixed`, 'merge', {
          spec: {
            selector: { matchLabels: { app: null, other: 'x' } },
            template: { metadata: { labels: { other: 'x' } } },
          },
        });
        expect([reply.code, causesOf(reply)]).toEqual([422, ['spec.selector FieldValueInvalid']]);
        const fewer = await client().patch(`${deployments}/fixed`, 'merge', { spec: { replicas: -1 } });
        expect([fewer.code, causesOf(fewer)]).toEqual([422, ['spec.replicas FieldValueInvalid']]);
      });

      test('the service of a StatefulSet', async () => {
        const sets = deployments.replace('deployments', 'statefulsets');
        const { paused: _p, ...spec } = deployment('fixed').spec as JsonObject;
        const made = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'fixed' } };
        expect((await client().post(sets, { ...made, spec: { ...spec, serviceName: 'a', replicas: 0 } })).code).toBe(
          201,
        );
        const reply = await client().patch(`${sets}/fixed`, 'merge', { spec: { serviceName: 'b' } });
        expect([reply.code, causesOf(reply)]).toEqual([422, [await client().expected(fixedServiceName)]]);
      });

      test('a Pod beyond its images', async () => {
        const pods = maps.replace('configmaps', 'pods');
        const spec = { containers: [{ name: 'c', image: 'example/c:1' }] };
        await client().post(pods, { metadata: { name: 'fixed' }, spec });
        const patch = (container: JsonObject): Promise<Reply> =>
          client().patch(`${pods}/fixed`, 'strategic', { spec: { containers: [{ name: 'c', ...container }] } });
        expect((await patch({ image: 'example/c:2' })).code).toBe(200);
        const reply = await patch({ env: [{ name: 'A', value: '1' }] });
        expect([reply.code, causesOf(reply)]).toEqual([422, ['spec FieldValueForbidden']]);
        expect(reply.body.message).toContain('pod updates may not change fields other than');
      });
    });

    test('restart a workload, and cordon a Node, by patches', async () => {
      await client().post(`${deployments}?fieldManager=maker`, deployment('restarted'));
      const annotations = { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' };
      const patch = { spec: { template: { metadata: { annotations } } } };
      const path = `${deployments}/restarted`;
      const dry = await client().patch(`${path}?fieldManager=r&dryRun=All`, 'strategic', patch);
      expect(at(dry.body, 'spec', 'template', 'metadata', 'annotations')).toEqual(annotations);
      expect(at((await client().get(path)).body, 'spec', 'template', 'metadata', 'annotations')).toBeUndefined();
      const done = await client().patch(`${path}?fieldManager=r`, 'strategic', patch);
      expect(done.body).toMatchObject({ metadata: { generation: 2 } });
      const fields = { '.': {}, 'f:kubectl.kubernetes.io/restartedAt': {} };
      expect(at(done.body, 'metadata', 'managedFields')).toContainEqual(
        expect.objectContaining({
          manager: 'r',
          operation: 'Update',
          fieldsV1: { 'f:spec': { 'f:template': { 'f:metadata': { 'f:annotations': fields } } } },
        }),
      );

      await client().post('/api/v1/nodes', { metadata: { name: 'c-writes' } });
      const node = '/api/v1/nodes/c-writes';
      for (const unschedulable of [true, false]) {
        const cordoned = await client().patch(node, 'strategic', { spec: { unschedulable } });
        expect(at(cordoned.body, 'spec', 'unschedulable')).toBe(unschedulable || undefined);
      }
      await client().delete(node);
    });
  });
}
