/**
 * The feed's reads of the change log.
 *
 *   few new changes of few kinds -> at once, on the calling thread (`windowsNow`)
 *   otherwise                    -> in a lease of a reader thread (`windows`)
 *   a subscriber's own position  -> in a lease, once for all subscribers with this position (`log`)
 *
 * A feed that keeps up finds few changes each time. Three messages to a reader thread and back would take longer than that read.
 *
 * Example: changes of a kind have 7,000 bytes on average. `windowsNow` reads at most 36 of them. If there are more, the next read is one
 * of a reader thread.
 */
import { PortolanError } from '../../base/errors.ts';
import {
  changedKindsIn,
  changedKindsStatement,
  changesIn,
  changesStatement,
  readChangedKinds,
  readChanges,
  readLogFloor,
} from '../../store/read/changes.ts';
import type { LoggedChange } from '../../store/types/change.ts';
import type { Lease, Reader } from '../../store/types/lease.ts';
import type { PageReader } from '../../store/types/page-reader.ts';
import type { ChangeWindow } from '../log/change-window.ts';
import { FeedChange } from '../log/feed-change.ts';

/** The position of a subscriber: the epoch of the store file, and the sequence number of the newest change that it has seen. */
export interface FeedPosition {
  readonly epoch: string;
  readonly sequence: number;
}

/** All changes of one kind up to `upTo`; `gap` if the log no longer reaches back to the position. */
export type LogBatch = { readonly changes: readonly FeedChange[]; readonly upTo: number } | 'gap';

/** Reads of the change log since the start. */
export interface FeedReads {
  /** Leases that were taken to read the log. */
  readonly leases: number;
  /** Reads on the calling thread. */
  readonly now: number;
  readonly changes: number;
  /** Bodies before and after these changes. */
  readonly bodies: number;
}

/** The changes that were read for one window. */
interface ReadWindow {
  readonly window: ChangeWindow;
  /** The log was cut after the window's end, or is of another epoch. */
  readonly lost: boolean;
  readonly changes: readonly FeedChange[];
  /** The changes are complete up to here. */
  readonly end: number;
}

/** The changes that were read for several windows, in one snapshot. */
export interface WindowsRead {
  /** The revision of the snapshot. */
  readonly revision: number;
  readonly read: readonly ReadWindow[];
  /** Windows that were not reached. */
  readonly left: readonly ChangeWindow[];
}

/** Attempts of a read. Leases can time out under heavy writes; that must not end a subscription. */
export const attempts = 3;
/** Windows that one read on the calling thread looks at. */
const mostWindowsNow = 8;
/** Bytes of bodies, expected for one read on the calling thread. */
const bytesNow = 256 * 1024;
const mostChangesNow = 64;
/** Of a change, where no change of the kind is known. */
const expectedBytes = 16 * 1024;

export class LogReads {
  readonly #reader: Reader;
  readonly #pages: PageReader | null;
  readonly #batch: number;
  /** Reads that run, by kind and position. */
  readonly #reading = new Map<string, Promise<LogBatch>>();
  #counts: FeedReads = { leases: 0, now: 0, changes: 0, bodies: 0 };

  /**
   * @param pages reads on the calling thread; null for none
   * @param batch changes that are read at a time
   */
  constructor(reader: Reader, pages: PageReader | null, batch: number) {
    this.#reader = reader;
    this.#pages = pages;
    this.#batch = batch;
  }

  get counts(): FeedReads {
    return this.#counts;
  }

