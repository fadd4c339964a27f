/** Explains a failed connection in one sentence for the person who set it up. */
import { messageOf, PortolanError } from '../../base/errors.ts';
import { ApiError, systemCodeOf } from '../http/api-error.ts';
import type { Connection } from './connection.ts';

/** The subject of an explanation. */
type Where = Pick<Connection, 'server' | 'context' | 'source' | 'proxy' | 'hasCredentials' | 'isPrivate'>;

/**
 * The error to show instead of `error`, which ended a request on `connection`. A PortolanError about the configuration or a
 * credential is returned unchanged, because it already contains instructions.
 */
export function explainConnectionFailure(error: unknown, connection: Where): PortolanError {
  if (error instanceof PortolanError && !(error instanceof ApiError)) return error;
  if (error instanceof ApiError && error.httpStatus !== 0) return explainAnswer(error, connection);
  const { server } = connection;
  const code = systemCodeOf(error);
  const advice = adviceFor(code, connection);
  const why = code === '' ? messageOf(error) : code;
  return new PortolanError('UPSTREAM_UNAVAILABLE', `${advice.finding} (${server}, ${why}): ${advice.remedy}.`, {
    cause: error,
  });
}

function explainAnswer(error: ApiError, where: Where): PortolanError {
  const { server, context, source, hasCredentials } = where;
  switch (error.code) {
    case 'UNAUTHENTICATED':
      if (!hasCredentials) return withoutCredentials(error, where, 'refuses requests without credentials (401)');
      return new PortolanError(
        'UNAUTHENTICATED',
        `The API server at ${server} refused the credentials of context ${context} (401): log in again, or correct the user in ${source}.`,
        { cause: error, details: error.details },
      );
    case 'FORBIDDEN':
      // A role for this user would be one for everybody.
      if (error.message.includes('"system:anonymous"')) {
        return withoutCredentials(
          error,
          where,
          `takes the request for one of nobody (403; ${withoutDot(error.message)})`,
        );
      }
      return new PortolanError(
        'FORBIDDEN',
        `The API server at ${server} authenticates the user of context ${context} but forbids the request (403; ${withoutDot(error.message)}): grant it the Portolan role with a ClusterRoleBinding.`,
        { cause: error, details: error.details },
      );
    default:
      return new PortolanError(error.code, `At ${server}, ${error.message}`, { cause: error, details: error.details });
  }
}

function withoutCredentials(error: ApiError, where: Where, what: string): PortolanError {
  return new PortolanError(error.code, `The API server at ${where.server} ${what}, and ${missing(where)}.`, {
    cause: error,
    details: error.details,
  });
}

/** Why a server has no credentials of the user, and what to do. */
function missing({ context, source, hasCredentials, isPrivate }: Where): string {
  if (hasCredentials) {
    return `the credentials of context ${context} in ${source} did not reach it: check the proxy between, or give the user a token instead of a client certificate`;
  }
  return isPrivate
    ? `context ${context} has no credentials: give its user in ${source} a token, a client certificate or an exec plugin`
    : `a server of plain HTTP on another machine gets no credentials: write its address with https in ${source}`;
}

/** Error codes of a connection that cannot be established. With a proxy, it is the connection to the proxy. */
const unreachable = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH']);

function adviceFor(code: string, where: Where): { finding: string; remedy: string } {
  const { context, source, proxy } = where;
  if (proxy !== undefined && unreachable.has(code)) {
    return {
      finding: `The proxy ${proxy} before the API server cannot be reached`,
      remedy: `start it, correct proxy-url in ${source} or HTTPS_PROXY, or exempt the server with NO_PROXY`,
    };
  }
  switch (code) {
    case 'ECONNREFUSED':
      return {
        finding: 'Nothing listens at the address of the API server',
        remedy: `start the cluster, or correct the server of context ${context} in ${source}`,
      };
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        finding: "The API server's host name cannot be resolved here",
        remedy: `correct the server of context ${context} in ${source}, or join the network or VPN that resolves the name`,
      };
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return {
        finding: 'The API server did not answer in time or its network is out of reach',
        remedy: 'check the VPN, the firewall and the proxy between here and there',
      };
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_SIGNATURE_FAILURE':
      return {
        finding: "The API server's certificate is not signed by an authority that is trusted here",
        remedy: `put the cluster's CA into certificate-authority-data of the cluster in ${source}`,
      };
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        finding: "The API server's certificate is for another host name",
        remedy: `use a server address that the certificate names, or set tls-server-name of the cluster in ${source}`,
      };
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return {
        finding: "The API server's certificate is not valid at this time",
        remedy: "renew the server's certificate, or set the clock of this machine",
      };
    // undici reports a refused proxy tunnel as an aborted request. Portolan's own aborts are handled elsewhere.
    case 'UND_ERR_ABORTED':
    case 'UND_ERR_PRX_TLS':
    case 'UND_ERR_PRX_CONN':
      return {
        finding: 'The proxy before the API server did not open a tunnel',
        remedy: `check proxy-url in ${source} and HTTPS_PROXY, or exempt the server with NO_PROXY`,
      };
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return {
        finding: 'The server at the address does not speak TLS',
        remedy: `correct the server of context ${context} in ${source}, perhaps http: instead of https:, or another port`,
      };
    default:
      if (code.startsWith('ERR_SSL_')) {
        return {
          finding: 'The API server broke off the TLS handshake',
          remedy: `check the client certificate of context ${context} in ${source}`,
        };
      }
      return {
        finding: 'The connection to the API server broke off',
        remedy: `check that an API server runs there, and that the server and the client certificate of context ${context} in ${source} are right`,
      };
  }
}

function withoutDot(message: string): string {
  return message.replace(/[.\s]+$/, '');
}
