/**
 * The token of one start of a gateway without authentication. The address that `portolan serve` prints carries it. Its bearer may write
 * as the user of the kubeconfig. So another process or user of the machine, who can reach the port too, writes nothing.
 *
 *   portolan serve --read-only=false -> http://127.0.0.1:4000/graphql#token=… -> Authorization: Bearer …
 *
 * Never: needed for reads, logged, or kept in a file.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Credentials } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';
import { bearerToken } from './bearer.ts';

export class StartToken {
  readonly text: string;

  /** @param text at least 128 random bits, in characters of URLs */
  constructor(text: string) {
    this.text = text;
  }

  /** @throws PortolanError FORBIDDEN for credentials without the token. The time does not depend on what they have. */
  require(credentials: Credentials): void {
    if (timingSafeEqual(digest(tokenIn(credentials)), digest(this.text))) return;
    throw new PortolanError(
      'FORBIDDEN',
      'This gateway writes only with the token of its start: open the address that portolan serve prints, or send its token as a bearer token.',
    );
  }
}

/** Empty for credentials without a bearer token. */
function tokenIn(credentials: Credentials): string {
  try {
    return bearerToken(credentials) ?? '';
  } catch {
    return '';
  }
}

/** Texts of one length, as the comparison needs them. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