  /**
   * Runs `work` in a lease; again when it times out, up to `attempts` times.
   * @param isOver must it not run again?
   * @throws what the reader throws.
   */
  async lease<T>(work: (lease: Lease) => Promise<T>, isOver: () => boolean, signal?: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#reader.lease(work, signal === undefined ? {} : { signal });
      } catch (error) {
        const over = isOver() || signal?.aborted === true || attempt === attempts;
        if (over || !(error instanceof PortolanError && error.code === 'TIMEOUT')) throw error;
      }
    }
  }

  /** The changes of a kind after a position, at most one batch. @throws what the reader throws. */
  log(kindId: number, position: FeedPosition, isOver: () => boolean): Promise<LogBatch> {
    const key = `${kindId} ${position.epoch} ${position.sequence}`;
    const begin = (): Promise<LogBatch> =>
      this.lease((lease) => this.#fromLog(lease, kindId, position), isOver).finally(() => this.#reading.delete(key));
    const reading = this.#reading.get(key) ?? begin();
    this.#reading.set(key, reading);
    return reading;
  }

  /** The changes after the ends of the windows, in their order: at most one batch in all. @throws what the reader throws. */
  windows(windows: readonly ChangeWindow[]): Promise<WindowsRead> {
    return this.#reader.lease((lease) => this.#windowsIn(lease, windows));
  }

  /** The same at once, on this thread. Null if that is impossible, or would take long. */
  windowsNow(windows: readonly ChangeWindow[]): WindowsRead | null {
    if (this.#pages === null || windows.length > mostWindowsNow) return null;
    const asked = windows.map((window) => ({ window, limit: Math.min(this.#batch, changesNow(window)) }));
    const read = this.#pages.pagesNow(
      [
        changedKindsStatement(positionsOf(windows)),
        ...asked.map(({ window, limit }) => changesStatement({ kindId: window.kindId, after: window.end, limit })),
      ],
      [],
    );
    if (read === null || read === 'spent') return null;
    this.#count({ now: 1 });
    const [changed = [], ...found] = read.rows;
    const { floors } = changedKindsIn(changed);
    const { revision, epoch } = read;
    const windowsRead = asked.map(({ window, limit }, index): ReadWindow => {
      const lost = isLost(window, epoch, floors);
      const changes = lost ? [] : this.#changes(changesIn(found[index] ?? []));
      return { window, lost, changes, end: endOf(changes, limit, window.end, revision) };
    });
    return { revision, read: windowsRead, left: [] };
  }

  async #windowsIn(lease: Lease, windows: readonly ChangeWindow[]): Promise<WindowsRead> {
    this.#count({ leases: 1 });
    const { revision, epoch } = lease;
    const positions = windows.map((window) => ({ window, after: window.end }));
    const { floors, kindIds } = await readChangedKinds(lease, positionsOf(windows));
    const read: ReadWindow[] = [];
    let remaining = this.#batch;
    for (const { window, after } of positions) {
      const lost = isLost(window, epoch, floors, after);
      if (lost || !kindIds.has(window.kindId)) {
        read.push({ window, lost, changes: [], end: revision });
      } else if (remaining > 0) {
        const { changes, end } = await this.#readKind(lease, window.kindId, after, remaining);
        remaining -= changes.length;
        read.push({ window, lost, changes, end });
      }
    }
    const reached = new Set(read.map(({ window }) => window));
    return { revision, read, left: windows.filter((window) => !reached.has(window)) };
  }

  async #fromLog(lease: Lease, kindId: number, { epoch, sequence }: FeedPosition): Promise<LogBatch> {
    this.#count({ leases: 1 });
    if (lease.epoch !== epoch || sequence < (await readLogFloor(lease, kindId))) return 'gap';
    const { changes, end } = await this.#readKind(lease, kindId, sequence, this.#batch);
    return { changes, upTo: end };
  }

  /** Changes of a kind after a sequence number. They are complete up to `end`. */
  async #readKind(
    lease: Lease,
    kindId: number,
    after: number,
    limit: number,
  ): Promise<{ readonly changes: readonly FeedChange[]; readonly end: number }> {
    const changes = this.#changes(await readChanges(lease, { kindId, after, limit }));
    return { changes, end: endOf(changes, limit, after, lease.revision) };
  }

  #changes(logged: readonly LoggedChange[]): readonly FeedChange[] {
    const changes = logged.map((change) => new FeedChange(change));
    this.#count({ changes: changes.length, bodies: changes.reduce((sum, { bodies }) => sum + bodies, 0) });
    return changes;
  }

  #count(more: Partial<FeedReads>): void {
    const { leases, now, changes, bodies } = this.#counts;
    this.#counts = {
      leases: leases + (more.leases ?? 0),
      now: now + (more.now ?? 0),
      changes: changes + (more.changes ?? 0),
      bodies: bodies + (more.bodies ?? 0),
    };
  }
}

function positionsOf(windows: readonly ChangeWindow[]): ReadonlyMap<number, number> {
  return new Map(windows.map(({ kindId, end }) => [kindId, end]));
}

function isLost(
  { kindId, epoch, end }: ChangeWindow,
  ofSnapshot: string,
  floors: ReadonlyMap<number, number>,
  after = end,
): boolean {
  return epoch !== ofSnapshot || after < (floors.get(kindId) ?? 0);
}

/** Up to where a read of at most `limit` changes is complete. */
function endOf(changes: readonly FeedChange[], limit: number, after: number, revision: number): number {
  const last = changes.length === limit ? changes.at(-1) : undefined;
  return last === undefined ? Math.max(after, revision) : last.logged.seq;
}

/** The most changes of a window that are read at once. */
function changesNow({ bytes, size }: ChangeWindow): number {
  const expected = size === 0 ? expectedBytes : bytes / size;
  return Math.max(1, Math.min(mostChangesNow, Math.floor(bytesNow / expected)));
}
