/**
 * Asks the door itself, again and again, whether it could answer a list.
 *
 *   probe answers within 2 s     healthy; the next probe is a second later
 *   probe fails, or is late      ill, with the reason, until a probe answers
 *
 * An aggregated API server harms a cluster most if its discovery answers while its lists hang: several controllers wait for it. So discovery
 * answers 503 while the door is ill. kube-apiserver then says that the group is unavailable.
 *
 * The probe is small and always the same. It is never a request of a user, so a user's load does not make the door ill by its size.
 */
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';

interface WatchdogOptions {
  /** Resolves if a list could be answered; rejects with the reason. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
}

const everyMs = 1000;
const patienceMs = 2000;

export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #stop = new AbortController();
  #illness: string | null = 'it has not been asked yet';

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** Why the door cannot answer; null if it can. */
  get illness(): string | null {
    return this.#illness;
  }

  start(): void {
    void this.#run();
  }

  close(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#probe();
      await this.#options.clock.sleep(everyMs, signal).catch(() => {});
    }
  }

  /** Ends with the probe. Never rejects. */
  async #probe(): Promise<void> {
    const { probe, clock } = this.#options;
    const over = new AbortController();
    const late = clock.sleep(patienceMs, over.signal).then(
      () => {
        this.#illness = `a list was not answered within ${patienceMs} ms`;
      },
      () => {},
    );
    try {
      await probe(this.#stop.signal);
      over.abort();
      await late;
      this.#illness = null;
    } catch (error) {
      over.abort();
      await late;
      this.#illness = messageOf(error);
    }
  }
}
