/**
 * The bearer token of a caller. In logs, JSON and error messages it prints as `[bearer token]`; only `reveal` returns the secret.
 */
import { inspect } from 'node:util';
import { PortolanError } from '../../base/errors.ts';

const printed = '[bearer token]';

export class BearerToken {
  readonly #secret: string;

  /** Throws UNAUTHENTICATED for text that is not a valid token. The message omits the text. */
  constructor(secret: string) {
    // A space or a control character would alter the header. An empty token would make the request anonymous.
    if (!/^[\x21-\x7e]+$/.test(secret)) {
      throw new PortolanError(
        'UNAUTHENTICATED',
        'The bearer token is empty or has a character that no token has: send it as Authorization: Bearer TOKEN.',
      );
    }
    this.#secret = secret;
  }

  /** The secret, for the Authorization header of this caller's own requests. */
  reveal(): string {
    return this.#secret;
  }

  toString(): string {
    return printed;
  }

  toJSON(): string {
    return printed;
  }

  [inspect.custom](): string {
    return printed;
  }
}
