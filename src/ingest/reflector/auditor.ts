/**
 * Has every collection of a cluster compared with its server once in an interval, one after the other, spread over it.
 *
 * Never: audits two at a time, or what is not watching; a comparison that fails is no finding, and is made again in the next round.
 */
import type { Clock, Random } from '../../base/clock.ts';

interface AuditorContext {
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds; each wait is up to a fifth shorter or longer. */
  readonly intervalMs: number;
  /** What there is to audit now; each never rejects. */
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

  /** Resolves when nothing of it is left. */
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
