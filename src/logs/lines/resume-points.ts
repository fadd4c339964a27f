/** The positions in the logs of one subscription: in logs that are read, and in former ones that may come back. */
import { ResumePoint } from './resume-point.ts';

/** Logs that are not read and may come back. */
const mostLeft = 2000;

/** The logs that are read now. */
interface Read {
  readonly size: number;
  has(key: string): boolean;
}

export class ResumePoints {
  /** The logs that were left last are at the end, besides the logs that are read. */
  readonly #points = new Map<string, ResumePoint>();

  get size(): number {
    return this.#points.size;
  }

  /** Where a log stands; a new point for one that was not read before. */
  of(key: string): ResumePoint {
    const point = this.#points.get(key) ?? new ResumePoint();
    this.#points.set(key, point);
    return point;
  }

  /** A log is not read any more. Beyond the bound, the logs that were left first are forgotten. */
  left(key: string, read: Read): void {
    const point = this.of(key);
    this.#points.delete(key);
    this.#points.set(key, point);
    for (const each of this.#points.keys()) {
      if (this.#points.size <= mostLeft + read.size) return;
      if (!read.has(each)) this.#points.delete(each);
    }
  }
}
