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
import type { Failure } from '../flow/failure.ts';

const gatherMs = 2000;
const windowMs = 600_000;
const passingFailures = 3;
/** Maximum collections that an entry names. */
const mostNamed = 5;

const passing: ReadonlySet<Failure['kind']> = new Set(['network', 'server', 'throttled']);

interface Interrupted {
  /** Monotonic milliseconds of the failures in the window, oldest first. */
  readonly times: readonly number[];
  readonly warned: boolean;
}

type Level = 'info' | 'warn';

export class InterruptionLog {
  readonly #clock: Clock;
  readonly #log: Logger;
  /** By collection. */
  readonly #interrupted = new Map<string, Interrupted>();
  /** Entries to come, by level and reason: the collections, and the message of the first failure. */
  readonly #gathered = new Map<
    string,
    { readonly level: Level; readonly reason: string; readonly error: string; readonly names: string[] }
  >();
  readonly #continued: string[] = [];
  readonly #closing = new AbortController();
  #planned = false;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The number of collections that are interrupted and were reported by a warning. */
  get warned(): number {
    return [...this.#interrupted.values()].filter(({ warned }) => warned).length;
  }

  /** A collection failed. `name` is unique in the cluster. */
  failed(name: string, { kind, reason, message }: Failure): void {
    if (kind === 'expired' || kind === 'too new') {
      this.#log.debug({ resource: name, reason, error: message }, 'a version has expired');
      return;
    }
    const now = this.#clock.monotonic();
    const before = this.#interrupted.get(name);
    const times = [...(before?.times.filter((time) => now - time < windowMs) ?? []), now].slice(-passingFailures);
    const known = before?.warned === true;
    const level: Level = passing.has(kind) && times.length < passingFailures ? 'info' : 'warn';
    this.#interrupted.set(name, { times, warned: known || level === 'warn' });
    this.#log.debug({ resource: name, reason, error: message }, 'ingest of a resource is interrupted');
    if (known) return;
    const key = `${level} ${reason}`;
    const entry = this.#gathered.get(key) ?? { level, reason, error: message, names: [] };
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
    for (const { level, reason, error, names } of this.#gathered.values()) {
      this.#log[level]({ reason, error, ...named(names) }, 'ingest of resources is interrupted; it is tried again');
    }
    this.#gathered.clear();
    const continued = this.#continued.splice(0);
    if (continued.length > 0) this.#log.info(named(continued), 'ingest of resources continues');
  }
}

function named(names: readonly string[]): { readonly count: number; readonly resources: readonly string[] } {
  const distinct = [...new Set(names)];
  const shown = distinct.slice(0, mostNamed);
  return { count: distinct.length, resources: distinct.length > mostNamed ? [...shown, '…'] : shown };
}
