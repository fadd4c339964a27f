/**
 * The faults of a simulated cluster, as switches. Each has its number in the fault catalogue (docs/faults.md).
 *
 * Owns: the active faults, their targets, how many times each still applies, and how many times it has applied. Never: touches a
 * socket. The effect on the wire is in fault-answers.ts (instead of a response), faulty-wire.ts (in a watch) and
 * faulty-list.ts (in the body of a list).
 *
 * Some faults have no switch. These are methods of the cluster: `setAvailable` (F24), `dropWatches` (F25), `save` and `restore`
 * (F20). F28, F37, F38 and F39 can be made with objects alone.
 *
 * Life: `set` -> requests and open watches call `take` -> the last of `times`, or `clear`.
 */

/** The target of a fault: all resources unless one is given, and until `clear` unless `times` is given. */
export interface FaultAim {
  /** The plural of a resource. */
  readonly resource?: string;
  readonly times?: number;
}

export interface FaultSwitches {
  /** The connection of a watch is reset within its next event, or a later one (the next is 1). */
  readonly F1?: FaultAim & { readonly event?: number };
  /** A watch ends cleanly after its next event, or a later one. */
  readonly F2?: FaultAim & { readonly event?: number };
  /** A watch ends as soon as it is opened. */
  readonly F3?: FaultAim;
  /** A watch sends nothing from its next line on, but its connection stays open. */
  readonly F4?: FaultAim;
  /** A watch is answered with HTTP 410. */
  readonly F5?: FaultAim;
  /** A watch is answered with an ERROR event of code 410. */
  readonly F6?: FaultAim;
  /** The same after the next event of a watch, or a later one. */
  readonly F7?: FaultAim & { readonly event?: number };
  /** A list that names a resourceVersion is answered with 410. */
  readonly F8?: FaultAim;
  /** A list with a resourceVersion is answered with 504, with the cause or with the older message alone. */
  readonly F9?: FaultAim & { readonly form: 'cause' | 'words' };
  /** The continue token has expired at this page (the first is 1). */
  readonly F10?: FaultAim & { readonly page: number };
  /** The same, with a token in the answer that continues at another revision. */
  readonly F11?: FaultAim & { readonly page: number };
  /** A list is cut off with a clean end, ends before its Content-Length, or has a broken chunk. */
  readonly F12?: FaultAim & { readonly form: 'cut' | 'length' | 'chunk' };
  /** 429 with Retry-After. */
  readonly F23?: FaultAim & { readonly on: RequestKind; readonly retryAfterSeconds: number };
  /** 401 for everything. */
  readonly F26?: FaultAim;
  /** 403 for lists and watches, except in these namespaces. */
  readonly F27?: FaultAim & { readonly except?: readonly string[] };
  /** 500 for lists. */
  readonly F29?: FaultAim;
  /** A group answers with 503, and discovery shows it as stale and empty. */
  readonly F30?: FaultAim & { readonly group: string };
  /** Lists and watches are answered with a page of HTML. */
  readonly F31?: FaultAim & { readonly status: 200 | 502 | 504 };
  /** A line that is not JSON precedes the next event. */
  readonly F32?: FaultAim;
  /** The next event has an unknown type, an object of another kind, or a Status as its object. */
  readonly F33?: FaultAim & { readonly form: 'type' | 'kind' | 'status' };
  /** The next event has an object without resourceVersion or uid. */
  readonly F34?: FaultAim & { readonly form: 'resourceVersion' | 'uid' };
  /** The next event is sent twice, followed by the previous event. */
  readonly F35?: FaultAim;
  /** The next ADDED is sent as MODIFIED, or dropped (so that a DELETED follows for an unknown object). */
  readonly F36?: FaultAim & { readonly form: 'modified' | 'unknown' };
  /** The line of the next event is longer by this many bytes. */
  readonly F37?: FaultAim & { readonly bytes: number };
  /** Watches and lists are written in pieces of this many bytes. */
  readonly F38?: FaultAim & { readonly bytes: number };
  /** Bookmarks (also the last event of a streaming list's start) are dropped, or sent three times. */
  readonly F47?: FaultAim & { readonly form: 'absent' | 'equal' };
  /** Empty lists have `items: null`. */
  readonly F52?: FaultAim;
  /** resourceVersions look like numbers and have no order. */
  readonly F53?: FaultAim;
  /** Lists are answered with a redirect, or compressed although the client does not accept it. */
  readonly F54?: FaultAim & { readonly form: 'redirect' | 'gzip' };
}

export type FaultNumber = keyof FaultSwitches;

/** The kind of a request for a collection: the first page, a later page, or a watch. */
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

  /** Switches these on, in addition to the active ones. */
  set(switches: FaultSwitches): void {
    this.#switches = { ...this.#switches, ...switches };
    for (const number of Object.keys(switches) as FaultNumber[]) {
      this.#left.set(number, switches[number]?.times ?? Number.POSITIVE_INFINITY);
    }
  }

  /** Switches off the given faults, or all. */
  clear(...numbers: readonly FaultNumber[]): void {
    for (const number of numbers.length === 0 ? [...this.#left.keys()] : numbers) this.#left.delete(number);
  }

  /** How many times a fault has been applied. */
  struck(number: FaultNumber): number {
    return this.#struck.get(number) ?? 0;
  }

  /** The switch, when it is on and targets this resource. */
  on<N extends FaultNumber>(number: N, resource: string | undefined): Switch<N> | undefined {
    const fault = this.#switches[number];
    if (!this.#left.has(number) || !fault) return undefined;
    return fault.resource === undefined || fault.resource === resource ? fault : undefined;
  }

  /** The same, and counts one application of the fault. */
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
