/**
 * Reports each item of a mutation of a set at least once to the follower. Members are reported when they are planned or written, and all
 * others at the end.
 *
 *   begun 4 -> web written -> api written -> the end: colours, which was left alone; the record -> the report
 */
import type { WriteTarget } from '../../writes/request/write-intent.ts';
import type { ReportedItem } from '../../writes/session/reported-item.ts';
import type { WriteReport } from '../../writes/session/session-report.ts';
import type { Follower } from '../../writes/session/write-session.ts';

export class SetFollower implements Follower {
  readonly #follower: Follower;
  readonly #told = new Set<WriteTarget>();
  #isBegun = false;

  constructor(follower: Follower) {
    this.#follower = follower;
  }

  get signal(): AbortSignal | undefined {
    return this.#follower.signal;
  }

  /** The first call counts. */
  begun(total: number): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#follower.begun(total);
  }

  told(item: ReportedItem): void {
    this.#told.add(item.intent.target);
    this.#follower.told(item);
  }

  ended(release: () => void): void {
    this.#follower.ended(release);
  }

  /** Reports the items that were not reported yet. */
  end(report: WriteReport): WriteReport {
    this.begun(report.items.length);
    for (const item of report.items) if (!this.#told.has(item.intent.target)) this.told({ ...item, seen: false });
    return report;
  }
}
