/**
 * The bearer token of a caller. It prints as `[bearer token]` in logs, JSON and error messages; only `reveal` gives the secret.
 */
import { inspect } from 'node:util';
import { PortolanError } from '../../base/errors.ts';

const printed = '[bearer token]';

export class BearerToken {
  readonly #secret: string;

  /** Throws UNAUTHENTICATED for a text that cannot be sent as a token. The message does not have the text. */
  constructor(secret: string) {
    // A space or a control character would change what the server reads; an empty token would make the request anonymous.
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
