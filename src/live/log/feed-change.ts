/**
 * A change of the log, shared by all subscribers. Its bodies are parsed at first use.
 *
 *   new -> parsed bodies are kept, because all subscribers that keep up need them at the same time
 *   -> `age` -> bodies are parsed for each late subscriber, because a parsed body takes several times the memory of its text
 */
import { parseExact } from '../../catalog/values/values.ts';
import type { LoggedChange } from '../../store/types/change.ts';

/** The size of a change without its bodies, in characters. */
const overhead = 200;

export class FeedChange {
  readonly logged: LoggedChange;
  #before: { readonly value: unknown } | null = null;
  #after: { readonly value: unknown } | null = null;
  #isNew = true;

  constructor(logged: LoggedChange) {
    this.logged = logged;
  }

  /** The object before the change; null if it did not exist. */
  before(): unknown {
    const before = this.#before ?? parsed(this.logged.before);
    if (this.#isNew) this.#before = before;
    return before.value;
  }

  /** The object after the change; null if it was deleted. */
  after(): unknown {
    const after = this.#after ?? parsed(this.logged.after);
    if (this.#isNew) this.#after = after;
    return after.value;
  }

  /** Forgets the parsed bodies, and keeps none from now on. */
  age(): void {
    this.#isNew = false;
    this.#before = null;
    this.#after = null;
  }

  /**
   * Can a subscriber apply this change to its objects? It cannot apply a RESET. It also cannot apply a change without the bodies
   * that its type requires: a RESET after the change removes the bodies.
   */
  get continues(): boolean {
    const { type, before, after } = this.logged;
    return type !== 'RESET' && (type === 'ADDED' || before !== null) && (type === 'DELETED' || after !== null);
  }

  /** The number of bodies that were read with it. */
  get bodies(): number {
    return Number(this.logged.before !== null) + Number(this.logged.after !== null);
  }

  /** The size of the change for memory limits, in characters. */
  get size(): number {
    return overhead + (this.logged.before?.length ?? 0) + (this.logged.after?.length ?? 0);
  }
}

function parsed(text: string | null): { readonly value: unknown } {
  return { value: text === null ? null : parseExact(text) };
}
