/** Finds the bearer token among a request's credentials. */
import type { Credentials } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';

/** Longer text is no token: a token of a service account has about 1,200 characters. */
const mostCharacters = 16_384;

/**
 * The token of the Authorization header, or of `connection_init`, since a WebSocket of a browser cannot send headers. Null without one.
 * @throws PortolanError UNAUTHENTICATED for credentials of another form. The message omits them.
 */
export function bearerToken({ header, connectionParams }: Credentials): string | null {
  const given = connectionParams === undefined ? undefined : paramOf(connectionParams);
  const value = given ?? header('authorization');
  if (value === undefined) return null;
  const [, token] = typeof value === 'string' ? (/^bearer +([\x21-\x7e]+) *$/i.exec(value) ?? []) : [];
  if (token !== undefined && token.length <= mostCharacters) return token;
  throw new PortolanError(
    'UNAUTHENTICATED',
    'The credentials are no bearer token: send "Authorization: Bearer TOKEN", or { authorization: "Bearer TOKEN" } as connectionParams of a WebSocket.',
  );
}

/**
 * The value of the Authorization header in the payload of `connection_init`. Clients have three habits: a member
 * `authorization`, that member in `headers`, and a member `authToken` with the token alone. The case of the names does not matter.
 */
function paramOf(params: Readonly<Record<string, unknown>>): unknown {
  const given = memberOf(params, 'authorization') ?? memberOf(memberOf(params, 'headers'), 'authorization');
  if (given !== undefined) return given;
  const token = memberOf(params, 'authtoken');
  return typeof token === 'string' && !/^bearer /i.test(token) ? `Bearer ${token}` : token;
}

/** @param name in lower case */
function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([each]) => each.toLowerCase() === name)?.[1];
}
