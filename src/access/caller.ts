/**
 * Who sends a request. Every door (HTTP, WebSocket, prepared answers) asks an `Authenticate` and hands the caller on; an operation
 * without a caller cannot begin. There is no authentication yet: the gateway binds to loopback only, and every caller is the local user.
 */
export interface Caller {
  readonly name: string;
}

/** What a request brings to say who sends it. */
export interface Credentials {
  /** The value of an HTTP header, by its name in lower case; of a WebSocket, that of the upgrade request. */
  header(name: string): string | undefined;
  /** The payload of `connection_init` (graphql-transport-ws); absent over HTTP. */
  readonly connectionParams?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The caller of a request. It answers at once where it can, so that a prepared answer does not have to wait.
 * @throws PortolanError where the credentials are refused.
 */
export type Authenticate = (credentials: Credentials) => Caller | Promise<Caller>;

/** The one caller there is while the gateway is bound to loopback. */
export const localUser: Caller = Object.freeze({ name: 'local' });

export const everyoneIsLocal: Authenticate = () => localUser;
