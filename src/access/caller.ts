/**
 * The caller of a request. HTTP, WebSocket and prepared answers get it from an `Authenticate` and pass it to the operation. An
 * operation cannot begin without a caller. Authentication is not implemented yet: the gateway binds to loopback only, and every
 * caller is the local user.
 */
export interface Caller {
  readonly name: string;
}

/** The credentials that a request carries. */
export interface Credentials {
  /** The value of an HTTP header. For a WebSocket, of the upgrade request. @param name in lower case. */
  header(name: string): string | undefined;
  /** The payload of `connection_init` (graphql-transport-ws); absent over HTTP. */
  readonly connectionParams?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Authenticates a request. An implementation returns synchronously if it can, so that a prepared answer is not delayed.
 * @throws PortolanError for rejected credentials.
 */
export type Authenticate = (credentials: Credentials) => Caller | Promise<Caller>;

/** The only caller while the gateway is bound to loopback. */
export const localUser: Caller = Object.freeze({ name: 'local' });

export const everyoneIsLocal: Authenticate = () => localUser;
