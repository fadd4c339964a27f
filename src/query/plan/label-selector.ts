/**
 * Label selectors as text, in the API server's grammar (`labelSelector` of a list request):
 *
 *   selector    = [ requirement *( "," requirement ) ]
 *   requirement = [ "!" ] key | key ( "=" | "==" | "!=" ) [ value ] | key ( ">" | "<" ) integer
 *               | key ( "in" | "notin" ) "(" [ value ] *( "," [ value ] ) ")"
 *
 * Spaces are allowed between tokens. `in` and `notin` are operators only after a key. `a!=b` and `a notin (b)` match objects
 * without the label. `a in ()` is `a in ("")`. `a>1` matches a label that is an integer of 64 bits.
 *
 *   app=web,tier notin (a, b),!old   ->   app In [web], tier NotIn [a, b], old DoesNotExist
 */
import { PortolanError } from '../../base/errors.ts';
import { labelNumber } from '../../catalog/values/label-requirement.ts';
import type { LabelRequirement } from './filter.ts';

/** Far above real use; bounds untrusted input. */
const mostRequirements = 100;

/** Go knows these blanks only. */
const token = /[ \t\r\n]*(?:(==|=|!=|!|,|\(|\)|>|<)|([^ \t\r\n=!,()<>]+)|$)/y;

interface Token {
  readonly kind: 'symbol' | 'word' | 'end';
  readonly text: string;
  readonly at: number;
}

/**
 * Parses a selector. An empty one has no requirements.
 * @throws PortolanError BAD_USER_INPUT with the position (counted from 0).
 */
export function parseLabelSelector(text: string): readonly LabelRequirement[] {
  return new Parser(text).selector();
}

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokenize(text);
  }

  selector(): readonly LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#peek().kind === 'end') return requirements;
    for (;;) {
      if (requirements.length === mostRequirements) this.#refuse(`has more than ${mostRequirements} requirements`);
      requirements.push(this.#requirement());
      if (this.#peek().kind === 'end') return requirements;
      this.#symbol(',', 'a comma or the end');
    }
  }

  #requirement(): LabelRequirement {
    if (this.#take('!')) return { key: this.#key(), operator: 'DoesNotExist', values: [] };
    const key = this.#key();
    const operator = this.#peek();
    if (operator.kind === 'end' || operator.text === ',') return { key, operator: 'Exists', values: [] };
    if (operator.kind === 'word') {
      if (operator.text !== 'in' && operator.text !== 'notin') this.#refuse('needs an operator, "," or the end');
      this.#next += 1;
      return { key, operator: operator.text === 'in' ? 'In' : 'NotIn', values: this.#values() };
    }
    if (operator.text === '>' || operator.text === '<') {
      this.#next += 1;
      if (labelNumber(this.#peek().text) === null) this.#refuse(`needs an integer after ${operator.text}`);
      return { key, operator: operator.text === '>' ? 'Gt' : 'Lt', values: [this.#value()] };
    }
    if (this.#take('=') || this.#take('==')) return { key, operator: 'In', values: [this.#value()] };
    this.#symbol('!=', 'an operator, "," or the end');
    return { key, operator: 'NotIn', values: [this.#value()] };
  }

  #values(): readonly string[] {
    this.#symbol('(', '"("');
    const values = [this.#value()];
    while (this.#take(',')) values.push(this.#value());
    this.#symbol(')', '"," or ")"');
    return [...new Set(values)];
  }

  #key(): string {
    const word = this.#peek();
    if (word.kind !== 'word') this.#refuse('needs a label key');
    const problem = keyProblem(word.text);
    if (problem !== null) this.#refuse(problem);
    this.#next += 1;
    return word.text;
  }

  /** A value, possibly empty: `app=` compares with the empty string. */
  #value(): string {
    const word = this.#peek();
    if (word.kind !== 'word') return '';
    const problem = valueProblem(word.text);
    if (problem !== null) this.#refuse(problem);
    this.#next += 1;
    return word.text;
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end', text: '', at: this.#text.length };
  }

  #take(symbol: string): boolean {
    const next = this.#peek();
    if (next.kind !== 'symbol' || next.text !== symbol) return false;
    this.#next += 1;
    return true;
  }

  #symbol(symbol: string, wanted: string): void {
    if (!this.#take(symbol)) this.#refuse(`needs ${wanted}`);
  }

  #refuse(why: string): never {
    const { at } = this.#peek();
    const shown = this.#text.length > 60 ? `${this.#text.slice(0, 60)}…` : this.#text;
    throw new PortolanError(
      'BAD_USER_INPUT',
      `The label selector ${JSON.stringify(shown)} ${why} (at character ${at}).`,
      { details: { position: at } },
    );
  }
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  token.lastIndex = 0;
  for (;;) {
    const match = token.exec(text);
    if (match === null) return tokens;
    const [whole, symbol, word] = match;
    if (symbol === undefined && word === undefined) return tokens;
    const found = symbol ?? word ?? '';
    tokens.push({
      kind: symbol === undefined ? 'word' : 'symbol',
      text: found,
      at: match.index + whole.length - found.length,
    });
  }
}

const name = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const prefix = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

function keyProblem(key: string): string | null {
  const parts = key.split('/');
  const last = parts.at(-1) ?? '';
  const before = parts.length === 2 ? parts[0] : undefined;
  if (parts.length > 2 || (before !== undefined && (before.length > 253 || !prefix.test(before)))) {
    return 'has a label key whose prefix is not a DNS name';
  }
  return name.test(last)
    ? null
    : 'has a label key that is not 1 to 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends';
}

function valueProblem(value: string): string | null {
  return name.test(value)
    ? null
    : 'has a label value that is not at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends';
}
