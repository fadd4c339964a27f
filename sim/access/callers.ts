/**
 * Authenticates callers by bearer token.
 *
 * Without configured users there is one administrator, who may do everything. With a configured token, only that token
 * authenticates; otherwise every request does. With users, a request without a token is anonymous, as on a real server by
 * default. RBAC then authorizes it.
 */
import { statusErrors } from '../objects/status-error.ts';
import type { Caller } from './rbac.ts';

/** A user of the simulated cluster. */
export interface SimUser extends Caller {
  readonly token: string;
}

const administrator: Caller = { user: 'portolan-demo', groups: ['system:masters'] };
const anonymous: Caller = { user: 'system:anonymous', groups: ['system:unauthenticated'] };

export class Callers {
  readonly #token: string | undefined;
  readonly #users: readonly SimUser[];

  constructor(token: string | undefined, users: readonly SimUser[] = []) {
    this.#token = token;
    this.#users = users;
  }

  /** The caller that an Authorization header names; throws a 401 Status for an unknown token. */
  identify(authorization: string | undefined): Caller {
    const token = authorization?.startsWith('Bearer ') === true ? authorization.slice('Bearer '.length) : undefined;
    if (token === undefined && this.#users.length > 0) return anonymous;
    if (token === undefined && this.#token === undefined) return authenticated(administrator);
    const caller = this.named(token ?? '');
    if (!caller) throw statusErrors.unauthorized();
    return caller;
  }

  /** The caller with this token. */
  named(token: string): Caller | undefined {
    if (token === '') return undefined;
    if (this.#users.length === 0)
      return this.#token === undefined || token === this.#token ? authenticated(administrator) : undefined;
    const found = this.#users.find((user) => user.token === token);
    return found && authenticated(found);
  }
}

function authenticated({ user, groups }: Caller): Caller {
  return { user, groups: [...groups, 'system:authenticated'] };
}
