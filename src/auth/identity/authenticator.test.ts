import { expect, test } from 'vitest';
import type { Caller, ClientCertificate, Credentials } from '../../access/caller.ts';
import { type AuthenticatorOptions, createAuthenticate } from './authenticator.ts';

const everything: AuthenticatorOptions = {
  tokens: (token): Caller => ({ name: token, user: { user: `owner of ${token}`, groups: [] }, validUntil: 0 }),
  proxies: ['front'],
  certificates: true,
};
const proxy: ClientCertificate = { commonName: 'front', organizations: [], authority: 'proxy', validUntil: 9 };
const user: ClientCertificate = { commonName: 'jane', organizations: ['devs'], authority: 'users', validUntil: 9 };

interface Given {
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly certificate?: ClientCertificate;
}

function credentials({ headers = {}, params, certificate }: Given): Credentials {
  return {
    header: (name) => headers[name]?.join(', '),
    headers: (name) => headers[name] ?? [],
    connectionParams: params,
    certificate,
  };
}

const authorization = (text: string) => ({ headers: { authorization: [text] } });
const remote = { 'x-remote-user': ['jane'], 'x-remote-group': ['devs', 'a, b'] };

test.each<[string, Given, string, readonly string[]]>([
  ['a token', authorization('Bearer abc'), 'owner of abc', []],
  ['a token, in any case', authorization('bEARER  abc '), 'owner of abc', []],
  ['a token of connection_init', { params: { Authorization: 'Bearer abc' } }, 'owner of abc', []],
  [
    'connection_init before headers',
    { ...authorization('Bearer x'), params: { authorization: 'Bearer abc' } },
    'owner of abc',
    [],
  ],
  ['a certificate', { certificate: user }, 'jane', ['devs', 'system:authenticated']],
  ['a token before a certificate', { ...authorization('Bearer abc'), certificate: user }, 'owner of abc', []],
  ['a proxy', { headers: remote, certificate: proxy }, 'jane', ['devs', 'a, b', 'system:authenticated']],
  [
    'a proxy, in UTF-8',
    { headers: { 'x-remote-user': [Buffer.from('jörg').toString('latin1')] }, certificate: proxy },
    'jörg',
    ['system:authenticated'],
  ],
])('%s names the caller', async (_, given, name, groups) => {
  const caller = await createAuthenticate(everything)(credentials(given));
  expect(caller.user).toEqual({ user: name, groups });
});

test.each<[string, Given, Partial<AuthenticatorOptions>]>([
  ['nothing', {}, {}],
  ['an empty token', authorization('Bearer '), {}],
  ['a password', authorization('Basic YWxpY2U6eA=='), {}],
  ['two tokens', { headers: { authorization: ['Bearer a', 'Bearer b'] } }, {}],
  ['a token with a line break', authorization('Bearer a\nb'), {}],
  ['a token of a megabyte', authorization(`Bearer ${'a'.repeat(1_000_000)}`), {}],
  ['a token that is no text', { params: { authorization: { token: 'a' } } }, {}],
  ['a token where tokens are not accepted', authorization('Bearer abc'), { tokens: null }],
  ['a bad token beside a certificate', { ...authorization('Bearer '), certificate: user }, {}],
  [
    'a token beside a certificate, where tokens are not accepted',
    { ...authorization('Bearer abc'), certificate: user },
    { tokens: null },
  ],
  ['a certificate where certificates are not accepted', { certificate: user }, { certificates: false }],
  ['a certificate without a name', { certificate: { ...user, commonName: '' } }, {}],
  ['headers of a proxy without a certificate', { headers: remote }, {}],
  ['headers of a proxy with a token', { headers: { ...remote, authorization: ['Bearer abc'] } }, {}],
  ['headers of a proxy with the certificate of a user', { headers: remote, certificate: user }, {}],
  ['headers of a proxy with another name', { headers: remote, certificate: { ...proxy, commonName: 'other' } }, {}],
  ['headers of a proxy where none is configured', { headers: remote, certificate: proxy }, { proxies: null }],
  ['a group without a user', { headers: { 'x-remote-group': ['system:masters'] } }, {}],
  ['a proxy without a user', { headers: {}, certificate: proxy }, {}],
  ['a proxy with two users', { headers: { 'x-remote-user': ['jane', 'root'] }, certificate: proxy }, {}],
  ['a proxy with a name in Latin-1', { headers: { 'x-remote-user': ['j\u00f6rg'] }, certificate: proxy }, {}],
  ['a proxy with a tab in a name', { headers: { 'x-remote-user': ['jane\troot'] }, certificate: proxy }, {}],
  ['a proxy with an escape in a name', { headers: { 'x-remote-user': ['jane\u00c2\u009b'] }, certificate: proxy }, {}],
  ['a proxy with an empty group', { headers: { ...remote, 'x-remote-group': ['devs', ''] }, certificate: proxy }, {}],
  [
    'a proxy with a line break in a group',
    { headers: { ...remote, 'x-remote-group': ['a\nb'] }, certificate: proxy },
    {},
  ],
  ['a proxy with an empty user', { headers: { 'x-remote-user': [' '] }, certificate: proxy }, {}],
])('%s is refused', async (_, given, options) => {
  const authenticate = async (): Promise<Caller> =>
    createAuthenticate({ ...everything, ...options })(credentials(given));
  await expect(authenticate()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});
