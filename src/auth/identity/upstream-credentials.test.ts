import { expect, test } from 'vitest';
import { callerOf } from '../../../test/kit/user.ts';
import { BearerToken } from '../../kube/credentials/bearer-token.ts';
import type { Presented } from './authenticator.ts';
import { type UpstreamIdentities, upstreamCredentials } from './upstream-credentials.ts';

const jane = callerOf('jane', ['devs', 'system:authenticated']);
const named: Presented = { type: 'named', caller: jane };
const token: Presented = { type: 'token', token: 'abc' };
const impersonation = { type: 'impersonation', user: { name: 'jane', groups: ['devs'], extra: {} } };

const identities = (more: Partial<UpstreamIdentities> = {}): UpstreamIdentities => ({
  home: 'east',
  known: new Set(['east', 'west']),
  impersonate: 'constrained',
  isForApiServer: async () => true,
  callerOf: async () => jane,
  minorOf: async () => 37,
  ...more,
});

test('a token of the API server goes to the home cluster, and to no other', async () => {
  const own = { type: 'token', cluster: 'east', token: expect.any(BearerToken) };
  expect(await upstreamCredentials(token, 'east', identities({ impersonate: 'off' }))).toEqual(own);
  expect(await upstreamCredentials(token, 'east', identities())).toEqual(own);
  expect(await upstreamCredentials(token, 'west', identities())).toEqual(impersonation);
});

test('the caller of a token of another audience is impersonated', async () => {
  const other = identities({ isForApiServer: async () => false });
  expect(await upstreamCredentials(token, 'east', other)).toEqual(impersonation);
});

test('a caller whom a proxy or a certificate names is impersonated', async () => {
  for (const cluster of ['east', 'west']) {
    expect(await upstreamCredentials(named, cluster, identities())).toEqual(impersonation);
  }
});

test.each([
  ['a named caller', named, 'east', true, /no credential/],
  ['a token for another cluster', token, 'west', true, /is for the cluster east/],
  ['a token of another audience', token, 'east', false, /audience/],
] as const)('without --impersonate, %s is refused', async (_what, presented, cluster, isForApiServer, why) => {
  const off = identities({ impersonate: 'off', isForApiServer: async () => isForApiServer });
  const refused = upstreamCredentials(presented, cluster, off);
  await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(refused).rejects.toThrow(why);
});

test('nobody is impersonated in a cluster that may have other users', async () => {
  const alone = identities({ known: new Set(['east']) });
  for (const presented of [named, token]) {
    const refused = upstreamCredentials(presented, 'west', alone);
    await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(refused).rejects.toThrow(/--same-users/);
  }
});

test('nothing is sent while it is not known who reads the token, or which version the server has', async () => {
  const fails = (): Promise<never> => Promise.reject(new Error('no answer'));
  await expect(upstreamCredentials(token, 'east', identities({ isForApiServer: fails }))).rejects.toThrow('no answer');
  await expect(upstreamCredentials(named, 'east', identities({ minorOf: fails }))).rejects.toThrow('no answer');
});
