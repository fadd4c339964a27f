/** What a reflector works with: everything is handed in, so that a test can drive it. */
import type { Clock, Random } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Resource } from '../../catalog/resources/resource.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import type { IncomingObject } from '../../store/types/incoming-object.ts';
import type { ResourceHandle } from '../../store/types/progress.ts';
import type { Writer } from '../../store/types/writer.ts';
import { type BackoffBounds, defaultBackoff } from '../flow/backoff.ts';
import type { RequestBudget, RequestRate } from '../flow/request-budget.ts';
import type { Semaphore } from '../flow/semaphore.ts';
import type { ParseThread } from '../parse/parse-thread.ts';
import type { StreamingLists } from './streaming-lists.ts';

/** The part of a RestClient that a reflector uses. */
export type StreamingClient = Pick<RestClient, 'stream'>;

export interface ReflectorSettings {
  /** Objects asked for in one page of a list. */
  readonly pageSize: number;
  /** Seconds that a watch is asked to last: a random number between the two. */
  readonly watchSeconds: { readonly least: number; readonly most: number };
  /** Milliseconds beyond those seconds after which the watch is ended from this side. */
  readonly watchGraceMs: number;
  /** Milliseconds before the end of a watch at which the next one is opened. */
  readonly rolloverMs: number;
  /** Milliseconds of silence after which a watch that has had bookmarks is taken for dead. */
  readonly idleMs: number;
  /** Milliseconds of silence in a list. */
  readonly listSilenceMs: number;
  /** True: collections are asked for as the beginning of a watch where the server can do it. */
  readonly streamingLists: boolean;
  /** Milliseconds without another object after which a streaming list counts as one that will never end, and in all. */
  readonly streamSilenceMs: number;
  readonly streamTotalMs: number;
  readonly backoff: BackoffBounds;
  /** Lists and watches begun in a cluster, of all its resources together. */
  readonly requests: RequestRate;
  /** Waits between two probes of what is forbidden or missing. */
  readonly parked: BackoffBounds;
  /** Milliseconds between two lists of what cannot be watched; each wait is up to a fifth shorter or longer. */
  readonly pollMs: number;
  /** Milliseconds in which each table is once compared with the server; 0: never. */
  readonly auditMs: number;
  /** Watches that fail with 5xx in a row before the collection is listed anew. */
  readonly serverErrorsBeforeList: number;
  /** Events applied at once. */
  readonly batchEvents: number;
  readonly maxLineBytes: number;
  readonly maxItemBytes: number;
}

export const defaultReflectorSettings: ReflectorSettings = {
  pageSize: 500,
  watchSeconds: { least: 300, most: 600 },
  watchGraceMs: 30_000,
  rolloverMs: 5000,
  idleMs: 180_000,
  listSilenceMs: 60_000,
  streamingLists: true,
  streamSilenceMs: 30_000,
  streamTotalMs: 300_000,
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

/** An object as it passed into the store; `deleted` when its event said so. */
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
  /** Bounds the lists that run at a time in this cluster. */
  readonly lists: Semaphore;
  /** Bounds the watches that are being opened at a time in this cluster. */
  readonly openings: Semaphore;
  /** Bounds the lists and watches that are begun in this cluster. */
  readonly budget: RequestBudget;
  /** What is known of streaming lists in this cluster. */
  readonly streaming: StreamingLists;
  /** Parses the pages of large lists beside this thread; without it they are parsed here. */
  readonly parser?: ParseThread | undefined;
  /** False: list first, whatever the store knows. */
  readonly resume: boolean;
  /** Hears of every object that was stored, in order; listed ones when their page is staged. Must not throw. */
  readonly seen?: (objects: readonly SeenObject[]) => void;
  /** Hears when phase, error or readiness changed. */
  readonly changed?: () => void;
  /** Hears that the API server says the collection is not there. */
  readonly missing?: () => void;
}
