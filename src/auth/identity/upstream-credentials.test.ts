import { expect, test } from 'vitest';
import type { Caller } from '../../access/caller.ts';
import { BearerToken } from '../../kube/credentials/bearer-token.ts';
import type { Presented } from './authenticator.ts';
import { upstreamCredentials } from './upstream-credentials.ts';

const jane: Caller = {
  name: 'jane',
  user: { user: 'jane', groups: ['devs', 'system:authenticated'] },
  validUntil: null,
};
const alone = { home: 'east', known: new Set(['east']) };
const sameUsers = { home: 'east', known: new Set(['east', 'west']) };
const named: Presented = { type: 'named', caller: jane };

test.each(['east', 'west'])('a token is of the home cluster, also for requests to %s', (cluster) => {
  const credentials = upstreamCredentials({ type: 'token', token: 'abc' }, cluster, sameUsers);
  expect(credentials).toEqual({ type: 'token', cluster: 'east', token: expect.any(BearerToken) });
});

test('a caller whom a proxy or a certificate names is impersonated, without the group that every user has', () => {
  const impersonation = { type: 'impersonation', user: { name: 'jane', groups: ['devs'] } };
  expect(upstreamCredentials(named, 'east', alone)).toEqual(impersonation);
  expect(upstreamCredentials(named, 'west', sameUsers)).toEqual(impersonation);
});

test('nobody is impersonated in a cluster that may have other users', () => {
  const forbidden = expect.objectContaining({ code: 'FORBIDDEN', message: expect.stringContaining('--same-users') });
  expect(() => upstreamCredentials(named, 'west', alone)).toThrow(forbidden);
});
