/**
 * A bearer token: that of the caller, or that of a gateway's start. It is kept in the session storage, which belongs to one tab and outlives a reload. Never: in the local
 * storage, in the URL, or in what GraphiQL keeps.
 */

export class CallerToken {
  readonly #storage: globalThis.Storage;
  readonly #key: string;

  /** @param storage the session storage. */
  constructor(storage: globalThis.Storage, key = 'portolan token') {
    this.#storage = storage;
    this.#key = key;
  }

  get text(): string | null {
    return this.#storage.getItem(this.#key);
  }

  keep(token: string): void {
    this.#storage.setItem(this.#key, token);
  }

  forget(): void {
    this.#storage.removeItem(this.#key);
  }
}

/** The token in a typed text, which may be the value of an Authorization header. Null if the text can be no token. */
export function typedToken(text: string): string | null {
  const token = text.trim().replace(/^bearer +/i, '');
  return /^[\x21-\x7e]+$/.test(token) ? token : null;
}

/**
 * The subject of a JWT, such as `system:serviceaccount:default:robot`; null for another token. Not verified: the gateway accepts the
 * token before the page shows its subject.
 */
export function subjectOf(token: string): string | null {
  const [, payload = ''] = token.split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (each) =>
      each.charCodeAt(0),
    );
    const { sub } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly sub?: unknown };
    return typeof sub === 'string' && sub !== '' ? sub : null;
  } catch {
    return null;
  }
}
