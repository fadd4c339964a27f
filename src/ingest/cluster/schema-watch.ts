/**
 * Notices that a server describes its kinds in another way than when they were described: after an upgrade, or where a definition
 * cannot be read itself.
 *
 *   each round: the mark of every group version -> another than before: unsettled -> the same for `stableMs`: read it anew, once
 *
 * While servers are upgraded one by one, each answers in its own way and the marks go to and fro: what is known stays until they stand.
 */
import type { Clock } from '../../base/clock.ts';

interface Seen {
  readonly mark: string;
  /** Monotonic milliseconds since when it has been this one at every look. */
  readonly since: number;
  readonly unsettled: boolean;
}

export class SchemaWatch {
  readonly #clock: Clock;
  readonly #stableMs: number;
  readonly #seen = new Map<string, Seen>();

  constructor(clock: Clock, stableMs: number) {
    this.#clock = clock;
    this.#stableMs = stableMs;
  }

  /** The group versions to read anew. One that is missing now is left as it was. */
  look(marks: ReadonlyMap<string, string>): readonly string[] {
    const now = this.#clock.monotonic();
    const due: string[] = [];
    for (const [groupVersion, mark] of marks) {
      const seen = this.#seen.get(groupVersion);
      if (seen?.mark !== mark) this.#seen.set(groupVersion, { mark, since: now, unsettled: seen !== undefined });
      else if (seen.unsettled && now - seen.since >= this.#stableMs) {
        this.#seen.set(groupVersion, { ...seen, unsettled: false });
        due.push(groupVersion);
      }
    }
    return due;
  }
}
