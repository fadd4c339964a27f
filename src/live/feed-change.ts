/** A change of the log, shared by all subscribers. Its bodies are parsed at first use. */
import { parseExact } from '../catalog/values/values.ts';
import type { LoggedChange } from '../store/types/change.ts';

/** The size of a change without its bodies, in characters. */
const overhead = 200;

export class FeedChange {
  readonly logged: LoggedChange;
  #before: { readonly value: unknown } | null = null;
  #after: { readonly value: unknown } | null = null;

  constructor(logged: LoggedChange) {
    this.logged = logged;
  }

  /** The object before the change; null if it did not exist. */
  before(): unknown {
    this.#before ??= { value: this.logged.before === null ? null : parseExact(this.logged.before) };
    return this.#before.value;
  }

  /** The object after the change; null if it was deleted. */
  after(): unknown {
    this.#after ??= { value: this.logged.after === null ? null : parseExact(this.logged.after) };
    return this.#after.value;
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
