/**
 * A change of the log, shared by all subscribers. Its bodies are parsed at first use, in whole or only the members that a filter reads.
 *
 *   new -> what was parsed is kept, because all subscribers that keep up need it at the same time
 *   -> `age` -> bodies are parsed for each late subscriber, because a parsed body takes several times the memory of its text
 */
import { memberText } from '../../catalog/paths/member-text.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { Members } from '../../query/evaluate/members-read.ts';
import type { LoggedChange } from '../../store/types/change.ts';

/** The size of a change without its bodies, in characters. */
const overhead = 200;

/** What was parsed of a body. */
class ParsedBody {
  readonly #text: string;
  #whole: { readonly value: unknown } | null = null;
  readonly #parts: Record<string, unknown> = Object.create(null);
  readonly #names = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The body with these members, and maybe with others. */
  with(members: Members): unknown {
    if (members === 'all' || this.#whole !== null || !members.every((name) => this.#read(name))) return this.#all();
    return this.#parts;
  }

  #all(): unknown {
    this.#whole ??= { value: parseExact(this.#text) };
    return this.#whole.value;
  }

  /** False if the member cannot be found without parsing the whole. */
  #read(name: string): boolean {
    if (this.#names.has(name)) return true;
    const text = memberText(this.#text, name);
    if (text === undefined) return false;
    this.#names.add(name);
    if (text !== null) this.#parts[name] = parseExact(text);
    return true;
  }
}

export class FeedChange {
  readonly logged: LoggedChange;
  #before: ParsedBody | null = null;
  #after: ParsedBody | null = null;
  #isNew = true;

  constructor(logged: LoggedChange) {
    this.logged = logged;
  }

  /** The object before the change, with these members at least; null if it did not exist. */
  before(members: Members = 'all'): unknown {
    const { before } = this.logged;
    if (before === null) return null;
    const body = this.#before ?? new ParsedBody(before);
    if (this.#isNew) this.#before = body;
    return body.with(members);
  }

  /** The object after the change, with these members at least; null if it was deleted. */
  after(members: Members = 'all'): unknown {
    const { after } = this.logged;
    if (after === null) return null;
    const body = this.#after ?? new ParsedBody(after);
    if (this.#isNew) this.#after = body;
    return body.with(members);
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
