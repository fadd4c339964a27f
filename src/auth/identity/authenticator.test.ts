import { expect, test } from 'vitest';
import { userOf } from '../../../test/kit/user.ts';
import type { Caller, ClientCertificate, Credentials } from '../../access/caller.ts';
import { must } from '../../base/must.ts';
import { type AuthenticatorOptions, createAuthenticate } from './authenticator.ts';

const everything: AuthenticatorOptions = {
  tokens: (token): Caller => ({ name: token, user: userOf(`owner of ${token}`), validUntil: 0 }),
  proxies: ['front'],
  certificates: true,
};
const unnamed = { uid: '', fingerprint: 'ab01' };
const proxy: ClientCertificate = {
  commonName: 'front',
  organizations: [],
  ...unnamed,
  authority: 'proxy',
  validUntil: 9,
};
const user: ClientCertificate = {
  commonName: 'jane',
  organizations: ['devs'],
  ...unnamed,
  authority: 'users',
  validUntil: 9,
};

interface Given {
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly certificate?: ClientCertificate;
}

function credentials({ headers = {}, params, certificate }: Given): Credentials {
  return {
    header: (name) => headers[name]?.join(', '),
    headers: (name) => headers[name] ?? [],
    headerNames: (prefix) => Object.keys(headers).filter((name) => name.startsWith(prefix)),
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
  expect(caller.user).toMatchObject({ user: name, groups });
});

test('a proxy names the uid and the extra of its caller', async () => {
  const headers = {
    ...remote,
    'x-remote-uid': ['42'],
    'x-remote-extra-example.com%2fscopes': ['read', 'Über'].map((text) => Buffer.from(text).toString('latin1')),
    'x-remote-extra-example.com/scopes': ['write'],
    'x-remote-extra-__proto__': [''],
    'x-remote-extra-100%': ['odd'],
  };
  const caller = await createAuthenticate(everything)(credentials({ headers, certificate: proxy }));
  const { uid, extra } = must(caller.user, 'a user');
  expect(uid).toBe('42');
  expect(Object.entries(extra)).toEqual([
    ['example.com/scopes', ['read', 'Über', 'write']],
    ['__proto__', ['']],
    ['100%', ['odd']],
  ]);
});

test('a certificate names the uid of its caller and itself', async () => {
  const caller = await createAuthenticate(everything)(credentials({ certificate: { ...user, uid: '7' } }));
  const extra = { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab01'] };
  expect(caller.user).toEqual(userOf('jane', ['devs', 'system:authenticated'], { uid: '7', extra }));
});

test.each<[string, Given, Partial<AuthenticatorOptions>]>([
  ['nothing', {}, {}],
  ['a uid without a proxy', { headers: { ...authorization('Bearer abc').headers, 'x-remote-uid': ['1'] } }, {}],
  ['extra without a proxy', { headers: { 'x-remote-extra-scopes': ['a'] }, certificate: user }, {}],
  ['a proxy with two uids', { headers: { ...remote, 'x-remote-uid': ['1', '2'] }, certificate: proxy }, {}],
  ['a proxy with extra without a key', { headers: { ...remote, 'x-remote-extra-': ['a'] }, certificate: proxy }, {}],
  [
    'a proxy with extra that is no text',
    { headers: { ...remote, 'x-remote-extra-scopes': ['a\xff'] }, certificate: proxy },
    {},
  ],
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
