/** The live lists of a page: subscriptions folded by the printed helper, whichever client carries them. */
import type { Message, PodRow } from './documents.ts';

interface Held {
  readonly objects: readonly PodRow[];
  readonly cursor: string | null;
  readonly whole: boolean;
}

interface Live {
  held: Held;
  readonly phases: string[];
  failed: string | null;
}

export class LiveLists {
  readonly #lists = new Map<string, Live>();
  readonly #fold: (held: Held, message: Message) => Held;

  constructor(fold: (held: Held, message: Message) => Held) {
    this.#fold = fold;
  }

  begin(name: string, held: Held): { next(message: Message): void; fail(error: unknown): void } {
    const live: Live = { held, phases: [], failed: null };
    this.#lists.set(name, live);
    return {
      next: (message) => {
        live.phases.push(message.phase);
        live.held = this.#fold(live.held, message);
      },
      fail: (error) => {
        live.failed = error instanceof Error ? error.message : JSON.stringify(error);
      },
    };
  }

  show(name: string): { rows: readonly PodRow[]; phases: readonly string[]; whole: boolean; failed: string | null } {
    const live = this.#lists.get(name);
    if (live === undefined) return { rows: [], phases: [], whole: false, failed: `there is no list ${name}` };
    return { rows: live.held.objects, phases: live.phases, whole: live.held.whole, failed: live.failed };
  }
}
