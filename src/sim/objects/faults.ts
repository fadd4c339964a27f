/**
 * The faults of a simulated cluster, as switches: each is named after its number in the fault catalogue (docs/faults.md).
 *
 * Owns: which faults are on, whom they strike, how often they still do, and how often they have. Never: touches a socket; what a
 * fault does on the wire stands in http/fault-answers.ts (instead of an answer), http/faulty-wire.ts (in a watch) and
 * http/faulty-list.ts (in the body of a list). Faults without a switch are calls of the cluster: `setAvailable` (F24),
 * `dropWatches` (F25), `save` and `restore` (F20), and what can be said with objects alone (F28, F37, F38, F39).
 *
 * Life: `set` -> requests and open watches ask `take` whether they are struck -> the last of `times`, or `clear`.
 */

/** Whom a fault strikes; everybody without a resource, until it is cleared without times. */
export interface FaultAim {
  /** The plural of a resource. */
  readonly resource?: string;
  readonly times?: number;
}

export interface FaultSwitches {
  /** The connection of a watch is reset in the middle of its next event, or of a later one (the next is 1). */
  readonly F1?: FaultAim & { readonly event?: number };
  /** A watch ends cleanly behind its next event, or behind a later one. */
  readonly F2?: FaultAim & { readonly event?: number };
  /** A watch ends as soon as it is opened. */
  readonly F3?: FaultAim;
  /** A watch falls silent at its next line, for good, and its connection stays. */
  readonly F4?: FaultAim;
  /** A watch is answered with HTTP 410. */
  readonly F5?: FaultAim;
  /** A watch is answered with an ERROR event of code 410. */
  readonly F6?: FaultAim;
  /** The same behind the next event of a watch, or behind a later one. */
  readonly F7?: FaultAim & { readonly event?: number };
  /** A list that names a resourceVersion is answered with 410. */
  readonly F8?: FaultAim;
  /** A list that names a resourceVersion is answered with 504, with the cause or with the older words alone. */
  readonly F9?: FaultAim & { readonly form: 'cause' | 'words' };
  /** The continue token has expired at this page (the first is 1). */
  readonly F10?: FaultAim & { readonly page: number };
  /** The same, with a token in the answer that would go on at another moment. */
  readonly F11?: FaultAim & { readonly page: number };
  /** A list is cut off with a clean end, ends before its Content-Length, or has a broken chunk. */
  readonly F12?: FaultAim & { readonly form: 'cut' | 'length' | 'chunk' };
  /** 429 with Retry-After. */
  readonly F23?: FaultAim & { readonly on: RequestKind; readonly retryAfterSeconds: number };
  /** 401 for everything. */
  readonly F26?: FaultAim;
  /** 403 for lists and watches, but for those in one of these namespaces. */
  readonly F27?: FaultAim & { readonly except?: readonly string[] };
  /** 500 for lists. */
  readonly F29?: FaultAim;
  /** A group answers with 503, and discovery shows it as stale and empty. */
  readonly F30?: FaultAim & { readonly group: string };
  /** Lists and watches are answered with a page of HTML. */
  readonly F31?: FaultAim & { readonly status: 200 | 502 | 504 };
  /** A line that is no JSON comes before the next event. */
  readonly F32?: FaultAim;
  /** The next event is of no known type, has an object of another kind, or has a Status for its object. */
  readonly F33?: FaultAim & { readonly form: 'type' | 'kind' | 'status' };
  /** The next event has an object without resourceVersion or uid. */
  readonly F34?: FaultAim & { readonly form: 'resourceVersion' | 'uid' };
  /** The next event comes twice, and the one before it once more. */
  readonly F35?: FaultAim;
  /** The next ADDED says MODIFIED, or is left out (so that a DELETED comes for an object nobody knows). */
  readonly F36?: FaultAim & { readonly form: 'modified' | 'unknown' };
  /** The line of the next event is this much longer. */
  readonly F37?: FaultAim & { readonly bytes: number };
  /** Watches and lists are written in pieces of this many bytes. */
  readonly F38?: FaultAim & { readonly bytes: number };
  /** Bookmarks (also the one that ends a streaming list) do not come, or come three at a time. */
  readonly F47?: FaultAim & { readonly form: 'absent' | 'equal' };
  /** Empty lists have `items: null`. */
  readonly F52?: FaultAim;
  /** resourceVersions look like numbers and have no order. */
  readonly F53?: FaultAim;
  /** Lists are answered with a redirect, or compressed without being asked. */
  readonly F54?: FaultAim & { readonly form: 'redirect' | 'gzip' };
}

export type FaultNumber = keyof FaultSwitches;

/** What is asked of a collection: its first page, a later one, or a watch. */
export type RequestKind = 'list' | 'page' | 'watch';

type Switch<N extends FaultNumber> = NonNullable<FaultSwitches[N]>;

export class Faults {
  #switches: FaultSwitches = {};
  readonly #left = new Map<FaultNumber, number>();
  readonly #struck = new Map<FaultNumber, number>();

  /** True while any switch is on. */
  get active(): boolean {
    return this.#left.size > 0;
  }

  /** Turns these on, beside those that are on already. */
  set(switches: FaultSwitches): void {
    this.#switches = { ...this.#switches, ...switches };
    for (const number of Object.keys(switches) as FaultNumber[]) {
      this.#left.set(number, switches[number]?.times ?? Number.POSITIVE_INFINITY);
    }
  }

  /** Turns off what is named, or everything. */
  clear(...numbers: readonly FaultNumber[]): void {
    for (const number of numbers.length === 0 ? [...this.#left.keys()] : numbers) this.#left.delete(number);
  }

  /** How often a fault has struck. */
  struck(number: FaultNumber): number {
    return this.#struck.get(number) ?? 0;
  }

  /** The switch when it is on and meant for this resource. */
  on<N extends FaultNumber>(number: N, resource: string | undefined): Switch<N> | undefined {
    const fault = this.#switches[number];
    if (!this.#left.has(number) || !fault) return undefined;
    return fault.resource === undefined || fault.resource === resource ? fault : undefined;
  }

  /** The same, and counts a strike. */
  take<N extends FaultNumber>(number: N, resource: string | undefined): Switch<N> | undefined {
    const fault = this.on(number, resource);
    if (!fault) return undefined;
    const left = (this.#left.get(number) ?? 0) - 1;
    if (left > 0) this.#left.set(number, left);
    else this.#left.delete(number);
    this.#struck.set(number, this.struck(number) + 1);
    return fault;
  }
}
