/**
 * The index advisor: observes which paths queries need, and reports them to the ingest side, which promotes paths.
 *
 *   plan needs a path without a slot -> third use in 10 minutes, or first timeout -> report: promote the path
 *   ingest side                      -> gives the path a slot and fills it
 *   plan uses a path promoted for queries -> report, at most every 10 minutes: the path is in use
 *
 * Reports of use keep a path promoted: the slot of an unused path goes to another path.
 *
 * Keeps hints only. If a report is refused or lost, later queries repeat it.
 */
import type { Clock } from '../../base/clock.ts';
import { isNarrow, type PathNeed, type PlanNote, pathNeeds, readsRolledUp } from '../../query/route/plan-note.ts';
import type { PathUse } from '../../store/types/kind-layout.ts';

/** Uses of a path without a slot before it is reported. */
const usesToReport = 3;
/** Window of these uses, in milliseconds. */
const windowMs = 600_000;
/** Least time between two reports of one path, in milliseconds. */
const reportIntervalMs = 600_000;
/** Any part of the rolled-up health: the store keeps all of them together. It is reported at its first use. */
const rolledUp = { path: 'health.rollUp.severity', type: 'Int' } as const;
/** Bound of the paths in memory. */
const mostPaths = 1000;

interface Seen {
  uses: number;
  since: number;
  reportedAt: number;
}

export class IndexAdvisor {
  readonly #clock: Clock;
  readonly #report: ((use: PathUse) => void) | null;
  /** By kind, type and path; the least recently used first. */
  readonly #seen = new Map<string, Seen>();

  /** Cache of reportableNeeds, because one plan may run many times. */
  readonly #needs = new WeakMap<PlanNote, readonly ReportableNeed[]>();

  /** @param report requests a path or reports its use; null when paths are not promoted on demand. */
  constructor(clock: Clock, report: ((use: PathUse) => void) | null) {
    this.#clock = clock;
    this.#report = report;
  }

  /** Are paths promoted when queries need them? */
  get promotesOnDemand(): boolean {
    return this.#report !== null;
  }

  /** Call when a list or an aggregate was planned. */
  planned(note: PlanNote): void {
    if (this.#report === null) return;
    const needs = this.#needs.get(note) ?? reportableNeeds(note);
    this.#needs.set(note, needs);
    for (const { requiredUses, ...need } of needs) this.#use(note.kind.key, need, requiredUses);
  }

  /** Call when a read of this plan timed out. */
  cut(note: PlanNote): void {
    if (this.#report === null) return;
    for (const need of missingPaths(note)) this.#use(note.kind.key, need, 1);
  }

  #use(key: string, { path, type }: Pick<PathNeed, 'path' | 'type'>, requiredUses: number): void {
    const now = this.#clock.monotonic();
    const name = `${key} ${type} ${path}`;
    const seen = this.#seen.get(name) ?? { uses: 0, since: now, reportedAt: Number.NEGATIVE_INFINITY };
    this.#seen.delete(name);
    this.#seen.set(name, seen);
    if (now - seen.since > windowMs) Object.assign(seen, { uses: 0, since: now });
    seen.uses += 1;
    if (seen.uses >= requiredUses && now - seen.reportedAt >= reportIntervalMs) {
      seen.reportedAt = now;
      this.#report?.({ key, path, type });
    }
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= mostPaths) break;
      this.#seen.delete(oldest);
    }
  }
}

interface ReportableNeed extends Pick<PathNeed, 'path' | 'type'> {
  readonly requiredUses: number;
}

/** The needs of a plan to report: paths without a slot, ready slots that exist only because of queries, and roll-ups. */
function reportableNeeds(note: PlanNote): readonly ReportableNeed[] {
  const narrow = isNarrow(note);
  const needs = pathNeeds(note).flatMap(({ path, type, slot }): readonly ReportableNeed[] => {
    if (slot === null) return narrow ? [] : [{ path, type, requiredUses: usesToReport }];
    return slot.ready && slot.reason === 'QUERIES' ? [{ path, type, requiredUses: 1 }] : [];
  });
  return readsRolledUp(note) ? [...needs, { ...rolledUp, requiredUses: 1 }] : needs;
}

/** The paths of a plan without a usable index. An index that is being filled is not usable yet. */
export function missingPaths(note: PlanNote): readonly PathNeed[] {
  return isNarrow(note) ? [] : pathNeeds(note).filter(({ slot }) => slot === null || !slot.ready);
}
