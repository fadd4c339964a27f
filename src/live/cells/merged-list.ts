/**
 * A live list over several cells: the live lists of the cells as one stream of messages with one cursor.
 *
 *   open      the snapshots of the ready cells, one after the other: SNAPSHOT … SNAPSHOT -> SYNCED with a place in each cell
 *   follow    the next message of any cell -> LIVE with that cell's new place
 *   a gap     in any cell -> GAP, and everything begins again with snapshots of all cells
 *   a cell that becomes ready later, or serves the kind later     its snapshot comes as LIVE: its objects are ADDED
 *   a cell of which the client holds objects, and that serves nothing or is not ready now     as a gap
 *
 * The order of messages is that of each cell. There is no common order, as there is none between API servers.
 *
 * Invariants:
 *   - A client that applies all messages up to one whose cursor holds a place in each cell has exactly the matches of these places.
 *   - A cell that is not ready delays no other cell.
 *   - Of each cell, at most one message is made before the client takes it. Of a snapshot that comes as LIVE, at most two are.
 *
 * Example, cells a and b: SNAPSHOT(a), SNAPSHOT(b), SYNCED [a 7, b 3], then LIVE [a 7, b 4], LIVE [a 8, b 4].
 */
import { codeOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import type { Messages } from '../feed/running-list.ts';
import type { CellStart, LiveStart } from '../list/live-request.ts';
import { decodeLiveCursor, joinCellCursors, nowhere, writeLiveCursor } from '../log/live-cursor.ts';
import type { Commits } from '../signals/commit-signals.ts';

/** The live list in one cell. */
interface CellList {
  /** @param check as that of the request, for this cell */
  run(start: CellStart, check: (successor: CellStart) => void, signal: AbortSignal): Messages<void>;
  /** Resolves if the list can begin now. @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED if not */
  requireReady(): Promise<void>;
}

interface MergedRequest {
  /** By cell. null: the list is not about its clusters. gone: it serves nothing of the list. */
  readonly cells: readonly (CellList | 'gone' | null)[];
  readonly start: LiveStart;
  readonly signal: AbortSignal;
  /** As that of a live list. */
  check(successor: LiveStart): void;
  readonly commits: Commits;
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
/** Ends the list when that of a cell has ended: a message without a place in the cell would say that the client holds nothing of it. */
const ended = Symbol('ended');

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
      if (error === ended) return;
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
  /** Cells that are not ready. */
  readonly #joining = new Set<number>();
  #isJoining = false;
  #sentReset = false;
  #wake: () => void = () => {};

  constructor(request: MergedRequest, start: LiveStart) {
    this.#request = request;
    this.#start = start;
    this.#starts = startsOf(start, request.cells.length);
  }

  /** Sends the snapshots of the ready cells, or continues at their places. */
  async *open(): Messages<void> {
    const { cells, signal } = this.#request;
    for (const [at, cell] of cells.entries()) {
      const start = this.#starts[at] ?? null;
      if (cell === null) continue;
      if (isHeld(start)) {
        // A place in objects of another schema is of no use: the list of the cell would send GAP, but perhaps after those of others.
        if (cell === 'gone' || (start.at === 'place' && start.changed) || (await notReady(cell)) !== null) throw gap;
        this.#begin(at, start, false);
      } else if (cell !== 'gone') this.#joining.add(at);
    }
    const beginsHeld = this.#running.size > 0;
    do {
      await this.#someReady(beginsHeld);
      for (const cell of [...this.#running.values()]) {
        if (this.#starts[cell.at]?.at !== 'place' && !signal.aborted) yield* this.#synced(cell);
      }
    } while (this.#running.size === 0 && this.#joining.size > 0 && !this.#isOver);
    if (this.#isOver) return;
    const begun = this.#starts.filter((start) => start !== null);
    if (begun.length === 0 || begun.some(({ at }) => at !== 'place')) {
      const reset = !this.#sentReset && begun.some(({ at }) => at === 'snapshot');
      yield { phase: 'SYNCED', reset, cursor: this.#cursor(), totalCount: this.#count(), changes: [] };
    }
  }

  /** Sends the messages of all cells as they come, in turn. */
  async *follow(): Messages<void> {
    void this.#join();
    while (this.#running.size + this.#joining.size > 0 && !this.#request.signal.aborted) {
      const arrived = [...this.#running.values()].filter(({ arrival }) => arrival !== null);
      if (arrived.length === 0) await this.#more();
      for (const cell of arrived) {
        const message = await this.#nextOrRefused(cell);
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

  get #isOver(): boolean {
    return this.#request.signal.aborted || this.#request.commits.closed;
  }

  #cell(at: number): CellList {
    const cell = this.#request.cells[at];
    if (cell === 'gone') throw new Error('invariant broken: a cell that serves nothing has no list');
    return must(cell, 'a cell of the list');
  }

  /**
   * Begins the lists of the cells that are ready, and waits for one if none runs.
   * @param holds has the client objects of a cell? Then its first objects of another one come as LIVE.
   * @throws PortolanError RESOURCE_REFUSED if the API servers of all cells refuse the list
   */
  async #someReady(holds: boolean): Promise<void> {
    const { commits, signal } = this.#request;
    for (;;) {
      const seen = commits.wakes;
      const refusals: unknown[] = [];
      const waiting = [...this.#joining].filter((at) => !holds || (this.#starts[at] ?? null) !== null);
      for (const at of waiting) {
        const reason = await notReady(this.#cell(at));
        if (reason === null) this.#begin(at, this.#starts[at] ?? { at: 'snapshot' }, false);
        else if (codeOf(reason) === 'RESOURCE_REFUSED') refusals.push(reason);
      }
      if (this.#running.size > 0 || waiting.length === 0 || this.#isOver) return;
      if (refusals.length === waiting.length) throw refusals[0];
      this.#check();
      await commits.changed(seen, signal);
    }
  }

  /** Begins the lists of the other cells when they are ready. Runs beside the messages. */
  async #join(): Promise<void> {
    if (this.#isJoining) return;
    this.#isJoining = true;
    const { commits, signal } = this.#request;
    const ends = AbortSignal.any([signal, this.#stop.signal]);
    while (this.#joining.size > 0 && !this.#isOver && !ends.aborted) {
      const seen = commits.wakes;
      for (const at of this.#joining) {
        const reason = await notReady(this.#cell(at));
        if (reason === null && !ends.aborted) this.#begin(at, { at: 'snapshot' }, true);
      }
      if (this.#joining.size > 0) await commits.changed(seen, ends);
    }
    this.#isJoining = false;
    if (!this.#isOver) return;
    this.#joining.clear();
    this.#wake();
  }

  /** Ends the lists of the cells. */
  end(): void {
    this.#stop.abort(over);
    for (const { messages } of this.#running.values()) void messages.return().catch(() => {});
  }

  #begin(at: number, start: CellStart, joins: boolean): void {
    const signal = AbortSignal.any([this.#request.signal, this.#stop.signal]);
    const list = this.#cell(at);
    const check = (successor: CellStart): void => {
      const known = this.#running.get(at);
      if (known !== undefined) known.successor = laterOf(known.successor, successor);
      this.#check();
    };
    const isPlace = start.at === 'place';
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
    this.#joining.delete(at);
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

  /** The next message of the cell. */
  async #next(cell: Running): Promise<LiveMessage> {
    while (cell.arrival === null) await this.#more();
    const { arrival } = cell;
    cell.arrival = null;
    if (this.#isOver) throw ended;
    if ('error' in arrival) {
      // A list that leaves an old generation does not know how far the client is in other cells.
      this.#check();
      throw arrival.error;
    }
    if (arrival.step.done === true) throw ended;
    return arrival.step.value;
  }

  /** The next message of the cell; null if its API servers refuse what has just been ready: it joins later. */
  async #nextOrRefused(cell: Running): Promise<LiveMessage | null> {
    try {
      return await this.#next(cell);
    } catch (error) {
      if (codeOf(error) !== 'RESOURCE_REFUSED') throw error;
      if (cell.isPartial || cell.cursor !== null || isHeld(this.#starts[cell.at])) throw gap;
      this.#running.delete(cell.at);
      this.#joining.add(cell.at);
      if (cell.joins) void this.#join();
      return null;
    }
  }

  /** The messages of a cell up to its SYNCED, which is not sent. */
  async *#synced(cell: Running): Messages<void> {
    for (let isFirst = true; ; isFirst = false) {
      const message = await this.#nextOrRefused(cell);
      if (message === null) return;
      // A snapshot that had to begin again has sent objects that the client must drop.
      if (message.phase === 'GAP' || (message.reset && !isFirst)) throw gap;
      if (message.phase === 'SNAPSHOT') cell.isPartial = true;
      this.#take(cell, message);
      if (message.phase === 'SYNCED') return;
      yield { ...message, reset: !this.#sentReset, cursor: nowhereText, totalCount: null };
      this.#sentReset = true;
    }
  }

  /** The snapshot of a cell that joins the others. Its last message has a place in the cell. @param first its first message */
  async *#joined(cell: Running, first: LiveMessage): Messages<void> {
    let last: LiveMessage | null = null;
    let sent = 0;
    for (let message = first; ; message = await this.#next(cell)) {
      if (message.phase === 'GAP' || (message.reset && message !== first)) throw gap;
      this.#take(cell, message);
      const isWhole = message.phase !== 'SNAPSHOT';
      if (last !== null) {
        if (!isWhole) cell.isPartial = true;
        sent += last.changes.length;
        const known = this.#count();
        const totalCount = known === null || isWhole ? known : known + sent;
        yield { ...last, phase: 'LIVE', reset: false, cursor: this.#cursor(), totalCount };
      }
      if (isWhole) return;
      last = message;
    }
  }

  /** Notes what the client has with this message, and lets the cell make the next one. */
  #take(cell: Running, { phase, cursor, totalCount }: LiveMessage): void {
    if (phase !== 'SNAPSHOT') {
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
    const { check } = this.#request;
    if (this.#running.size === 0) check(this.#start);
    else check({ at: 'cells', starts: this.#successors() });
  }

  #successors(): readonly (CellStart | null)[] {
    return this.#request.cells.map((cell, at): CellStart | null => {
      const known = this.#running.get(at);
      const start = this.#starts[at] ?? null;
      const isEmpty = cell === null || this.#joining.has(at) || (cell === 'gone' && !isHeld(start));
      if (known === undefined) return isEmpty ? null : start;
      return known.cursor !== null || !known.joins || known.isPartial ? known.successor : null;
    });
  }
}

/** Does the client hold the objects of a place in the cell? */
function isHeld(start: CellStart | null | undefined): start is Extract<CellStart, { readonly at: 'cursor' | 'place' }> {
  return start?.at === 'cursor' || start?.at === 'place';
}

/** Why the list cannot begin now; null if it can, and for another error, which the list will throw. */
async function notReady(cell: CellList): Promise<unknown> {
  try {
    await cell.requireReady();
  } catch (error) {
    return ['CACHE_NOT_READY', 'RESOURCE_REFUSED'].includes(codeOf(error)) ? error : null;
  }
  return null;
}

/** The one that is further on. A list tells its place before it makes messages, and messages tell theirs. */
function laterOf(known: CellStart, next: CellStart): CellStart {
  if (known.at !== 'place' || next.at !== 'place' || known.cursor.epoch !== next.cursor.epoch) return next;
  return next.cursor.sequence < known.cursor.sequence ? known : next;
}
