/**
 * Audits every collection of a cluster once per interval, one after the other, with even spacing.
 *
 * It never runs two audits at a time, and audits only collections that are watched. A failed comparison is no finding; the
 * next interval repeats it.
 */
import type { Clock, Random } from '../../base/clock.ts';

interface AuditorContext {
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds; each wait is up to a fifth shorter or longer. */
  readonly intervalMs: number;
  /** The collections to audit now; each audit never rejects. */
  readonly audits: () => readonly ((stop: AbortSignal) => Promise<void>)[];
}

export class Auditor {
  readonly #context: AuditorContext;
  readonly #stop = new AbortController();
  readonly #loop: Promise<void>;

  constructor(context: AuditorContext) {
    this.#context = context;
    this.#loop = this.#run(this.#stop.signal).catch(() => {});
  }

  /** Resolves when no audit runs any more. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the auditor was stopped'));
    await this.#loop;
  }

  async #run(stop: AbortSignal): Promise<void> {
    const { audits, clock, intervalMs, random } = this.#context;
    const wait = (ms: number): Promise<void> => clock.sleep(ms * (0.8 + 0.4 * random()), stop);
    while (!stop.aborted) {
      const round = audits();
      if (round.length === 0) await wait(intervalMs);
      for (const audit of round) {
        await wait(intervalMs / round.length);
        await audit(stop);
      }
    }
  }
}
