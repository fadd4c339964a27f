/** Events over a loopback API server: their content and their number. */
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { sendJson, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { recordedLogger } from '../../../test/kit/recorded-logger.ts';
import { connect } from '../../kube/client/connection.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { type WriteErrorCode, writeError } from '../../writes/outcome/write-error.ts';
import type { WriteResult } from '../../writes/run/write-item.ts';
import type { WriteReport } from '../../writes/session/session-report.ts';
import { appliedEvent, failedEvent, SetEvents } from './set-events.ts';

const api = { group: 'g.io', version: 'v1' };
const set = { namespace: 'shop', name: 'web', uid: 'uid-web' };
const applied = { type: 'Normal', reason: 'Applied', message: '1 member created.' } as const;

/** A report of the ConfigMaps a, b …, and of the record at the end. */
function reportOf(...outcomes: readonly (WriteResult | WriteErrorCode)[]): WriteReport {
  const results: readonly string[] = ['CREATED', 'CHANGED', 'UNCHANGED', 'DELETED'] satisfies WriteResult[];
  const items = [...outcomes, 'CHANGED'].map((outcome, index) => {
    const isDone = results.includes(outcome);
    return {
      intent: { target: { resource: { kind: 'ConfigMap' }, name: 'abcdefghij'[index] } },
      result: isDone ? outcome : 'NONE',
      written: isDone && outcome !== 'UNCHANGED' ? { uid: 'u', resourceVersion: '1' } : null,
      errors: isDone ? [] : [writeError(outcome as WriteErrorCode, 'data.password: Invalid value: "hunter2"')],
    };
  });
  return { items } as unknown as WriteReport;
}

test('what a write has done', () => {
  expect(appliedEvent(reportOf('UNCHANGED', 'UNCHANGED'))).toBeNull();
  expect(appliedEvent(reportOf())).toBeNull();
  expect(appliedEvent(reportOf('CREATED', 'UNCHANGED'))).toEqual(applied);
  expect(appliedEvent(reportOf('DELETED', 'CREATED', 'CHANGED', 'CREATED'))?.message).toBe(
    '2 members created, 1 changed, 1 deleted.',
  );
  expect(appliedEvent(reportOf('CHANGED', 'CHANGED'))?.message).toBe('2 members changed.');
});

test('a failure has the members and the codes, and no words of the API server', () => {
  expect(failedEvent(reportOf('CREATED', 'DENIED', 'SKIPPED'), 'ApplyFailed')).toEqual({
    type: 'Warning',
    reason: 'ApplyFailed',
    message: 'ConfigMap b: DENIED. 1 member created.',
  });
  const many = failedEvent(
    reportOf('DENIED', 'INVALID_FIELD', 'DENIED', 'DENIED', 'DENIED', 'DENIED', 'DENIED'),
    'DeletionFailed',
  );
  expect(many.message).toBe(
    'ConfigMap a: DENIED, ConfigMap b: INVALID_FIELD, ConfigMap c: DENIED, ConfigMap d: DENIED, ConfigMap e: DENIED and 2 more. No member was written.',
  );
  expect(JSON.stringify(many)).not.toContain('hunter2');
  expect(failedEvent(reportOf('DELETED', 'SKIPPED'), 'DeletionFailed').message).toBe('1 member deleted.');
  // The record after the members.
  const ofRecord = { ...reportOf('CREATED'), items: reportOf('CREATED', 'STALE_OBJECT').items.slice(0, 2) };
  expect(failedEvent(ofRecord, 'ApplyFailed').message).toBe('the set: STALE_OBJECT. 1 member created.');
});

/** Events that go to a server; `hold` keeps its answers. */
async function started() {
  const bodies: {
    readonly involvedObject: { readonly name: string; readonly uid: string };
    readonly metadata: { readonly name: string };
  }[] = [];
  const state = { status: 201, message: '', hold: null as Promise<unknown> | null };
  const server = await startLoopbackServer(async (request, response) => {
    bodies.push({ path: request.url, ...JSON.parse(await text(request)) });
    await state.hold;
    sendJson(response, state.status, state.status === 201 ? {} : { kind: 'Status', code: 403, message: state.message });
  });
  onTestFinished(() => server.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const connection = await connect({
    ...{ env: {}, name: 'east', kubeconfig: folder.write({ server: server.url }, { token: 'gateway' }) },
  });
  onTestFinished(() => connection.close());
  const client = new RestClient(connection);
  const clock = new ManualClock();
  const { logger: log, entries } = recordedLogger();
  let drawn = 0;
  const events = new SetEvents({
    ...{ api, client, clock, log },
    random: () => {
      drawn += 1;
      return drawn / 1024;
    },
  });
  onTestFinished(() => events.close());
  return { events, bodies, state, clock, entries, client };
}

test('an Event is about the set, and its time is in seconds', async () => {
  const { events, bodies } = await started();
  const long = { ...set, name: 'n'.repeat(253) };
  events.note(set, applied);
  events.note(long, applied);
  await eventually(() => expect(bodies).toHaveLength(2));
  const time = '2023-11-14T22:13:20Z';
  const body = bodies.find(({ involvedObject }) => involvedObject.name === 'web');
  expect(body).toMatchObject({
    path: '/api/v1/namespaces/shop/events',
    ...{ apiVersion: 'v1', kind: 'Event', ...applied, count: 1, firstTimestamp: time, lastTimestamp: time },
    metadata: { namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-f]+$/) },
    involvedObject: { apiVersion: 'g.io/v1', kind: 'ShadowResource', ...set },
    source: { component: 'portolan' },
  });
  expect(bodies.every(({ metadata }) => metadata.name.length <= 253)).toBe(true);
  expect(new Set(bodies.map(({ metadata }) => metadata.name)).size).toBe(2);
});

