/**
 * Access control of a gateway: who the callers are, and what they may see.
 *
 * Owns: the connection to the API server that reviews tokens, as the gateway. Never: sends a caller's token to another cluster, or as a
 * credential of its own.
 */
import type { Authenticate } from '../access/caller.ts';
import type { Rights } from '../access/rights.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { type ClusterOptions, connect } from '../kube/client/connection.ts';
import { RestClient } from '../kube/client/rest-client.ts';
import type { CommittedChanges } from '../store/types/change.ts';
import type { Reader } from '../store/types/lease.ts';
import { createAuthenticate } from './identity/authenticator.ts';
import { TokenReviews } from './identity/token-reviews.ts';
import { StoredRights } from './rights/stored-rights.ts';

/** A kind of credentials that callers may send. */
export type CredentialKind = 'token' | 'proxy' | 'certificate';

export interface AccessControlOptions {
  readonly accepts: readonly CredentialKind[];
  /** The cluster that knows the callers: it reviews their tokens. */
  readonly home: ClusterOptions;
  /** The clusters whose users are the callers: the home, and others with the same users. */
  readonly clusters: readonly string[];
  /** The number of clusters of the gateway. */
  readonly served: number;
  /** The audiences of which a token must have one; empty for those of the API server. */
  readonly audiences: readonly string[];
  /** The common names of proxies' certificates; empty for any. */
  readonly proxyNames: readonly string[];
  readonly reader: Reader;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after the rights of some caller may have changed. */
  readonly changed: () => void;
}

export interface AccessControl {
  readonly authenticate: Authenticate;
  readonly rights: Rights;
  /** Notes a commit. Call it before the subscribers learn of the commit. */
  wake(committed?: CommittedChanges): void;
  close(): Promise<void>;
}

/** @throws PortolanError CONFIGURATION for a missing or broken kubeconfig of the home cluster. */
export async function openAccessControl(options: AccessControlOptions): Promise<AccessControl> {
  const { accepts, audiences, proxyNames, clock, log } = options;
  const connection = accepts.includes('token') ? await connect(options.home) : null;
  const tokens =
    connection === null ? null : new TokenReviews({ client: new RestClient(connection), audiences, clock, log });
  const rights = new StoredRights(options);
  return {
    authenticate: createAuthenticate({
      tokens: tokens === null ? null : (token) => tokens.callerOf(token),
      proxies: accepts.includes('proxy') ? proxyNames : null,
      certificates: accepts.includes('certificate'),
    }),
    rights,
    wake: (committed) => rights.wake(committed),
    async close() {
      rights.close();
      await connection?.close();
    },
  };
}
