import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { userOf } from '../../../test/kit/user.ts';
import { type Caller, type Extra, isSameUser } from '../../access/caller.ts';
import { silentLogger } from '../../base/log.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { TokenReviews } from './token-reviews.ts';

interface Status {
  readonly authenticated?: boolean;
  readonly audiences?: readonly string[];
  readonly user?: {
    readonly username: string;
    readonly groups?: readonly string[];
    readonly uid?: string;
    readonly extra?: Extra;
  };
}

/** An API server that knows these tokens. */
function world(tokens: Record<string, Status>, audiences: readonly string[] = []) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const bodies: unknown[] = [];
  const state: { fails: unknown } = { fails: null };
  const client = {
    async post<T>(_path: string, body: unknown): Promise<T> {
      const { token } = (body as { spec: { token: string } }).spec;
      asked.push(token);
      bodies.push(body);
      await Promise.resolve();
      if (state.fails !== null) throw state.fails;
      return { status: tokens[token] ?? { authenticated: false, user: {} } } as T;
    },
  };
  const reviews = new TokenReviews({ client, audiences, clock, log: silentLogger });
  const callerOf = async (token: string): Promise<Caller> => reviews.callerOf(token);
  return { clock, asked, bodies, state, tokens, reviews, callerOf };
}

const alice = { authenticated: true, user: { username: 'alice', groups: ['devs'] } };

test('a valid token is reviewed once, and then known at once', async () => {
  const { reviews, callerOf, asked } = world({ good: alice });
  const [first, second] = await Promise.all([callerOf('good'), callerOf('good')]);
  expect(first).toBe(second);
  expect(first.user).toEqual(userOf('alice', ['devs']));
  expect(reviews.callerOf('good')).toBe(first);
  expect(asked).toEqual(['good']);
});

test('the uid and the extra of a token are those of its caller; a renewed review with others gives another caller', async () => {
  const scoped = (scope: string) => ({
    authenticated: true,
    user: { username: 'alice', groups: ['devs'], uid: '42', extra: { 'example.com/scopes': [scope] } },
  });
  const { clock, callerOf, tokens } = world({ wide: scoped('write'), narrow: scoped('read') });
  const [wide, narrow] = [await callerOf('wide'), await callerOf('narrow')];
  expect(narrow.user).toEqual(userOf('alice', ['devs'], { uid: '42', extra: { 'example.com/scopes': ['read'] } }));
  expect(isSameUser(wide, narrow)).toBe(false);
  tokens['wide'] = scoped('read');
  clock.advance(60_001);
  const renewed = await callerOf('wide');
  expect(renewed).not.toBe(wide);
  expect(isSameUser(renewed, narrow)).toBe(true);
});

test.each([
  ['groups', { groups: 'system:masters' }],
  ['a uid', { uid: 7 }],
  ['extra', { extra: ['a'] }],
  ['values of extra', { extra: { 'example.com/scopes': 'read' } }],
])('a review with %s of another form authenticates nobody', async (_, more) => {
  const { callerOf } = world({
    odd: { authenticated: true, user: { username: 'alice', ...more } } as unknown as Status,
  });
  await expect(callerOf('odd')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
});

test.each([
  ['a token that the server rejects', { authenticated: false, user: { username: 'alice' } }],
  ['a token without a user name', { authenticated: true, user: { username: '' } }],
  ['an answer without a status', {}],
])('%s is refused, and asked again after ten seconds', async (_, status) => {
  const { clock, callerOf, asked } = world({ bad: status });
  const refused = expect.objectContaining({ code: 'UNAUTHENTICATED' });
  await expect(callerOf('bad')).rejects.toEqual(refused);
  await expect(callerOf('bad')).rejects.toEqual(refused);
  expect(asked).toHaveLength(1);
  clock.advance(10_001);
  await expect(callerOf('bad')).rejects.toEqual(refused);
  expect(asked).toHaveLength(2);
});

test.each([
  ['one of the audiences', { ...alice, audiences: ['portolan'] }, true],
  ['another audience', { ...alice, audiences: ['https://kubernetes.default.svc'] }, false],
  ['an unknown audience', alice, false],
])('with audiences, a token for %s', async (_, status, isValid) => {
  const { callerOf, bodies } = world({ token: status }, ['portolan']);
  const answer = callerOf('token');
  if (isValid) expect((await answer).name).toBe('alice');
  else await expect(answer).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(bodies).toMatchObject([{ spec: { audiences: ['portolan'] } }]);
});

test('a token is reviewed again before its minute is over, and keeps its caller', async () => {
  const { clock, reviews, callerOf, asked } = world({ good: alice });
  const caller = await callerOf('good');
  const { validUntil } = caller;
  clock.advance(45_000);
  expect(reviews.callerOf('good')).toBe(caller);
  await new Promise(setImmediate);
  expect(asked).toHaveLength(2);
  expect(caller.validUntil).toBeGreaterThan(validUntil ?? 0);
});

test('a token that is revoked ends with its next review', async () => {
  const { clock, callerOf, tokens, reviews } = world({ good: alice });
  const caller = await callerOf('good');
  tokens['good'] = { authenticated: false };
  clock.advance(45_000);
  expect(reviews.callerOf('good')).toBe(caller);
  await new Promise(setImmediate);
  expect(caller.validUntil).toBe(0);
  await expect(callerOf('good')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('a token is not known for longer than it says itself', async () => {
  const clock = new ManualClock();
  const payload = Buffer.from(JSON.stringify({ exp: Math.floor(clock.now() / 1000) + 5 })).toString('base64url');
  const token = `e30.${payload}.signature`;
  const { callerOf, asked, clock: time } = world({ [token]: alice });
  const { validUntil } = await callerOf(token);
  expect(validUntil).toBeLessThanOrEqual(time.now() + 5000);
  time.advance(5001);
  await callerOf(token);
  expect(asked).toHaveLength(2);
});

test.each([
  [403, /create on tokenreviews/],
  [500, /does not answer/],
])('without a review (%i), nobody is authenticated', async (httpStatus, message) => {
  const { state, callerOf, clock } = world({ good: alice });
  await callerOf('good');
  state.fails = new ApiError({ code: 'FORBIDDEN', message: 'no', httpStatus });
  clock.advance(60_001);
  await expect(callerOf('good')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  await expect(callerOf('good')).rejects.toThrow(message);
});

test('a thousand tokens wait for their reviews, more are told to come back', async () => {
  const { callerOf, asked } = world({ good: alice });
  const all = Array.from({ length: 1100 }, (_, index) => callerOf(`token-${index}`).catch((error) => error.code));
  const codes = await Promise.all(all);
  expect(codes.filter((code) => code === 'TOO_MANY_REQUESTS')).toHaveLength(80);
  expect(asked).toHaveLength(1020);
});
