/** Progress of the first sync: one rewritten line on a terminal, a new line every `interval` elsewhere. */
import type { IngestProgress } from '../ingest/context/progress.ts';

interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Milliseconds between lines when the line cannot be rewritten. */
const interval = 2000;

export class ProgressLine {
  readonly #output: Output;
  readonly #clock: () => number;
  readonly #began: number;
  #last = Number.NEGATIVE_INFINITY;
  #finished = false;
  #progress: IngestProgress | null = null;

  constructor(output: Output, clock: () => number) {
    this.#output = output;
    this.#clock = clock;
    this.#began = clock();
  }

  show(progress: IngestProgress): void {
    if (this.#finished) return;
    this.#progress = progress;
    const now = this.#clock();
    if (this.#output.isTTY === true) {
      this.#output.write(`\r\x1b[K${this.#text(progress)}`);
    } else if (now - this.#last >= interval) {
      this.#last = now;
      this.#output.write(`${this.#text(progress)}\n`);
    }
  }

  /** Writes the last lines: the totals, and each resource that is not synced. */
  finish(): void {
    if (this.#finished || this.#progress === null) return;
    this.#finished = true;
    const start = this.#output.isTTY === true ? '\r\x1b[K' : '';
    const { resourcesTotal, failing } = this.#progress;
    if (resourcesTotal === 0 && failing.length === 0) {
      this.#output.write(`${start}Nothing is served: no resource matches --kinds and --exclude.\n`);
      return;
    }
    this.#output.write(`${start}Synced: ${this.#text(this.#progress)}\n`);
    for (const { cluster, resource, error } of failing) {
      this.#output.write(`  not synced: ${resource} of ${cluster}: ${error}\n`);
    }
  }

  #text({ resourcesDone, resourcesTotal, objects }: IngestProgress): string {
    const seconds = ((this.#clock() - this.#began) / 1000).toFixed(1);
    return `${resourcesDone} of ${resourcesTotal} resources, ${objects} objects, ${seconds} s`;
  }
}
