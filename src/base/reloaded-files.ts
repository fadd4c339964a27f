/**
 * Files that are read again when they change, such as certificates that are renewed and the configuration.
 *
 *   open: read and load, or CONFIGURATION -> look, every few seconds: other bytes, twice in a row -> load -> `changed`
 *                                                                                              -> broken: one error in the log
 *
 * Reads the contents. Kubernetes swaps a mounted Secret by renaming a symbolic link above the files, which a watch of a file misses. Two
 * equal reads in a row are awaited, because a certificate and its key may be written one after the other.
 * Invariant: `current` is always a value that `load` accepted.
 */
import { createHash } from 'node:crypto';
import { messageOf, PortolanError } from './errors.ts';
import type { Logger } from './log.ts';
import { readSmallFile } from './read-small-file.ts';

interface ReloadedFilesOptions<T> {
  /** The content of the files, for the log: `certificate`, `configuration`. */
  readonly what: string;
  /** The files, each with the flag that names it. */
  readonly files: readonly { readonly flag: string; readonly path: string }[];
  /** Texts and value of an earlier read; without them, the constructor reads and loads. */
  readonly first?: { readonly texts: readonly string[]; readonly value: T };
  /** Makes the value of the files' texts. @throws Error whose message ends the sentence "--flag cannot be used: …". */
  readonly load: (texts: readonly string[]) => T;
  readonly changed: () => void;
  /** Called after a change that cannot be used. */
  readonly refused?: () => void;
  readonly log: Logger;
}

export class ReloadedFiles<T> {
  readonly #options: ReloadedFilesOptions<T>;
  #current: T;
  /** The hash of the texts that were loaded, or refused. The texts may be secret. */
  #known: string;
  /** The hash of other texts that the last look found. */
  #seen: string | null = null;

  /** @throws PortolanError CONFIGURATION for a file that cannot be read or loaded. */
  constructor(options: ReloadedFilesOptions<T>) {
    this.#options = options;
    const { files, first, load } = options;
    try {
      const texts = first?.texts ?? files.map(textOf);
      this.#current = first === undefined ? load(texts) : first.value;
      this.#known = hashOf(texts);
    } catch (error) {
      throw new PortolanError('CONFIGURATION', `${this.#names()} cannot be used: ${messageOf(error)}.`, {
        cause: error,
      });
    }
  }

  get current(): T {
    return this.#current;
  }

  /** Looks for changes. */
  async look(): Promise<void> {
    const { what, files, load, changed, refused, log } = this.#options;
    let texts: readonly string[] | null = null;
    let failure: unknown;
    try {
      texts = files.map(textOf);
    } catch (error) {
      failure = error;
    }
    const found = hashOf(texts ?? [messageOf(failure)]);
    if (found === this.#known || found !== this.#seen) {
      this.#seen = found === this.#known ? null : found;
      return;
    }
    this.#known = found;
    this.#seen = null;
    const paths = files.map(({ path }) => path);
    try {
      if (texts === null) throw failure;
      this.#current = load(texts);
      changed();
      log.info({ files: paths }, `the changed ${what} is used from now on`);
    } catch (error) {
      const text = `${this.#names()} cannot be used after a change; the earlier contents stay in use`;
      log.error({ files: paths, error: messageOf(error) }, text);
      refused?.();
    }
  }

  #names(): string {
    return this.#options.files.map(({ flag, path }) => `${flag} ${path}`).join(' with ');
  }
}

function textOf({ path }: { readonly path: string }): string {
  return readSmallFile(path).toString('utf8');
}

function hashOf(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('base64');
}
