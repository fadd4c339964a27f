/**
 * Detects that a server's OpenAPI schemas have changed since its kinds were described. This happens after an upgrade. It also
 * happens after a change of a CustomResourceDefinition that cannot be read.
 *
 *   each round: the mark (a hash) of every group version -> it has changed: unsettled -> the same for `stableMs`: describe again, once
 *
 * During a rolling upgrade, requests reach old and new servers, and the marks alternate. The known schemas stay in use until the
 * marks are stable.
 */
import type { Clock } from '../../base/clock.ts';

interface Seen {
  readonly mark: string;
  /** Monotonic milliseconds of the first round in a row that returned this mark. */
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

  /** Returns the group versions to describe again. A missing group version keeps its recorded state. */
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