test('a set has 25 Events at once, and then one in five minutes; another set has its own', async () => {
  const { events, bodies, clock } = await started();
  const eventsOf = (uid: string): number => bodies.filter(({ involvedObject }) => involvedObject.uid === uid).length;
  let markers = 0;
  /** @param expected Events of the set in all */
  const note = async (count: number, of: typeof set, expected: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      events.note(of, applied);
      // One at a time: requests that wait are bounded too.
      markers += 1;
      const marker = `marker-${markers}`;
      events.note({ ...set, uid: marker }, applied);
      await eventually(() => expect(eventsOf(marker)).toBe(1));
    }
    // A marker may overtake the Event before it. One too many is found by the next count.
    await eventually(() => expect(eventsOf(of.uid)).toBe(expected));
  };
  const other = { ...set, uid: 'uid-other' };
  await note(40, set, 25);
  await note(3, other, 3);
  await clock.advance(299_000);
  await note(1, set, 25);
  await clock.advance(301_000);
  await note(4, set, 27);
  await note(3, other, 6);
  expect(eventsOf(set.uid)).toBe(27);
});

test('a server that does not answer holds 20 requests, and nothing else', async () => {
  const { events, bodies, state } = await started();
  const held = Promise.withResolvers<void>();
  state.hold = held.promise;
  for (let index = 0; index < 100; index += 1) events.note({ ...set, uid: `uid-${index}` }, applied);
  await eventually(() => expect(bodies).toHaveLength(20));
  state.hold = null;
  held.resolve();
  await eventually(() => {
    events.note({ ...set, uid: 'uid-last', name: 'last' }, applied);
    expect(bodies.at(-1)?.involvedObject.name).toBe('last');
  });
  const inTime = bodies.filter(({ involvedObject }) => involvedObject.name === 'web');
  expect(inTime).toHaveLength(20);
});

test('an account that may not create Events says so once', async () => {
  const { events, bodies, state, entries, client } = await started();
  state.status = 403;
  state.message =
    'events "web.1" is forbidden: unable to create new content in namespace shop because it is being terminated';
  events.note(set, applied);
  await eventually(() => expect(entries.map(({ level }) => level)).toEqual(['debug']));
  state.message =
    'events is forbidden: User "gateway" cannot create resource "events" in API group "" in the namespace "shop"';
  for (let index = 0; index < 3; index += 1) events.note(set, applied);
  await eventually(() => expect(entries).toHaveLength(4));
  expect(bodies).toHaveLength(4);
  expect(entries.map(({ level }) => level).toSorted()).toEqual(['debug', 'debug', 'debug', 'warn']);
  events.close();
  events.note(set, applied);
  state.status = 201;
  await client.post('/api/v1/namespaces/shop/events', { involvedObject: { name: 'after', uid: 'uid-after' } });
  expect(bodies.slice(4).map(({ involvedObject }) => involvedObject.name)).toEqual(['after']);
});
