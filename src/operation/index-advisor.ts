/**
 * Which paths queries are seen to need without there being an index, and when that is told to whoever can make one.
 *
 *   a plan needs a path that has no slot -> the third time within a while, or at once when a read was cut: it is asked for -> (it has a
 *   slot and fills it) -> plans use it, which is told now and then, so that a path nobody uses makes room for others
 *
 * Owns no truth: a wish that is refused or lost comes again with the next queries.
 */
import type { Clock } from '../base/clock.ts';
import { isNarrow, type PathNeed, type PlanNote, pathNeeds } from '../query/route/plan-note.ts';
import type { PathUse } from '../store/types/kind-layout.ts';

/** Uses that make a need. */
const enough = 3;
/** Milliseconds in which they must come. */
const withinMs = 600_000;
/** Milliseconds until the same is told again. */
const againMs = 600_000;
/** Paths that are remembered. */
const mostPaths = 1000;

interface Seen {
  uses: number;
  since: number;
  toldAt: number;
}

export class IndexAdvisor {
  readonly #clock: Clock;
  readonly #tell: ((use: PathUse) => void) | null;
  /** By kind, type and path; the one seen longest ago first. */
  readonly #seen = new Map<string, Seen>();

  /** A plan may be carried out many times. */
  readonly #toTell = new WeakMap<PlanNote, readonly PathNeed[]>();

  /** @param tell asks for a path or tells that it is used; null where nobody promotes what queries need. */
  constructor(clock: Clock, tell: ((use: PathUse) => void) | null) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Are paths promoted that queries need? */
  get granted(): boolean {
    return this.#tell !== null;
  }

  /** A list or an aggregate was planned. */
  planned(note: PlanNote): void {
    if (this.#tell === null) return;
    const told = this.#toTell.get(note) ?? toTell(note);
    this.#toTell.set(note, told);
    for (const need of told) this.#use(note.kind.key, need, need.slot === null ? enough : 1);
  }

  /** A read was cut before it came to an end. */
  cut(note: PlanNote): void {
    if (this.#tell === null) return;
    for (const need of missingPaths(note)) this.#use(note.kind.key, need, 1);
  }

  #use(key: string, { path, type }: PathNeed, enough: number): void {
    const now = this.#clock.monotonic();
    const name = `${key} ${type} ${path}`;
    const seen = this.#seen.get(name) ?? { uses: 0, since: now, toldAt: Number.NEGATIVE_INFINITY };
    this.#seen.delete(name);
    this.#seen.set(name, seen);
    if (now - seen.since > withinMs) Object.assign(seen, { uses: 0, since: now });
    seen.uses += 1;
    if (seen.uses >= enough && now - seen.toldAt >= againMs) {
      seen.toldAt = now;
      this.#tell?.({ key, path, type });
    }
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= mostPaths) break;
      this.#seen.delete(oldest);
    }
  }
}

/** What there is to tell of a plan: paths without a slot, and slots that there are for queries alone. */
function toTell(note: PlanNote): readonly PathNeed[] {
  const narrow = isNarrow(note);
  return pathNeeds(note).filter(({ slot }) => (slot === null ? !narrow : slot.ready && slot.reason === 'QUERIES'));
}

/** The paths of a plan that have no index to be used; one that is being filled is none yet. */
export function missingPaths(note: PlanNote): readonly PathNeed[] {
  return isNarrow(note) ? [] : pathNeeds(note).filter(({ slot }) => slot === null || !slot.ready);
}
