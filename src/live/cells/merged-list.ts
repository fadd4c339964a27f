/**
 * A live list over several cells: the live lists of the cells as one stream of messages with one cursor.
 *
 *   open      the snapshots of the ready cells, one after the other: SNAPSHOT … SNAPSHOT -> SYNCED with a place in each cell
 *   follow    the next message of any cell -> LIVE with that cell's new place
 *   a gap     in any cell -> GAP, and everything begins again with snapshots of all cells
 *   a cell that becomes ready later, or serves the kind later     its snapshot comes as LIVE: its objects are ADDED
 *
 * The order of messages is that of each cell. There is no common order, as there is none between API servers.
 *
 * Invariants:
 *   - A client that applies all messages up to one whose cursor holds a place in each cell has exactly the matches of these places.
 *   - A cell that is not ready delays no other cell.
 *   - Of each cell, at most one message is made before the client takes it.
 *
 * Example, cells a and b: SNAPSHOT(a), SNAPSHOT(b), SYNCED [a 7, b 3], then LIVE [a 7, b 4], LIVE [a 8, b 4].
 */
import { codeOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import type { Messages } from '../feed/running-list.ts';
import type { CellStart, LiveStart } from '../list/live-request.ts';
import { decodeLiveCursor, joinCellCursors, nowhere, writeLiveCursor } from '../log/live-cursor.ts';

/** The live list in one cell. */
interface CellList {
  /** @param check as that of the request, for this cell */
  run(start: CellStart, check: (successor: CellStart) => void, signal: AbortSignal): Messages<void>;
  /** Has a cluster of the cell synced what the list shows? */
  isReady(): Promise<boolean>;
}

interface MergedRequest {
  /** By cell; null for a cell that serves nothing of the list. */
  readonly cells: readonly (CellList | null)[];
  readonly start: LiveStart;
  readonly signal: AbortSignal;
  /** As that of a live list. */
  check(successor: LiveStart): void;
  /** Resolves after the next commit. */
  committed(signal: AbortSignal): Promise<void>;
}

/** What a cell's list has made and the client has not taken. */
type Arrival = { readonly step: IteratorResult<LiveMessage, void> } | { readonly error: unknown };

/** A cell whose list runs. */
interface Running {
  readonly at: number;
  readonly messages: Messages<void>;
  /** Its snapshot comes as LIVE. */
  readonly joins: boolean;
  arrival: Arrival | null;
  /** Its place as text; null while the client has not all of its snapshot. */
  cursor: string | null;
  count: number | null;
  /** Has the client a part of its snapshot? */
  isPartial: boolean;
  successor: CellStart;
}

const nowhereText = writeLiveCursor({ epoch: '', sequence: nowhere });
/** The reason of every end. Without one, each abort makes an error with a stack. */
const over = new Error('the list of a cell is over');
/** Ends a round in which a cell had a gap. */
const gap = Symbol('gap');

/** Runs until the signal aborts or `check` throws. */
export async function* mergedList(request: MergedRequest): Messages<void> {
  let start = request.start;
  for (;;) {
    const round = new Round(request, start);
    try {
      yield* round.open();
      yield* round.follow();
      return;
    } catch (error) {
      if (error !== gap) throw error;
    } finally {
      round.end();
    }
    start = { at: 'snapshot' };
    request.check(start);
    yield { phase: 'GAP', reset: false, cursor: nowhereText, totalCount: null, changes: [] };
  }
}

/** By cell; null for a cell of which the client holds nothing. */
function startsOf(start: LiveStart, cells: number): readonly (CellStart | null)[] {
  if (start.at !== 'cells') return Array.from({ length: cells }, () => start);
  // A snapshot that is not complete begins again, in all cells.
  const isComplete = start.starts.every((each) => each?.at !== 'snapshot');
  return isComplete ? start.starts : start.starts.map(() => ({ at: 'snapshot' }));
}

/** From snapshots, or from places of the client, until a gap. */
class Round {
  readonly #request: MergedRequest;
  readonly #start: LiveStart;
  readonly #starts: readonly (CellStart | null)[];
  readonly #stop = new AbortController();
  readonly #running = new Map<number, Running>();
  #sentReset = false;
  #wake: () => void = () => {};

  constructor(request: MergedRequest, start: LiveStart) {
    this.#request = request;
    this.#start = start;
    this.#starts = startsOf(start, request.cells.length);
  }

  /** Sends the snapshots of the ready cells, or continues at their places. */
  async *open(): Messages<void> {
    const { signal } = this.#request;
    const joining = new Set<number>();
    for (const [at, cell] of this.#request.cells.entries()) {
      if (cell === null) continue;
      const start = this.#starts[at] ?? null;
      // A client that holds objects of a cell continues there at once.
      const holds = start?.at === 'cursor' || start?.at === 'place';
      if (holds || (start !== null && (await cell.isReady()))) this.#begin(at, start, false);
      else joining.add(at);
    }
    while (this.#running.size === 0 && joining.size > 0 && !signal.aborted) {
      this.#check();
      await this.#request.committed(signal);
      for (const at of joining) {
        if (!(await must(this.#request.cells[at], 'a cell of the list').isReady())) continue;
        joining.delete(at);
        this.#begin(at, this.#starts[at] ?? { at: 'snapshot' }, false);
      }
    }
    for (const cell of [...this.#running.values()]) {
      if (cell.successor.at !== 'place' && !signal.aborted) yield* this.#synced(cell);
    }
    if (signal.aborted) return;
    const begun = this.#starts.filter((start) => start !== null);
    if (begun.length === 0 || begun.some(({ at }) => at !== 'place')) {
      const reset = !this.#sentReset && begun.some(({ at }) => at === 'snapshot');
      yield { phase: 'SYNCED', reset, cursor: this.#cursor(), totalCount: this.#count(), changes: [] };
    }
    for (const at of joining) this.#begin(at, { at: 'snapshot' }, true);
  }

  /** Sends the messages of all cells as they come, in turn. */
  async *follow(): Messages<void> {
    while (this.#running.size > 0 && !this.#request.signal.aborted) {
      const arrived = [...this.#running.values()].filter(({ arrival }) => arrival !== null);
      if (arrived.length === 0) await this.#more();
      for (const cell of arrived) {
        const message = await this.#next(cell);
        if (message === null) continue;
        if (message.phase === 'GAP') throw gap;
        if (cell.cursor === null) yield* this.#joined(cell, message);
        else {
          this.#take(cell, message);
          yield { ...message, cursor: this.#cursor(), totalCount: this.#count() };
        }
      }
    }
  }

  /** Ends the lists of the cells. */
  end(): void {
    this.#stop.abort(over);
    for (const { messages } of this.#running.values()) void messages.return().catch(() => {});
  }

  #begin(at: number, start: CellStart, joins: boolean): void {
    const signal = AbortSignal.any([this.#request.signal, this.#stop.signal]);
    const list = must(this.#request.cells[at], 'a cell of the list');
    const check = (successor: CellStart): void => {
      const known = this.#running.get(at);
      if (known !== undefined) known.successor = laterOf(known.successor, successor);
      this.#check();
    };
    const isPlace = start.at === 'place' && !start.changed;
    const cell: Running = {
      at,
      messages: list.run(start, check, signal),
      joins,
      arrival: null,
      cursor: isPlace ? writeLiveCursor(start.cursor) : null,
      count: isPlace ? start.totalCount : null,
      isPartial: false,
      successor: start,
    };
    this.#running.set(at, cell);
    this.#make(cell);
  }

  /** Lets the cell make its next message. */
  #make(cell: Running): void {
    const arrive = (arrival: Arrival): void => {
      cell.arrival = arrival;
      this.#wake();
    };
    cell.messages.next().then(
      (step) => arrive({ step }),
      (error: unknown) => arrive({ error }),
    );
  }

  /** Resolves when a cell has made a message. */
  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** The next message of the cell; null at its end. */
  async #next(cell: Running): Promise<LiveMessage | null> {
    while (cell.arrival === null) await this.#more();
    const { arrival } = cell;
    cell.arrival = null;
    if ('error' in arrival) throw arrival.error;
    if (arrival.step.done !== true) return arrival.step.value;
    this.#running.delete(cell.at);
    return null;
  }

  /** The messages of a cell up to its SYNCED, which is not sent. A cell whose API servers refuse the list is left out. */
  async *#synced(cell: Running): Messages<void> {
    for (let isFirst = true; ; isFirst = false) {
      let message: LiveMessage | null;
      try {
        message = await this.#next(cell);
      } catch (error) {
        if (codeOf(error) !== 'RESOURCE_REFUSED' || this.#running.size === 1) throw error;
        this.#running.delete(cell.at);
        return;
      }
      if (message === null) return;
      // A snapshot that had to begin again has sent objects that the client must drop.
      if (message.phase === 'GAP' || (message.reset && !isFirst)) throw gap;
      this.#take(cell, message);
      if (message.phase === 'SYNCED') return;
      yield { ...message, reset: !this.#sentReset, cursor: nowhereText, totalCount: null };
      this.#sentReset = true;
    }
  }

  /** The snapshot of a cell that joins the others. @param first its first message */
  async *#joined(cell: Running, first: LiveMessage): Messages<void> {
    let sent = 0;
    for (let message: LiveMessage | null = first; message !== null; message = await this.#next(cell)) {
      if (message.phase === 'GAP' || (message.reset && message !== first)) throw gap;
      this.#take(cell, message);
      if (message.phase !== 'SNAPSHOT') return;
      sent += message.changes.length;
      const known = this.#count();
      const totalCount = known === null ? null : known + sent;
      yield { ...message, phase: 'LIVE', reset: false, cursor: this.#cursor(), totalCount };
    }
  }

  /** Notes what the client has with this message, and lets the cell make the next one. */
  #take(cell: Running, { phase, cursor, totalCount }: LiveMessage): void {
    if (phase === 'SNAPSHOT') cell.isPartial = true;
    else {
      cell.cursor = cursor;
      cell.count = totalCount;
      const place = { at: 'place', cursor: decodeLiveCursor(cursor), totalCount, changed: false } as const;
      cell.successor = laterOf(cell.successor, place);
    }
    this.#make(cell);
  }

  /** The places of all cells; without one in a cell whose snapshot is not complete. */
  #cursor(): string {
    return joinCellCursors(
      this.#request.cells.map((_, at) => {
        const cell = this.#running.get(at);
        return cell?.cursor ?? (cell?.isPartial === true ? nowhereText : '');
      }),
    );
  }

  /** Of the cells whose snapshot is complete; null if one of them does not count. */
  #count(): number | null {
    let sum = 0;
    for (const { cursor, count, joins } of this.#running.values()) {
      if (cursor === null && joins) continue;
      if (count === null) return null;
      sum += count;
    }
    return sum;
  }

  #check(): void {
    const starts = new Array<CellStart | null>(this.#request.cells.length).fill(null);
    for (const { at, cursor, joins, isPartial, successor } of this.#running.values()) {
      if (cursor !== null || !joins || isPartial) starts[at] = successor;
    }
    this.#request.check(this.#running.size === 0 ? this.#start : { at: 'cells', starts });
  }
}

/** The one that is further on. A list tells its place before it makes messages, and messages tell theirs. */
function laterOf(known: CellStart, next: CellStart): CellStart {
  if (known.at !== 'place' || next.at !== 'place' || known.cursor.epoch !== next.cursor.epoch) return next;
  return next.cursor.sequence < known.cursor.sequence ? known : next;
}
