/**
 * A change of the log, shared by all subscribers. Its bodies are parsed at first use, in whole or only the members that a filter reads.
 *
 *   new -> what was parsed is kept, because all subscribers that keep up need it at the same time
 *   -> `age` -> bodies are parsed for each late subscriber, because a parsed body takes several times the memory of its text
 *
 * Bodies are kept as bytes, outside of V8's heap. As strings, they would be most of what survives a collection of young objects, and V8
 * copies what survives twice.
 */
import { memberText } from '../../catalog/paths/member-text.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { Members } from '../../query/evaluate/members-read.ts';
import type { LoggedChange, LoggedEntry } from '../../store/types/change.ts';

/** The size of a change without its bodies, in bytes. */
const overhead = 200;

/** The parsed parts of a body. */
class ParsedBody {
  #whole: { readonly value: unknown } | null = null;
  readonly #parts: Record<string, unknown> = Object.create(null);
  readonly #names = new Set<string>();

  /** The body with these members, and maybe with others. */
  with(members: Members, bytes: Buffer): unknown {
    if (this.#whole !== null) return this.#whole.value;
    if (members !== 'all' && members.every((name) => this.#names.has(name))) return this.#parts;
    const text = bytes.toString();
    if (members !== 'all' && members.every((name) => this.#read(name, text))) return this.#parts;
    this.#whole = { value: parseExact(text) };
    return this.#whole.value;
  }

  /** False if the member cannot be found without parsing the whole. */
  #read(name: string, body: string): boolean {
    if (this.#names.has(name)) return true;
    const text = memberText(body, name);
    if (text === undefined) return false;
    this.#names.add(name);
    if (text !== null) this.#parts[name] = parseExact(text);
    return true;
  }
}

export class FeedChange {
  readonly logged: LoggedEntry;
  readonly #beforeBytes: Buffer | null;
  readonly #afterBytes: Buffer | null;
  #before: ParsedBody | null = null;
  #after: ParsedBody | null = null;
  #isNew = true;

  constructor({ before, after, ...logged }: LoggedChange) {
    this.logged = logged;
    this.#beforeBytes = before === null ? null : bytesOf(before);
    this.#afterBytes = after === null ? null : bytesOf(after);
  }

  /** Is the object before the change known? An object that did not exist is not. */
  get hasBefore(): boolean {
    return this.#beforeBytes !== null;
  }

  /** The same for the object after the change. */
  get hasAfter(): boolean {
    return this.#afterBytes !== null;
  }

  /** The object before the change, with these members at least; null if it did not exist. */
  before(members: Members = 'all'): unknown {
    if (this.#beforeBytes === null) return null;
    const body = this.#before ?? new ParsedBody();
    if (this.#isNew) this.#before = body;
    return body.with(members, this.#beforeBytes);
  }

  /** The object after the change, with these members at least; null if it was deleted. */
  after(members: Members = 'all'): unknown {
    if (this.#afterBytes === null) return null;
    const body = this.#after ?? new ParsedBody();
    if (this.#isNew) this.#after = body;
    return body.with(members, this.#afterBytes);
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
    const { type } = this.logged;
    return type !== 'RESET' && (type === 'ADDED' || this.hasBefore) && (type === 'DELETED' || this.hasAfter);
  }

  /** The number of bodies that were read with it. */
  get bodies(): number {
    return Number(this.hasBefore) + Number(this.hasAfter);
  }

  /** The size of the change for memory limits, in bytes. */
  get size(): number {
    return overhead + (this.#beforeBytes?.length ?? 0) + (this.#afterBytes?.length ?? 0);
  }
}

/** Not from Node's pool: a body that is kept would keep the other bytes of its slab. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
