/** The subresource scale: its forms, dry runs, preconditions, refusals, and whom it makes the manager of the replicas. */
import { beforeEach, describe, expect, test } from 'vitest';
import { asArray, asObject, at, type JsonObject } from '../../sim/objects/json.ts';
import { eventually } from '../kit/eventually.ts';
import {
  type ConformanceClient,
  causesOf,
  makeNamespace,
  patchTypes,
  type Reply,
  strangerUid,
  versionOf,
} from './conformance-client.ts';
import { scaleManagers, strictUnknownField } from './version-differences.ts';

export function scaleCases(client: () => ConformanceClient): void {
  describe('scales', () => {
    let count = 0;
    let name = '';
    let deployment = '';
    const scalePath = (query = ''): string => `${deployment}/scale${query}`;
    const scaleOf = (replicas: unknown, metadata: JsonObject = {}): JsonObject => ({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace: 'c-scale', ...metadata },
      spec: { replicas },
    });
    const replicas = async (): Promise<unknown> => at((await client().get(deployment)).body, 'spec', 'replicas');
    /** Manager, operation, subresource and fields of each entry that has a field `replicas`. */
    const managers = (reply: Reply): unknown[] =>
      asArray(at(reply.body, 'metadata', 'managedFields'))
        .map(asObject)
        .filter(({ fieldsV1 }) => at(fieldsV1, 'f:spec', 'f:replicas') !== undefined)
        .map(({ manager, operation, apiVersion, subresource }) => [manager, operation, apiVersion, subresource]);

    beforeEach(async () => {
      if (count++ === 0) await makeNamespace(client(), 'c-scale');
      name = `d${count}`;
      const deployments = '/apis/apps/v1/namespaces/c-scale/deployments';
      deployment = `${deployments}/${name}`;
      const labels = { app: name, tier: 'a' };
      const selector = {
        matchLabels: { app: name },
        matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'a'] }],
      };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'example/c:1' }] } };
      const spec = { replicas: 1, paused: true, selector, template };
      const made = await client().post(`${deployments}?fieldManager=maker`, { metadata: { name }, spec });
      expect(made.code, made.text).toBe(201);
    });

    test('have the uid and version of their object, and its selector as text', async () => {
      await eventually(async () => {
        const { uid, resourceVersion } = asObject((await client().get(deployment)).body.metadata);
        expect((await client().get(scalePath())).body).toMatchObject({
          ...scaleOf(1, { uid, resourceVersion }),
          status: { replicas: 0, selector: `app=${name},tier in (a,b)` },
        });
      });
    });

    test.each([
      ['PUT', undefined, () => scaleOf(3)],
      ['a merge patch', 'merge', () => ({ spec: { replicas: 3 } })],
      ['a strategic patch', 'strategic', () => ({ spec: { replicas: 3 } })],
      ['a JSON patch', 'json', () => [{ op: 'replace', path: '/spec/replicas', value: 3 }]],
      ['an apply', 'apply', () => scaleOf(3)],
    ] as const)('are written by %s, or not by its dry run', async (_what, kind, body) => {
      const write = (query: string): Promise<Reply> =>
        kind === undefined
          ? client().put(scalePath(query), body())
          : client().patch(scalePath(`${query}&fieldManager=f${kind === 'apply' ? '&force=true' : ''}`), kind, body());
      const dry = await write('?dryRun=All');
      expect(dry.body, dry.text).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
      expect(await replicas()).toBe(1);
      const done = await write('?');
      expect(done.body, done.text).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
      expect((await client().get(deployment)).body).toMatchObject({
        metadata: { generation: 2 },
        spec: { replicas: 3 },
      });
    });

    test('are not written over a newer version, or another object', async () => {
      const before = versionOf(await client().get(scalePath()));
      await client().patch(deployment, 'merge', { metadata: { labels: { newer: 'yes' } } });
      const stale = { resourceVersion: before };
      const refused = [
        await client().put(scalePath(), scaleOf(3, stale)),
        await client().patch(scalePath(), 'merge', { metadata: stale, spec: { replicas: 3 } }),
        await client().put(scalePath(), scaleOf(3, { uid: strangerUid })),
      ];
      for (const reply of refused) {
        expect(reply.body, reply.text).toMatchObject({
          code: 409,
          reason: 'Conflict',
          details: { name, group: 'apps', kind: 'deployments' },
        });
      }
      const other = await client().patch(scalePath(), 'merge', {
        metadata: { uid: strangerUid },
        spec: { replicas: 3 },
      });
      expect(other.body, other.text).toMatchObject({ code: 409, reason: 'Conflict' });
      expect(await replicas()).toBe(1);
      // A controller may write the status in between.
      await eventually(async () => {
        const right = { resourceVersion: versionOf(await client().get(scalePath())) };
        expect((await client().put(scalePath(), scaleOf(3, right))).code).toBe(200);
      });
    });

    test('are refused with less than nothing, another type, or another name', async () => {
      for (const reply of [
        await client().put(scalePath(), scaleOf(-1)),
        await client().patch(scalePath(), 'merge', { spec: { replicas: -1 } }),
      ]) {
        expect(reply.body).toMatchObject({
          code: 422,
          reason: 'Invalid',
          details: { name, group: 'autoscaling', kind: 'Scale' },
        });
        expect(causesOf(reply)).toEqual(['spec.replicas FieldValueInvalid']);
        expect(reply.body.message).toContain('must be greater than or equal to 0');
      }
      expect((await client().put(scalePath(), scaleOf('x'))).body).toMatchObject({ code: 400, reason: 'BadRequest' });
      const text = await client().patch(scalePath(), 'merge', { spec: { replicas: 'x' } });
      expect([text.code, causesOf(text)]).toEqual([422, ['patch FieldValueInvalid']]);
      expect((await client().put(scalePath(), scaleOf(3, { name: 'other' }))).code).toBe(400);
      expect((await client().put(scalePath(), scaleOf(3, { name: '' }))).code).toBe(400);
      const failed = [{ op: 'test', path: '/spec/replicas', value: 7 }];
      expect((await client().patch(scalePath(), 'json', failed)).code).toBe(422);
      expect(await replicas()).toBe(1);
    });

    test('are refused in an unknown form, by other methods, and of nothing', async () => {
      expect((await client().send('PATCH', scalePath(), {}, { type: 'application/json' })).code).toBe(415);
      expect((await client().post(scalePath(), scaleOf(3))).code).toBe(405);
      expect((await client().delete(scalePath())).code).toBe(405);
      const none = scalePath().replace(`/${name}/`, '/none/');
      expect((await client().get(none)).code).toBe(404);
      expect((await client().patch(none, 'merge', { spec: { replicas: 1 } })).code).toBe(404);
      const applied = { ...scaleOf(1), metadata: { name: 'none' } };
      expect((await client().patch(`${none}?fieldManager=x`, 'apply', applied)).body).toMatchObject({
        code: 404,
        details: { name: 'none', kind: 'deployments' },
      });
      expect((await client().get(scalePath().replace('deployments', 'daemonsets'))).code).toBe(404);
    });

    test('are read strictly on request', async () => {
      const strict = await client().expected(strictUnknownField);
      const put = await client().put(scalePath('?fieldValidation=Strict'), { ...scaleOf(3), bogus: 1 });
      expect(put.code, put.text).toBe(strict.create === 201 ? 200 : strict.create);
      const patch = { spec: { replicas: 3, bogus: 1 } };
      const patched = await client().patch(scalePath('?fieldValidation=Strict'), 'merge', patch);
      expect(patched.code, patched.text).toBe(strict.patch);
      if (strict.patch === 422) expect(causesOf(patched)).toEqual(['patch FieldValueInvalid']);
    });

    test('make their writer the manager of the replicas, through the subresource', async ({ skip }) => {
      await client().needs(scaleManagers, skip);
      await client().patch(scalePath('?fieldManager=scaler'), 'merge', { spec: { replicas: 2 } });
      expect(managers(await client().get(deployment))).toEqual([['scaler', 'Update', 'apps/v1', 'scale']]);
      // A write without a change makes its writer no manager.
      await client().patch(scalePath('?fieldManager=other'), 'merge', { spec: { replicas: 2 } });
      expect(managers(await client().get(deployment))).toEqual([['scaler', 'Update', 'apps/v1', 'scale']]);

      const apply = (value: number, more = ''): Promise<Reply> =>
        client().patch(scalePath(`?fieldManager=applier${more}`), 'apply', scaleOf(value));
      const conflict = await apply(5);
      expect(conflict.body.message).toBe(
        'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale" using autoscaling/v1: .spec.replicas',
      );
      expect([conflict.code, causesOf(conflict)]).toEqual([409, ['.spec.replicas FieldManagerConflict']]);
      expect((await apply(5, '&force=true')).code).toBe(200);
      expect(managers(await client().get(deployment))).toEqual([['applier', 'Apply', 'apps/v1', 'scale']]);

      const whole = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec: { replicas: 9 } };
      const over = await client().patch(`${deployment}?fieldManager=owner`, 'apply', whole);
      expect(over.body.message).toBe(
        'Apply failed with 1 conflict: conflict with "applier" with subresource "scale": .spec.replicas',
      );
    });

    test('are not applied without a manager', async () => {
      const reply = await client().send('PATCH', scalePath(), scaleOf(3), { type: patchTypes.apply });
      expect([reply.code, causesOf(reply)]).toEqual([422, ['fieldManager FieldValueRequired']]);
    });
  });
}
