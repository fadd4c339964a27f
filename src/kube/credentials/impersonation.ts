/**
 * The headers of impersonation: Impersonate-User, -Group, -Uid and -Extra.
 *
 * The server must read exactly the given names. A text is sent as UTF-8 bytes, as kubectl sends it. A value with leading or
 * trailing spaces is rejected, because HTTP removes them: `admin ` would become `admin`.
 *
 * Example: { name: 'jane', groups: ['dev', 'a, b'], extra: { 'example.com/Scopes': ['x'] } } becomes
 *   impersonate-user: jane
 *   impersonate-group: dev
 *   impersonate-group: a, b
 *   impersonate-extra-example.com%2F%53copes: x
 */
import { PortolanError } from '../../base/errors.ts';

/** The user that a request is sent as, with credentials that have the right to impersonate. */
export interface ImpersonatedUser {
  /** Never empty: without a name, the server would accept the request as the gateway's own. */
  readonly name: string;
  readonly groups: readonly string[];
  /** Ignored by servers before 1.22. */
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export type IdentityHeaders = Readonly<Record<string, string | string[]>>;

/** Throws FORBIDDEN for a user that headers cannot represent exactly. */
export function impersonationHeaders({ name, groups, uid, extra = {} }: ImpersonatedUser): IdentityHeaders {
  const headers: Record<string, string | string[]> = { 'impersonate-user': exact('user name', name) };
  // One header line for each group: a joined line would be one group with a comma in its name.
  if (groups.length > 0) headers['impersonate-group'] = groups.map((group) => exact('group', group));
  if (uid !== undefined) headers['impersonate-uid'] = exact('uid', uid);
  for (const [key, values] of Object.entries(extra)) {
    exact('extra key', key);
    // Without a value there is no header, and the request would have more rights.
    if (values.length === 0) throw inexact('extra', key);
    headers[exactExtraHeader(key)] = values.map((value) => (value === '' ? '' : exact('extra value', value)));
  }
  return headers;
}

/** The header name for a key of the extra fields. Characters that are invalid in header names are percent-encoded. */
export function extraHeader(key: string): string {
  const encoded = encodeURIComponent(key).replace(/[()]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return `impersonate-extra-${encoded}`;
}

/** The server reads a header's name in lower case, so capital letters of the key are encoded too. */
function exactExtraHeader(key: string): string {
  return extraHeader(key).replace(/%..|[A-Z]/g, (found) =>
    found.startsWith('%') ? found : `%${found.charCodeAt(0).toString(16)}`,
  );
}

/** The UTF-8 bytes of the text, each as one character of a header value. */
export function headerBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function exact(what: string, text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected here.
  if (text === '' || text !== text.trim() || /[\x00-\x1f\x7f]/.test(text) || !text.isWellFormed()) {
    throw inexact(what, text);
  }
  return headerBytes(text);
}

function inexact(what: string, text: string): PortolanError {
  return new PortolanError(
    'FORBIDDEN',
    `The ${what} ${JSON.stringify(text)} cannot be impersonated: it must not be empty, begin or end with a space, or have control characters.`,
  );
}
