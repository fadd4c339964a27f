/**
 * The JSON documents at the beginning of a text, as kubectl finds them: one after the other, with or without white space between.
 *
 *   {"kind": "Pod"}{"kind": "Service"}
 *
 * Numbers keep their digits if they are integers. Keys are those of object-keys.ts.
 * Never: decides what a text is that is no JSON. {@link NotJson} leaves that to the caller, who reads it as YAML.
 */
import { exactInteger } from './exact-number.ts';
import type { ManifestBudget } from './manifest-bounds.ts';
import type { ManifestText } from './manifest-text.ts';
import { ObjectKeys } from './object-keys.ts';
import type { ReadDocument } from './yaml-documents.ts';

/** The text is no JSON from `offset` on. */
export class NotJson extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super('not JSON');
    this.offset = offset;
  }
}

/**
 * @throws NotJson
 * @throws PortolanError BAD_USER_INPUT
 */
export class JsonDocuments {
  readonly #source: ManifestText;
  readonly #text: string;
  readonly #budget: ManifestBudget;
  #at = 0;
  #end = 0;

  constructor(source: ManifestText, budget: ManifestBudget) {
    this.#source = source;
    this.#text = source.text;
    this.#budget = budget;
  }

  /** The offset after the documents that were read. */
  get end(): number {
    return this.#end;
  }

  /** The next document; null at the end of the text. */
  next(): ReadDocument | null {
    this.#skipSpace();
    const offset = this.#at;
    if (offset === this.#text.length) return null;
    const value = this.#value(1);
    this.#budget.document();
    this.#end = this.#at;
    return { value, offset };
  }

  #value(level: number): unknown {
    this.#budget.values(1);
    switch (this.#text[this.#at]) {
      case '{':
        this.#budget.level(level);
        return this.#object(level);
      case '[':
        this.#budget.level(level);
        return this.#list(level);
      case '"':
        return this.#string();
      default:
        return this.#word();
    }
  }

  #object(level: number): unknown {
    const made: Record<string, unknown> = {};
    const keys = new ObjectKeys(this.#source);
    this.#items('}', () => {
      this.#budget.values(1);
      const offset = this.#at;
      const key = this.#string();
      keys.add(key, offset);
      this.#skipSpace();
      this.#take(':');
      this.#skipSpace();
      made[key] = this.#value(level + 1);
    });
    return made;
  }

  #list(level: number): unknown {
    const made: unknown[] = [];
    this.#items(']', () => made.push(this.#value(level + 1)));
    return made;
  }

  #items(end: string, item: () => void): void {
    this.#at++;
    this.#skipSpace();
    if (this.#text[this.#at] === end) this.#at++;
    else
      for (;;) {
        item();
        this.#skipSpace();
        if (this.#text[this.#at++] === end) return;
        this.#at--;
        this.#take(',');
        this.#skipSpace();
      }
  }

  #string(): string {
    const start = this.#at;
    this.#take('"');
    let end = this.#at;
    for (;;) {
      end = this.#text.indexOf('"', end);
      if (end === -1) throw new NotJson(start);
      let backslashes = 0;
      while (this.#text[end - 1 - backslashes] === '\\') backslashes++;
      end++;
      if (backslashes % 2 === 0) break;
    }
    this.#at = end;
    try {
      return JSON.parse(this.#text.slice(start, end)) as string;
    } catch {
      throw new NotJson(start);
    }
  }

  #word(): unknown {
    const start = this.#at;
    const [word] = this.#match(/true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y) ?? [];
    if (word === undefined) throw new NotJson(start);
    if (!/[0-9]/.test(word)) return JSON.parse(word) as unknown;
    const number = Number(word);
    if (!Number.isFinite(number))
      throw this.#source.error(start, 'A number is too great', 'Write a smaller number, or text in quotes.');
    return /[.eE]/.test(word) ? number + 0 : exactInteger(BigInt(word));
  }

  #skipSpace(): void {
    this.#match(/[ \t\n\r]*/y);
  }

  #take(expected: string): void {
    if (this.#text[this.#at] !== expected) throw new NotJson(this.#at);
    this.#at++;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}
