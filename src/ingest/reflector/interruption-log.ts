/**
 * Logs the interruptions of the reflectors of one cluster, many in one entry.
 *
 *   a failure -> collected for `gatherMs` with others of the same reason -> one entry
 *   a reported collection continues -> collected -> one entry
 *
 * One interruption is normal: a server restarts, a connection ends, a new definition is not established yet. So network, server and
 * throttling failures are logged as info at first. The third one of a collection within `windowMs` makes a warning, and later ones only
 * debug entries until the collection continues. Failures that do not pass by themselves (refusals, credentials, invalid data, the own
 * store) are warnings at once. An expired version is no failure.
 */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { shortList } from '../../base/text/short-list.ts';
import type { Failure } from '../flow/failure.ts';

const gatherMs = 2000;
const windowMs = 600_000;
const passingFailures = 3;
/** Maximum collections that an entry names. */
const mostNamed = 5;

/** A collection that does not exist is being established or removed. */
function isPassing({ kind, status }: Failure): boolean {
  return kind === 'network' || kind === 'server' || kind === 'throttled' || status === 404;
}

interface Interrupted {
  /** The server refuses the collection. This is no outage. */
  readonly refused: boolean;
  /** Monotonic milliseconds of the failures in the window, oldest first. */
  readonly times: readonly number[];
  readonly warned: boolean;
}

type Level = 'info' | 'warn';

interface Entry {
  readonly level: Level;
  readonly kind: Failure['kind'];
  readonly reason: string;
  readonly error: string;
  names: string[];
}

export class InterruptionLog {
  readonly #clock: Clock;
  readonly #log: Logger;
  /** By collection. */
  readonly #interrupted = new Map<string, Interrupted>();
  /** Entries to come, by level and reason: the collections, and the message of the first failure. */
  readonly #gathered = new Map<string, Entry>();
  readonly #continued: string[] = [];
  readonly #closing = new AbortController();
  #planned = false;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The number of collections that are interrupted and were reported by a warning, without refused ones. */
  get warned(): number {
    return [...this.#interrupted.values()].filter(({ warned, refused }) => warned && !refused).length;
  }

  /** A collection failed. `name` is unique in the cluster. */
  failed(name: string, failure: Failure): void {
    const { kind, reason, message } = failure;
    if (kind === 'expired' || kind === 'too new') {
      this.#log.debug({ resource: name, reason, error: message }, 'a version has expired');
      return;
    }
    const now = this.#clock.monotonic();
    const before = this.#interrupted.get(name);
    const times = [...(before?.times.filter((time) => now - time < windowMs) ?? []), now].slice(-passingFailures);
    const known = before?.warned === true;
    const level: Level = isPassing(failure) && times.length < passingFailures ? 'info' : 'warn';
    this.#interrupted.set(name, { refused: kind === 'refused', times, warned: known || level === 'warn' });
    this.#log.debug({ resource: name, reason, error: message }, 'ingest of a resource is interrupted');
    if (known) return;
    const key = `${level} ${reason}`;
    const entry = this.#gathered.get(key) ?? { level, kind, reason, error: message, names: [] };
    entry.names.push(name);
    this.#gathered.set(key, entry);
    this.#plan();
  }

  /** A collection continues without an error. */
  continues(name: string): void {
    const before = this.#interrupted.get(name);
    if (before?.warned !== true) return;
    this.#interrupted.set(name, { ...before, warned: false });
    this.#continued.push(name);
    this.#plan();
  }

  /** The collection is no longer ingested. */
  forget(name: string): void {
    this.#interrupted.delete(name);
    for (const entry of this.#gathered.values()) entry.names = entry.names.filter((each) => each !== name);
  }

  /** Writes what is collected. Call it at the end. */
  close(): void {
    this.#closing.abort();
    this.#write();
  }

  #plan(): void {
    if (this.#planned || this.#closing.signal.aborted) return;
    this.#planned = true;
    this.#clock.sleep(gatherMs, this.#closing.signal).then(
      () => {
        this.#planned = false;
        this.#write();
      },
      () => {},
    );
  }

  #write(): void {
    for (const { level, kind, reason, error, names } of this.#gathered.values()) {
      if (names.length === 0) continue;
      const what = kind === 'refused' ? 'the API server refuses resources' : 'ingest of resources is interrupted';
      this.#log[level]({ reason, error, ...named(names) }, `${what}; it is tried again`);
    }
    this.#gathered.clear();
    const continued = this.#continued.splice(0);
    if (continued.length > 0) this.#log.info(named(continued), 'ingest of resources continues');
  }
}

function named(names: readonly string[]): { readonly count: number; readonly resources: readonly string[] } {
  const distinct = [...new Set(names)];
  return { count: distinct.length, resources: shortList(distinct, mostNamed) };
}
