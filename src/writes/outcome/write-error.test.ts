import { expect, test } from 'vitest';
import { apiErrorFromAnswer, apiErrorFromNetwork, apiErrorFromNonsense } from '../../kube/http/api-error.ts';
import { untoldTexts, withoutValues } from './withheld-words.ts';
import { writeErrorOf } from './write-error.ts';

const what = 'PATCH /api/v1/namespaces/a/configmaps/b';
const real = { holdsUid: false, dryRun: false };
const answered = (httpStatus: number, message: string, more: object = {}) =>
  apiErrorFromAnswer({
    what,
    httpStatus,
    headers: {},
    text: JSON.stringify({ kind: 'Status', code: httpStatus, message, ...more }),
  });

test('after a failure in which the object may have been written, the outcome is not known', () => {
  const lost = apiErrorFromNetwork(Object.assign(new Error('reset'), { code: 'ECONNRESET' }), what);
  const unsent = apiErrorFromNetwork(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), what);
  const page = apiErrorFromNonsense(what, 200, 'an HTML page');
  const timedOut = answered(500, 'etcdserver: request timed out');
  expect([lost, page, timedOut, answered(504, 'late')].map((error) => writeErrorOf(error, real).code)).toEqual([
    'UNKNOWN',
    'UNKNOWN',
    'UNKNOWN',
    'UNKNOWN',
  ]);
  expect([unsent, answered(503, 'later')].map((error) => writeErrorOf(error, real).code)).toEqual([
    'UNAVAILABLE',
    'UNAVAILABLE',
  ]);
  const dry = { ...real, dryRun: true };
  expect([lost, page, timedOut].map((error) => writeErrorOf(error, dry).code)).toEqual([
    'UNAVAILABLE',
    'UNAVAILABLE',
    'UNAVAILABLE',
  ]);
});

test('a test of a JSON patch that fails tells that the object is another', () => {
  const refused = answered(422, 'the server rejected our request due to an error in our request', {
    reason: 'Invalid',
  });
  expect(writeErrorOf(refused, { ...real, holdsTests: true }).code).toBe('STALE_OBJECT');
  expect(writeErrorOf(refused, real).code).toBe('INVALID_FIELD');
  const webhook = answered(422, 'admission webhook "a" denied the request: no', { reason: 'Invalid' });
  expect(writeErrorOf(webhook, { ...real, holdsTests: true }).code).not.toBe('STALE_OBJECT');
});

test('who denied a request', () => {
  const denied = (message: string) => writeErrorOf(answered(403, message, { reason: 'Forbidden' }), real);
  const words = {
    'pods "a" is forbidden: User "jane" cannot patch resource "pods" in API group "" in the namespace "a"': 'RBAC',
    'roles.rbac.authorization.k8s.io "a" is forbidden: user "jane" (groups=["devs"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["get"]}':
      'RBAC',
    // Kubernetes 1.20 gives no reason where an apply would create the object.
    'pods "a" is forbidden: ': 'RBAC',
    'pods "a" is forbidden: RBAC: role.rbac.authorization.k8s.io "b" not found': 'RBAC',
    'pods "a" is forbidden: no reason that is known': 'ADMISSION',
    'pods "a" is forbidden: exceeded quota: small, requested: pods=1, used: pods=5, limited: pods=5': 'QUOTA',
    'pods "a" is forbidden: violates PodSecurity "restricted:latest": privileged': 'POLICY',
    'admission webhook "no.example.com" denied the request: no': 'ADMISSION',
  };
  for (const [message, by] of Object.entries(words)) expect(denied(message)).toMatchObject({ code: 'DENIED', by });
});

test('words that quote a redacted value are withheld, a part of it too, and where too much would have to be looked for', () => {
  const error = writeErrorOf(
    answered(422, 'data[pin]: Invalid value: "hunter2-and-more": no', { reason: 'Invalid' }),
    real,
  );
  const told = (values: readonly unknown[]) => JSON.stringify(withoutValues(error, untoldTexts(values)));
  expect(told(['hunter2-and-more'])).not.toContain('hunter2');
  expect(told([Buffer.from('hunter2-and-more').toString('base64')])).not.toContain('hunter2');
  expect(told(['hunter2-and-more-and-more'])).not.toContain('hunter2');
  expect(told(['zzzz-yyyy'])).toContain('hunter2');
  expect(told(['x'.repeat(100_000)])).not.toContain('hunter2');
  expect(withoutValues(error, untoldTexts(['hunter2-and-more']))).toMatchObject({ code: 'INVALID_FIELD', path: null });
});
