/** Denials are audited once. Requests are counted for their caller. Only queries are executed again. */
import { describe, expect, test } from 'vitest';
import { handMadeSource } from '../../test/kit/hand-made-source.ts';
import { type Caller, type Credentials, localUser, noExtra } from '../access/caller.ts';
import { PortolanError } from '../base/errors.ts';
import type { Awaited } from '../query/plan/not-ready.ts';
import { Admission, type OperationType } from './admission.ts';
import type { Denial } from './audit.ts';
import { defaultBounds } from './caller-limits.ts';

const credentials: Credentials = { header: () => undefined, headers: () => [], headerNames: () => [] };
const arrival = { credentials, address: '192.0.2.1' };
const jane: Caller = { name: 'jane', user: { user: 'jane', groups: [], uid: '', extra: noExtra }, validUntil: null };

function admissionOf(authenticate: () => Caller | Promise<Caller>, bounds = defaultBounds) {
  const denials: Denial[] = [];
  const made = handMadeSource();
  const source = { ...made.source, limits: { ...made.source.limits, waitForSyncMs: 1000 } };
  const audit = { denied: (denial: Denial) => void denials.push(denial) };
  return { admission: new Admission(source, authenticate, null, bounds, audit), denials };
}

describe('a request whose caller is refused', () => {
  const refused = new PortolanError('UNAUTHENTICATED', 'The token is not valid.');
  const later = (): Promise<never> => Promise.reject(refused);
  const now = (): never => {
    throw refused;
  };

  test.each([
    ['at once', now],
    ['by a review', later],
  ])('%s, is told to the audit once', async (_when, authenticate) => {
    const { admission, denials } = admissionOf(authenticate);
    await expect((async () => admission.admit({ ...arrival, path: '/metrics' }))()).rejects.toBe(refused);
    const { code, message } = refused;
    expect(denials).toEqual([{ caller: null, code, message, address: '192.0.2.1', path: ['/metrics'], traceId: null }]);
  });

  test('is no denial where everybody is answered', async () => {
    const { admission, denials } = admissionOf(now);
    await expect((async () => admission.admit({ ...arrival, isPublic: true }))()).rejects.toBe(refused);
    expect(denials).toEqual([]);
  });

  test('is no denial when the API server does not answer', async () => {
    const failed = new PortolanError('UPSTREAM_UNAVAILABLE', 'The API server does not answer.');
    const { admission, denials } = admissionOf(() => Promise.reject(failed));
    await expect((async () => admission.admit(arrival))()).rejects.toBe(failed);
    expect(denials).toEqual([]);
  });
});

test('what is admitted counts until it leaves, over all its messages', async () => {
  const { admission } = admissionOf(() => jane, { ...defaultBounds, requests: 2 });
  const admitted = await admission.admit(arrival);
  const leave = admitted.enter('requests');
  admitted.message(admitted.span).enter('requests');
  expect(() => admitted.enter('requests')).toThrow('You have 2 queries in flight');
  leave();
  leave();
  admitted.enter('requests');
  expect(() => admitted.enter('requests')).toThrow('You have 2 queries in flight');
});

test('a denial names its caller, its operation and the resources of the error', async () => {
  const { admission, denials } = admissionOf(() => jane);
  const admitted = await admission.admit(arrival);
  admitted.denied(new PortolanError('FORBIDDEN', 'No.', { details: { resources: ['secrets'] } }), { operation: 'Q' });
  admitted.denied(new PortolanError('NOT_FOUND', 'There is no such object.'));
  const about = { caller: jane, code: 'FORBIDDEN', message: 'No.', address: '192.0.2.1', traceId: null };
  expect(denials).toEqual([{ ...about, operation: 'Q', resources: ['secrets'] }]);
});

describe('an operation whose first execution meets a kind in its first sync', () => {
  /** Executions of such an operation. The kind is synced when it waits. */
  async function executions(type: OperationType): Promise<number> {
    const { admission } = admissionOf(() => localUser);
    const operation = admission.begin({ admitted: await admission.admit(arrival), signal: undefined, explain: false });
    const awaited: readonly Awaited[] = [{ cluster: null, key: 'pods' } as unknown as Awaited];
    let count = 0;
    const codes = {
      ofResult: () => 'OK',
      ofThrown: () => 'INTERNAL_SERVER_ERROR',
      awaited: (result: number) => (result === 1 ? awaited : []),
    };
    admission.source.syncWatch.until = () => Promise.resolve(true);
    await admission.run(operation, { type, name: null, document: () => '' }, codes, () => {
      count += 1;
      return count;
    });
    return count;
  }

  test.each([
    ['query', 2],
    ['mutation', 1],
    ['subscription', 1],
    ['unknown', 1],
  ] as const)('a %s is executed %i times', async (type, times) => {
    expect(await executions(type)).toBe(times);
  });
});
