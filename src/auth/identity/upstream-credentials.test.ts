import { expect, test } from 'vitest';
import { callerOf } from '../../../test/kit/user.ts';
import { BearerToken } from '../../kube/credentials/bearer-token.ts';
import type { Presented } from './authenticator.ts';
import { upstreamCredentials } from './upstream-credentials.ts';

const jane = callerOf('jane', ['devs', 'system:authenticated']);
const alone = { home: 'east', known: new Set(['east']) };
const sameUsers = { home: 'east', known: new Set(['east', 'west']) };
const named: Presented = { type: 'named', caller: jane };

test.each(['east', 'west'])('a token is of the home cluster, also for requests to %s', (cluster) => {
  const credentials = upstreamCredentials({ type: 'token', token: 'abc' }, cluster, sameUsers);
  expect(credentials).toEqual({ type: 'token', cluster: 'east', token: expect.any(BearerToken) });
});

test('a caller whom a proxy or a certificate names is impersonated, without the group that every user has', () => {
  const impersonation = { type: 'impersonation', user: { name: 'jane', groups: ['devs'], extra: {} } };
  expect(upstreamCredentials(named, 'east', alone)).toEqual(impersonation);
  expect(upstreamCredentials(named, 'west', sameUsers)).toEqual(impersonation);
});

test('a caller is impersonated with uid and extra', () => {
  const extra = { 'example.com/scopes': ['read'] };
  const caller = callerOf('jane', [], { uid: '42', extra });
  expect(upstreamCredentials({ type: 'named', caller }, 'east', alone)).toEqual({
    type: 'impersonation',
    user: { name: 'jane', groups: [], uid: '42', extra },
  });
});

test('nobody is impersonated in a cluster that may have other users', () => {
  const forbidden = expect.objectContaining({ code: 'FORBIDDEN', message: expect.stringContaining('--same-users') });
  expect(() => upstreamCredentials(named, 'west', alone)).toThrow(forbidden);
});
