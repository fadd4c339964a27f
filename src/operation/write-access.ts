/**
 * The access that mutations have in a gateway that may write. src/cli composes it; the operations of a read-only gateway have
 * none.
 *
 *   operation.writeClient(cluster) -> client   a client that acts as the caller
 *   charge -> note `intended` -> the request to the API server -> note `outcome`
 *
 * Never: a client that acts as the gateway, or a note with a value of an object.
 */
import type { Caller, Credentials } from '../access/caller.ts';
import { PortolanError } from '../base/errors.ts';
import type { CallerClient } from '../upstream/caller-clients.ts';
import type { WriteGate } from './write-gate.ts';

export interface WriteAccess {
  /**
   * A client of the cluster that acts as the caller of a request with these credentials. Operations have `writeClient` instead.
   * @throws PortolanError FORBIDDEN if they may not be used there or the start token is missing; NOT_FOUND for an unknown cluster.
   */
  client(cluster: string, credentials: Credentials): Promise<CallerClient>;
  /** The key of the ids of plans, 32 bytes or more; the same for all replicas of an installation. */
  readonly planKey: Uint8Array;
  /**
   * Counts requests that write (not dry runs) against what the caller may write in a minute.
   * @throws PortolanError TOO_MANY_REQUESTS, or rejects with it
   */
  charge(caller: Caller, writes: number): void | Promise<void>;
  /** Bounds what the mutations of all callers take together. */
  readonly gate: WriteGate;
  /** The values of --redact, as `resource=path`: for kinds that are not in the catalog. */
  readonly redact: readonly string[];
  /** The names of the kinds that may be members of sets; empty for all that sets allow. */
  readonly setKinds: readonly string[];
  /** The audit of writes; null without an audit log. */
  readonly audit: WriteAudit | null;
  readonly meter: WriteMeter;
  readonly longManifests: LongManifests;
  /** Of Portolan: records of sets name the tool that has written them. */
  readonly version: string;
}

/** Counts the requests of mutations to API servers, by what the labels of a metric may tell. */
export interface WriteMeter {
  /**
   * A request is sent now. The returned function counts it by its outcome: OK, or the code of an item's error.
   * @param cluster a known one
   * @param verb of the mutations
   */
  sends(cluster: string, verb: string, dryRun: boolean): (outcome: string) => void;
}

/** Reads long texts of manifests beside the serve thread. */
export interface LongManifests {
  /**
   * The manifests of each text, each as JSON (src/writes/manifests/read-manifests.ts).
   * @param texts with their places in the request, such as `docs[0]`
   * @param caller who asks, for the order of waiting calls
   * @throws PortolanError BAD_USER_INPUT for a text that cannot be read, QUERY_TOO_COSTLY beyond the time of a thread,
   * TOO_MANY_REQUESTS if too many calls wait; the reason of the signal
   */
  read(
    texts: readonly { readonly place: string; readonly text: string }[],
    caller: string,
    signal?: AbortSignal,
  ): Promise<readonly (readonly string[])[]>;
}

export interface WriteAudit {
  /**
   * Resolves when the line stands in the file.
   * @throws PortolanError AUDIT_UNAVAILABLE: then nothing may be written.
   */
  note(entry: WriteNote): Promise<void>;
}

/** A write before or after its request. */
export interface WriteNote {
  readonly stage: 'intended' | 'outcome';
  readonly caller: Caller;
  /** The operation's name in its document. */
  readonly operation: string | null;
  readonly verb: string;
  readonly dryRun: boolean;
  readonly planId: string | null;
  readonly requestId: string | null;
  readonly cluster: string;
  /** plural.group */
  readonly resource: string;
  readonly namespace: string | null;
  readonly name: string | null;
  readonly subresource: string | null;
  /** Of stage `outcome`: OK, or a code or the reason of the API server's Status; never a value. */
  readonly outcome?: string;
  /** The paths that change, without their values. */
  readonly changedPaths?: readonly string[];
}

/** An operation that wants to write. */
interface Writer {
  readonly isDetached: boolean;
  readonly isLive: boolean;
  readonly isSafe: boolean;
  readonly liveStart: unknown;
}

/** @throws PortolanError FORBIDDEN for a read-only gateway, a request by GET, a live query, and an event of a subscription. */
export function requireWrites(
  writes: WriteAccess | null,
  { isDetached, isLive, isSafe, liveStart }: Writer,
): WriteAccess {
  if (isDetached || isLive || liveStart !== null) {
    throw new PortolanError(
      'FORBIDDEN',
      'Live queries and events write nothing; send a mutation, or subscribe to `writes`.',
    );
  }
  if (isSafe) {
    throw new PortolanError('FORBIDDEN', 'A GET writes nothing; send the operation by POST or over a WebSocket.');
  }
  if (writes !== null) return writes;
  throw new PortolanError('FORBIDDEN', 'This gateway is read-only; start it with --read-only=false.');
}
