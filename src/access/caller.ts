/**
 * Who is calling. There is no authentication yet: the gateway binds to loopback only, and everybody who reaches it is the local user.
 */
export interface Caller {
  readonly name: string;
}

/** The one caller there is while the gateway is bound to loopback. */
export const localUser: Caller = Object.freeze({ name: 'local' });
