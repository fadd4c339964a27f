/** A change of the log with its bodies parsed when first looked at, shared by all subscribers. */
import { parseExact } from '../catalog/values/values.ts';
import type { LoggedChange } from '../store/types/change.ts';

/** Characters that a change counts for besides its bodies. */
const overhead = 200;

export class FeedChange {
  readonly logged: LoggedChange;
  #before: { readonly value: unknown } | null = null;
  #after: { readonly value: unknown } | null = null;

  constructor(logged: LoggedChange) {
    this.logged = logged;
  }

  /** The object before the change; null where there was none. */
  before(): unknown {
    this.#before ??= { value: this.logged.before === null ? null : parseExact(this.logged.before) };
    return this.#before.value;
  }

  /** The object after the change; null when it is gone. */
  after(): unknown {
    this.#after ??= { value: this.logged.after === null ? null : parseExact(this.logged.after) };
    return this.#after.value;
  }

  /**
   * Does it continue what was before, with the bodies that its type promises? A RESET does not, nor does a change whose bodies went
   * with the rows, or were forgotten, when a RESET followed it.
   */
  get continues(): boolean {
    const { type, before, after } = this.logged;
    return type !== 'RESET' && (type === 'ADDED' || before !== null) && (type === 'DELETED' || after !== null);
  }

  /** What it counts for where memory is bounded, in characters. */
  get size(): number {
    return overhead + (this.logged.before?.length ?? 0) + (this.logged.after?.length ?? 0);
  }
}
