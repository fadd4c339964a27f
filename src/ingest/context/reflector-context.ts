/** The dependencies of a reflector. Everything is injected, so a test can drive it. */

import { type BackoffBounds, defaultBackoff } from '../../base/backoff.ts';
import type { Clock, Random } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Resource } from '../../catalog/resources/resource.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import type { IncomingObject } from '../../store/types/incoming-object.ts';
import type { ResourceHandle } from '../../store/types/progress.ts';
import type { Writer } from '../../store/types/writer.ts';
import type { Failure } from '../flow/failure.ts';
import type { RequestBudget, RequestRate } from '../flow/request-budget.ts';
import type { RetryPace } from '../flow/retry-pace.ts';
import type { Slot, Slots } from '../flow/slots.ts';
import type { ParseThread } from '../parse/parse-thread.ts';
import type { StreamingLists } from './streaming-lists.ts';

/** The part of a RestClient that a reflector uses. */
export type StreamingClient = Pick<RestClient, 'stream'>;

export interface ReflectorSettings {
  /** Objects per page of a list. */
  readonly pageSize: number;
  /** timeoutSeconds of a watch: a random number from `least` to `most`. */
  readonly watchSeconds: { readonly least: number; readonly most: number };
  /** Milliseconds after timeoutSeconds at which Portolan ends the watch. */
  readonly watchGraceMs: number;
  /** Milliseconds before the end of a watch at which the next one is opened. */
  readonly rolloverMs: number;
  /** Milliseconds of silence after which a watch with regular bookmarks counts as dead. */
  readonly idleMs: number;
  /**
   * Milliseconds of silence after which the rows of a watch with bookmarks count as possibly outdated. Servers send a bookmark
   * each minute, rarely after two.
   */
  readonly quietMs: number;
  /** Milliseconds of silence in a list. */
  readonly listSilenceMs: number;
  /** True: collections are requested as the beginning of a watch, if the server supports it. */
  readonly streamingLists: boolean;
  /** Maximum milliseconds of a streaming list without another object or its end mark. */
  readonly streamSilenceMs: number;
  readonly backoff: BackoffBounds;
  /** Budget of lists and watches that begin in a cluster, over all its resources. */
  readonly requests: RequestRate;
  /** Delays between two probes of a forbidden or missing collection. */
  readonly parked: BackoffBounds;
  /** Milliseconds between two lists of a collection without watch; each delay is up to a fifth shorter or longer. */
  readonly pollMs: number;
  /** Milliseconds in which each table is compared once with the server; 0: never. */
  readonly auditMs: number;
  /** Watches that fail with 5xx in a row before the collection is listed anew. */
  readonly serverErrorsBeforeList: number;
  /** Maximum events of a batch. */
  readonly batchEvents: number;
  readonly maxLineBytes: number;
  readonly maxItemBytes: number;
}

export const defaultReflectorSettings: ReflectorSettings = {
  pageSize: 500,
  watchSeconds: { least: 300, most: 600 },
  watchGraceMs: 30_000,
  rolloverMs: 5000,
  idleMs: 210_000,
  quietMs: 150_000,
  listSilenceMs: 60_000,
  streamingLists: true,
  streamSilenceMs: 30_000,
  backoff: defaultBackoff,
  requests: { burst: 100, perSecond: 100 },
  parked: { firstMs: 5000, capMs: 300_000, resetMs: 600_000 },
  pollMs: 60_000,
  auditMs: 0,
  serverErrorsBeforeList: 5,
  batchEvents: 500,
  maxLineBytes: 16 * 1024 * 1024,
  maxItemBytes: 64 * 1024 * 1024,
};

/** Collects the failures of the collections of a cluster for the log. */
interface Interruptions {
  failed(name: string, failure: Failure): void;
  continues(name: string): void;
}

/** An object that was stored; `deleted` if its event was a deletion. */
export interface SeenObject {
  readonly object: IncomingObject;
  readonly deleted: boolean;
}

export interface ReflectorContext {
  readonly resource: Resource;
  readonly handle: ResourceHandle;
  readonly client: StreamingClient;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: ReflectorSettings;
  /** Bounds the concurrent lists in this cluster. */
  readonly lists: Slots;
  /** Bounds the watches that open at the same time in this cluster. */
  readonly openings: Slots;
  /** Bounds the rate of lists and watches that begin in this cluster. */
  readonly budget: RequestBudget;
  /** The pace of retries in this cluster. */
  readonly pace: RetryPace;
  /** The slot of the list that is under way. */
  readonly slot?: Slot;
  /** Whether this cluster supports streaming lists. */
  readonly streaming: StreamingLists;
  /** Parses the pages of large lists in another thread; if absent, this thread parses them. */
  readonly parser?: ParseThread | undefined;
  /** Whether a watch of this cluster has had a bookmark. */
  readonly bookmarks: { seen: boolean };
  /** Where failures of this cluster's collections are logged. */
  readonly interruptions: Interruptions;
  /** False: list first, even if the store has a version. */
  readonly resume: boolean;
  /** Called for every stored object, in order; for listed ones when their page is staged. Must not throw. */
  readonly seen?: (objects: readonly SeenObject[]) => void;
  /** Called when phase, error or readiness changed. */
  readonly changed?: () => void;
  /** Called when the API server reports that the collection does not exist. */
  readonly missing?: () => void;
}
