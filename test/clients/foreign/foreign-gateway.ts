/** A gateway over a small hand-made schema, for clients that Portolan's authors did not write. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Authenticate, localUser } from '../../../src/access/caller.ts';
import { bearerToken } from '../../../src/auth/identity/bearer.ts';
import { PortolanError } from '../../../src/base/errors.ts';
import { type RunningServer, startServer } from '../../../src/server/http-server.ts';
import { handMadeSource } from '../../kit/hand-made-source.ts';
import { recordedLogger } from '../../kit/recorded-logger.ts';

export const query = '{ greeting }';
export const answer = { greeting: 'hello' };
export const subscription = 'subscription { ticks }';

export interface ForeignGateway {
  readonly url: string;
  readonly port: number;
  /** What the gateway has logged above the level debug, during the test. */
  told(): readonly unknown[];
}

/** Knows one token. */
export const byToken: Authenticate = (credentials) => {
  const token = bearerToken(credentials);
  if (token === 'right') return { ...localUser, name: 'alice' };
  throw new PortolanError('UNAUTHENTICATED', token === null ? 'Send a bearer token.' : 'The bearer token is wrong.');
};

/** Starts it before the tests of a file, and closes it after them. */
export function foreignGateway(authenticate?: Authenticate): ForeignGateway {
  const { logger, entries } = recordedLogger();
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer({
      host: '127.0.0.1',
      port: 0,
      source: handMadeSource().source,
      readiness: () => ({ ready: true }),
      tabs: [],
      log: logger,
      ...(authenticate === undefined ? {} : { authenticate }),
    });
  });
  beforeEach(() => void entries.splice(0));
  afterAll(() => server?.close());
  return {
    get url() {
      return server.url;
    },
    get port() {
      return server.port;
    },
    told: () => entries.filter(({ level }) => level !== 'debug'),
  };
}
