/** pods/eviction: what it removes, what budgets forbid, and how requests are refused. */
import { beforeAll, describe, expect, test } from 'vitest';
import { asArray, asObject, asString, at, type JsonObject } from '../../sim/objects/json.ts';
import { eventually } from '../kit/eventually.ts';
import {
  type ConformanceClient,
  causesOf,
  makeNamespace,
  type Reply,
  strangerUid,
  versionOf,
} from './conformance-client.ts';
import { disruptionTarget, policyVersion, strictUnknownField, unhealthyEvictions } from './version-differences.ts';

const patience = 40_000;

export function evictionCases(client: () => ConformanceClient): void {
  describe('evictions', () => {
    let pods = '';
    let apiVersion = '';
    let budgets = '';
    beforeAll(async () => {
      pods = `${await makeNamespace(client(), 'c-evictions')}/pods`;
      apiVersion = await client().expected(policyVersion);
      budgets = `/apis/${apiVersion}/namespaces/c-evictions/poddisruptionbudgets`;
    });

    /** A Pod in a phase; Running and ready without one. It has no node: nothing but these cases writes its status. */
    const makePod = async (name: string, app: string, status: JsonObject = {}): Promise<Reply> => {
      const spec = { containers: [{ name: 'c', image: 'example/c:1' }] };
      const made = await client().post(pods, { metadata: { name, labels: { app } }, spec });
      expect(made.code, made.text).toBe(201);
      if (status.phase === 'Pending') return made;
      const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], ...status };
      return client().patch(`${pods}/${name}/status`, 'merge', { status: ready });
    };
    const makeBudget = async (name: string, app: string, spec: JsonObject): Promise<void> => {
      const selector = { matchLabels: { app } };
      const made = await client().post(budgets, { metadata: { name }, spec: { selector, ...spec } });
      expect(made.code, made.text).toBe(201);
    };
    const budgetStatus = async (name: string): Promise<JsonObject> =>
      asObject((await client().get(`${budgets}/${name}`)).body.status);
    /** Waits until the disruption controller has counted. */
    const counted = (name: string, generation: number, disruptionsAllowed: number): Promise<void> =>
      eventually(async () => {
        expect(await budgetStatus(name)).toMatchObject({ observedGeneration: generation, disruptionsAllowed });
      }, patience);
    const evict = (name: string, more: JsonObject = {}, query = ''): Promise<Reply> =>
      client().post(`${pods}/${name}/eviction${query}`, { apiVersion, kind: 'Eviction', metadata: { name }, ...more });
    const isThere = async (name: string): Promise<boolean> => (await client().get(`${pods}/${name}`)).code === 200;
    const causeMessages = (reply: Reply): unknown[] =>
      asArray(at(reply.body, 'details', 'causes')).map((cause) => asObject(cause).message);

    test('remove a Pod, and not in a dry run', async () => {
      const made = await makePod('free', 'free');
      for (const dry of [
        await evict('free', {}, '?dryRun=All'),
        await evict('free', { deleteOptions: { dryRun: ['All'] } }),
        await evict('free', { deleteOptions: { dryRun: ['All'] } }, '?dryRun=All'),
      ])
        expect(dry.code, dry.text).toBe(201);
      expect((await client().get(`${pods}/free`)).body).toEqual(made.body);
      const done = await evict('free');
      expect([done.code, done.body]).toEqual([
        201,
        { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
      ]);
      expect(await isThere('free')).toBe(false);
    });

    test('are for one Pod in one version, if they say so', async () => {
      const made = await makePod('meant', 'meant');
      const uid = asString(at(made.body, 'metadata', 'uid'));
      for (const preconditions of [{ uid: strangerUid }, { resourceVersion: '1' }, { uid, resourceVersion: '1' }]) {
        for (const query of ['', '?dryRun=All']) {
          const refused = await evict('meant', { deleteOptions: { preconditions } }, query);
          expect(refused.body, refused.text).toMatchObject({
            code: 409,
            reason: 'Conflict',
            details: { name: 'meant' },
          });
          expect(refused.body.message).toContain('in the precondition');
        }
      }
      expect((await client().get(`${pods}/meant`)).body).toEqual(made.body);
      const right = { preconditions: { uid, resourceVersion: versionOf(made) } };
      expect((await evict('meant', { deleteOptions: right })).code).toBe(201);
      expect(await isThere('meant')).toBe(false);
    });

    test('are refused for what is not there, for another name, and with options that no server knows', async () => {
      expect((await evict('none')).body).toMatchObject({
        code: 404,
        reason: 'NotFound',
        details: { name: 'none', kind: 'pods' },
      });
      expect((await evict('none', {}, '?dryRun=All')).code).toBe(404);
      await makePod('here', 'here');
      expect((await evict('here', { metadata: { name: 'other' } })).body).toMatchObject({
        code: 400,
        reason: 'BadRequest',
      });
      expect((await evict('here', { kind: 'Pod', apiVersion: 'v1' })).code).toBe(400);
      const dryRun = await evict('here', {}, '?dryRun=Some');
      expect([dryRun.code, causesOf(dryRun)]).toEqual([422, ['dryRun FieldValueNotSupported']]);
      const odd = await evict('here', { deleteOptions: { propagationPolicy: 'Odd' } });
      expect([odd.code, causesOf(odd)]).toEqual([422, ['propagationPolicy FieldValueNotSupported']]);
      expect((await evict('here', { deleteOptions: { gracePeriodSeconds: 'x' } })).code).toBe(400);
      expect((await evict('here', { deleteOptions: { dryRun: ['All', 'All'] } }, '?dryRun=All')).code).toBe(500);
      const strict = await client().expected(strictUnknownField);
      const unknown = await evict('here', { bogus: 1 }, '?dryRun=All&fieldValidation=Strict');
      expect(unknown.code, unknown.text).toBe(strict.create);
      expect(await isThere('here')).toBe(true);
    });

    test('are made, and made of Pods', async () => {
      for (const method of ['GET', 'PUT', 'DELETE'])
        expect((await client().send(method, `${pods}/here/eviction`)).code, method).toBe(405);
      expect((await client().post(pods.replace('/pods', '/configmaps/a/eviction'), {})).code).toBe(404);
      const stranger = await client().post(
        `${pods}/here/eviction`,
        { apiVersion, kind: 'Eviction', metadata: { name: 'here' } },
        { token: client().target.nobodyToken },
      );
      expect(stranger.body).toMatchObject({ code: 403, reason: 'Forbidden' });
      expect(stranger.body.message).toContain('cannot create resource "pods/eviction"');
    });

    test('are forbidden while a budget needs the Pod', async () => {
      for (const name of ['g1', 'g2']) await makePod(name, 'guarded');
      await makeBudget('guard', 'guarded', { minAvailable: 2 });
      await counted('guard', 1, 0);
      for (const refused of [
        await evict('g1'),
        await evict('g1', {}, '?dryRun=All'),
        await evict('g1', { deleteOptions: { dryRun: ['All'] } }),
      ]) {
        expect(refused.body).toMatchObject({ code: 429, reason: 'TooManyRequests' });
        expect(refused.body.message).toBe("Cannot evict pod as it would violate the pod's disruption budget.");
        expect(causesOf(refused)).toEqual([' DisruptionBudget']);
        expect(causeMessages(refused)).toEqual([
          'The disruption budget guard needs 2 healthy pods and has 2 currently',
        ]);
      }
      expect(await isThere('g1')).toBe(true);
    });

    test('use up a budget, one by one', async () => {
      for (const name of ['u1', 'u2']) await makePod(name, 'used');
      await makeBudget('use', 'used', { minAvailable: 1 });
      await counted('use', 1, 1);
      const before = await budgetStatus('use');
      expect((await evict('u1', {}, '?dryRun=All')).code).toBe(201);
      expect(await budgetStatus('use')).toEqual(before);
      expect((await evict('u1')).code).toBe(201);
      expect(await isThere('u1')).toBe(false);
      expect((await evict('u2')).body).toMatchObject({ code: 429, reason: 'TooManyRequests' });
      await eventually(async () => {
        const { disruptedPods = {}, ...rest } = await budgetStatus('use');
        expect(disruptedPods).toEqual({});
        expect(rest).toMatchObject({ currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0 });
      }, patience);
      expect((await client().delete(`${budgets}/use`)).code).toBe(200);
      expect((await evict('u2')).code).toBe(201);
    });

    test('are an error where several budgets select the Pod', async () => {
      await makePod('two', 'two');
      for (const name of ['two-1', 'two-2']) {
        await makeBudget(name, 'two', { minAvailable: 0 });
        await counted(name, 1, 1);
      }
      const reply = await evict('two');
      expect(reply.body).toMatchObject({ code: 500, status: 'Failure' });
      expect(reply.body.message).toContain('more than one PodDisruptionBudget');
      expect(await isThere('two')).toBe(true);
    });

    test('ask no budget about Pods that have not begun or have ended', async () => {
      await makeBudget('many', 'ending', { minAvailable: 100 });
      for (const phase of ['Pending', 'Succeeded', 'Failed']) {
        const name = phase.toLowerCase();
        await makePod(name, 'ending', { phase, conditions: [{ type: 'Ready', status: 'False' }] });
        const reply = await evict(name);
        expect(reply.code, reply.text).toBe(201);
        expect(await isThere(name)).toBe(false);
      }
    });

    test('of a Pod that is not ready need a healthy rest, or a budget that always allows them', async ({ skip }) => {
      await client().needs(unhealthyEvictions, skip);
      await makeBudget('sick', 'sick', { minAvailable: 1 });
      const unready = { conditions: [{ type: 'Ready', status: 'False' }] };
      await makePod('s1', 'sick', unready);
      await counted('sick', 1, 0);
      expect((await evict('s1')).code).toBe(429);
      await makePod('s2', 'sick');
      await eventually(async () => expect(await budgetStatus('sick')).toMatchObject({ currentHealthy: 1 }), patience);
      expect((await evict('s1', {}, '?dryRun=All')).code).toBe(201);
      expect((await evict('s2', {}, '?dryRun=All')).code).toBe(429);
      await client().delete(`${pods}/s2`);
      await client().patch(`${budgets}/sick`, 'merge', { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } });
      await counted('sick', 2, 0);
      expect((await evict('s1')).code).toBe(201);
    });

    test('mark a Pod that finalizers hold', async ({ skip }) => {
      await client().needs(disruptionTarget, skip);
      await makePod('held', 'held');
      await client().patch(`${pods}/held`, 'merge', { metadata: { finalizers: ['example.com/held'] } });
      expect((await evict('held', {}, '?fieldManager=evictor')).code).toBe(201);
      const { metadata, status } = (await client().get(`${pods}/held`)).body;
      expect(metadata).toMatchObject({ deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 });
      expect(asArray(at(status, 'conditions'))).toContainEqual(
        expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
      );
      expect(JSON.stringify(at(metadata, 'managedFields'))).not.toContain('evictor');
      expect((await evict('held')).code).toBe(201);
      await client().patch(`${pods}/held`, 'merge', { metadata: { finalizers: null } });
      expect(await isThere('held')).toBe(false);
    });
  });
}
