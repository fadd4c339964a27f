/** Finds the bearer token among a request's credentials. */
import type { Credentials } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';

/** Longer text is no token: a token of a service account has about 1,200 characters. */
const mostCharacters = 16_384;

/**
 * The token of the Authorization header, or of the member `authorization` of `connection_init`, in any case. A WebSocket of a browser
 * cannot send headers. Null without one.
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

function paramOf(params: Readonly<Record<string, unknown>>): unknown {
  const name = Object.keys(params).find((each) => each.toLowerCase() === 'authorization');
  return name === undefined ? undefined : params[name];
}
