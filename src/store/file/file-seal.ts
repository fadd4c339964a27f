/**
 * Tells whether anybody but Portolan has written the store's files. Threads share the memory of a seal. Other processes read a copy of it
 * (seal-copy.ts).
 *
 * In WAL mode only a checkpoint writes the database file, and only a transaction writes the log. So each of them notes the modification
 * time that its own writes gave the file. Another time means that another program wrote into the file. SQLite itself notices a damaged page
 * when it reads the page. It does not notice changed bytes of a body.
 *
 *   open     the files are those of the writer; their inodes are noted
 *   begin    Portolan writes into one of the two files: its time is unknown
 *   end      the new time is noted
 *   broken   a thread looks at the files. If one is gone, replaced or changed, the seal is lost, with the reason
 *   lost     no thread reads the files any more, until the writer opens others
 *
 * Invariants:
 *   - A write of Portolan is never taken for one of another program. While the time is unknown, only the inode is compared.
 *   - Files are never opened here: closing any descriptor of a file releases the locks of all of the process's connections to it.
 *
 * Times are compared only after `trust`, because a file system may set them later than the write.
 */
import { closeSync, fsyncSync, openSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { SealCopy } from './seal-copy.ts';

/** The memory of a seal, to be handed to other threads. */
export interface SealMemory {
  readonly shared: SharedArrayBuffer;
  /** The file of the copy that other processes read. */
  readonly writes?: string;
  /** The file of the copy of the process that writes the store. The files are broken if this memory or that copy says so. */
  readonly reads?: string;
}

/** The two files that are written. */
type SealedPart = 'file' | 'log';

/** Places in the memory: 32-bit integers. `reason`: the place of the reason among `reasons`. */
const states = {
  state: 0,
  reason: 1,
  trusted: 2,
  lock: 3,
  file: { writers: 4, ends: 5 },
  log: { writers: 6, ends: 7 },
} as const;
const stateBytes = 32;
/** Places in the memory behind them: 64-bit floats. */
const facts = { file: { device: 0, inode: 1, time: 2 }, log: { device: 3, inode: 4, time: 5 } } as const;
const factBytes = 48;

const none = 0;
const open = 1;
const lost = 2;

/** Why the files may not be read. */
const reasons = [
  'the file is damaged',
  'the file is gone',
  'another file is in its place',
  'another program has written into it',
  'its write-ahead log is gone',
  'another file is in place of its write-ahead log',
  'another program has written into its write-ahead log',
] as const;
type Break = 'gone' | 'replaced' | 'changed';
const breaks: readonly Break[] = ['gone', 'replaced', 'changed'];

export function sealMemory(copy: Omit<SealMemory, 'shared'> = {}): SealMemory {
  return { shared: new SharedArrayBuffer(stateBytes + factBytes), ...copy };
}

/** Makes the file of a copy, which only this user can open. */
export function createSealCopy(path: string): void {
  writeFileSync(path, '', { mode: 0o600 });
}

function copyAt(path: string): SealCopy {
  return new SealCopy(path, stateBytes + factBytes, stateBytes);
}

export class FileSeal {
  readonly memory: SealMemory;
  readonly #states: Int32Array;
  readonly #facts: Float64Array;
  readonly #paths: Readonly<Record<SealedPart, string>>;
  readonly #writes: SealCopy | null;
  /** Where the memory comes from, if this is the seal of another process. */
  readonly #source: SealCopy | null;
  /** The seal of the process that writes the store. */
  readonly #writers: FileSeal | null;
  #isOpener = false;

  /** @param file the database file */
  constructor(file: string, memory: SealMemory = sealMemory(), source: SealCopy | null = null) {
    this.memory = memory;
    this.#states = new Int32Array(memory.shared, 0, stateBytes / 4);
    this.#facts = new Float64Array(memory.shared, stateBytes, factBytes / 8);
    this.#paths = { file, log: `${file}-wal` };
    this.#writes = memory.writes === undefined ? null : copyAt(memory.writes);
    this.#source = source;
    this.#writers = memory.reads === undefined ? null : new FileSeal(file, sealMemory(), copyAt(memory.reads));
  }

  /** Has this instance opened the seal? Before that, the seal is the one of an earlier store. */
  get isOpener(): boolean {
    return this.#isOpener;
  }

  /** The files at the paths are those of the store. Call it while no thread writes them. */
  open(): void {
    this.#isOpener = true;
    Atomics.store(this.#states, states.trusted, 0);
    Atomics.store(this.#states, states.lock, 0);
    for (const part of ['file', 'log'] as const) {
      const found = this.#stat(part);
      const isThere = found !== null && found !== 'hidden';
      const { device, inode } = facts[part];
      this.#facts[device] = isThere ? found.dev : Number.NaN;
      this.#facts[inode] = isThere ? found.ino : Number.NaN;
      Atomics.store(this.#states, states[part].writers, 0);
      this.begin(part);
      this.end(part);
    }
    this.#change(() => Atomics.store(this.#states, states.state, open));
  }

  /** The files are no longer watched: the store is closed. */
  close(): void {
    this.#change(() => Atomics.compareExchange(this.#states, states.state, open, none));
    this.#writes?.close();
  }

  /** Closes what was opened to read the copy of another process. It is opened again when it is needed. */
  release(): void {
    this.#writers?.release();
    this.#source?.close();
  }

  /** No thread may read the files any more: they are damaged. */
  lose(): void {
    this.#lose(0);
  }

  /** Portolan begins to write. Each call needs an `end`; calls may overlap. */
  begin(part: SealedPart): void {
    this.#change(() => Atomics.add(this.#states, states[part].writers, 1));
  }

  end(part: SealedPart): void {
    this.#change(() => {
      this.#facts[facts[part].time] = this.#timeOf(part);
      Atomics.add(this.#states, states[part].ends, 1);
      Atomics.sub(this.#states, states[part].writers, 1);
    });
  }

  /**
   * Makes one change after the other. The last thread to look at a file must be the last to note its time, and the last to write the copy.
   */
  #change(change: () => void): void {
    while (Atomics.compareExchange(this.#states, states.lock, 0, 1) !== 0);
    change();
    this.#writes?.write(this.memory.shared);
    Atomics.store(this.#states, states.lock, 0);
  }

  /** Runs work that writes. Looks at the files before, because afterwards a write of another program cannot be seen. */
  writing<T>(part: SealedPart, work: () => T): T {
    this.broken();
    this.begin(part);
    try {
      return work();
    } finally {
      this.end(part);
    }
  }

  /** From now on times are compared. */
  trust(): void {
    this.#change(() => Atomics.store(this.#states, states.trusted, 1));
  }

  /** Times are not compared any more: somebody writes without `begin` and `end`. */
  distrust(): void {
    this.#change(() => Atomics.store(this.#states, states.trusted, 0));
  }

  /** Does another process write the store? It finds by itself what this seal finds. */
  get isOfOther(): boolean {
    return this.#writers !== null;
  }

  /** Does a thread know that the files are not those of the store any more? Looks at none of the store's files. */
  get isLost(): boolean {
    this.#refresh();
    return Atomics.load(this.#states, states.state) === lost || this.#writers?.isLost === true;
  }

  /** Why the files may not be read; null if Portolan has written them. Takes some microseconds. */
  broken(): string | null {
    return this.#brokenHere() ?? this.#writers?.broken() ?? null;
  }

  #brokenHere(): string | null {
    this.#refresh();
    const state = Atomics.load(this.#states, states.state);
    if (state === none) return null;
    if (state === open) {
      for (const [at, part] of (['file', 'log'] as const).entries()) {
        const found = this.#look(part);
        if (found !== null) this.#lose(1 + at * breaks.length + breaks.indexOf(found));
      }
    }
    return Atomics.load(this.#states, states.state) === lost
      ? (reasons[Atomics.load(this.#states, states.reason)] ?? reasons[0])
      : null;
  }

  #lose(reason: number): void {
    if (Atomics.load(this.#states, states.state) !== open) return;
    this.#change(() => {
      Atomics.store(this.#states, states.reason, reason);
      Atomics.compareExchange(this.#states, states.state, open, lost);
    });
  }

  /** Reads the memory of the other process, if this is its seal. */
  #refresh(): void {
    if (this.#source === null) return;
    if (!this.#source.read(this.memory.shared)) Atomics.store(this.#states, states.state, none);
    // It is the lock of the other process.
    Atomics.store(this.#states, states.lock, 0);
  }

  #look(part: SealedPart): Break | null {
    const { device, inode, time } = facts[part];
    const { writers, ends } = states[part];
    const writing = Atomics.load(this.#states, writers);
    const ended = Atomics.load(this.#states, ends);
    if (Number.isNaN(this.#facts[inode])) return null;
    const found = this.#stat(part);
    if (found === 'hidden') return null;
    if (found === null) return 'gone';
    if (found.ino !== this.#facts[inode] || found.dev !== this.#facts[device]) return 'replaced';
    if (Atomics.load(this.#states, states.trusted) === 0 || found.mtimeMs === this.#facts[time]) return null;
    this.#refresh();
    // A write of Portolan that began or ended meanwhile explains the time. So does a time that the first copy did not have yet.
    const undecided =
      writing !== 0 ||
      found.mtimeMs === this.#facts[time] ||
      Atomics.load(this.#states, writers) !== 0 ||
      Atomics.load(this.#states, ends) !== ended ||
      Atomics.load(this.#states, states.state) !== open;
    return undecided ? null : 'changed';
  }

  /** Not a number, which is no time, for a file that cannot be looked at. */
  #timeOf(part: SealedPart): number {
    const found = this.#stat(part);
    return found === null || found === 'hidden' ? Number.NaN : found.mtimeMs;
  }

  /** `hidden`: the path may not be looked at, or its disk fails. The file itself may be good: connections hold it open. */
  #stat(part: SealedPart): Stats | null | 'hidden' {
    try {
      return statSync(this.#paths[part], { throwIfNoEntry: false }) ?? null;
    } catch {
      return 'hidden';
    }
  }
}

/**
 * Does the file system set the modification time with the write? Then a sync does not change it. Writes a file beside `file` and
 * removes it. Null if it cannot be written.
 */
export function keepsTimes(file: string): boolean | null {
  const probe = `${file}-probe`;
  try {
    // The path may hold a link to a file of somebody else: it is removed, and a link that comes back is not followed.
    rmSync(probe, { force: true });
    const descriptor = openSync(probe, 'wx', 0o600);
    try {
      writeFileSync(descriptor, 'probe');
      const { mtimeMs } = statSync(probe);
      fsyncSync(descriptor);
      return statSync(probe).mtimeMs === mtimeMs;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  } finally {
    removeQuietly(probe);
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A folder that became read-only keeps it; the next probe removes it.
  }
}
