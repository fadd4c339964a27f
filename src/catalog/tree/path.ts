/**
 * Path: the one grammar for locations in a field tree. Orders, filters, promotion, printer columns, relations and changedPaths
 * use it.
 *
 *   path    = plain | fold "(" plain ")" | ( "min" | "max" ) "(" plain 1*( "," plain ) ")"
 *   fold    = "sum" | "min" | "max" | "count"     one value that the values of lists, or of several paths, come to
 *   plain   = ( name | bracket ) *( "." name | bracket )
 *   bracket = "[]"                       every element of a list
 *           | "[" digits "]"             one element of a list, counted from 0
 *           | "[" member "=" value "]"   the first element of a list whose member has this value
 *           | "[" string "]"             the value under a key of a map, or a field whose name is not plain
 *   name    = 1*( A-Z / a-z / 0-9 / "_" / "-" )
 *   member  = name | string
 *   value   = 1*( A-Z / a-z / 0-9 / "_" / "-" / "." / ":" / "/" / "@" / "+" ) | string
 *   string  = JSON string in double quotes; single quotes are taken too, with \' in place of \"
 *
 * Examples: `a.b`, `list[]`, `sum(list[].n)`, `max(a.b, c)`, `list[0]`, `conditions[type=Ready].status`, `labels["app.kubernetes.io/name"]`.
 * Names are as Kubernetes writes them. A relation is a step by name like any field.
 *
 * A quoted name and a map key have the same syntax. The text alone does not distinguish them. Both find a value in the same
 * way. resolvePath (resolve-path.ts) distinguishes them by the field tree and returns the canonical text.
 *
 * `cluster` and `id` of a whole object are parts of its identity (`pathIn` of src/reads/paths/kinds-path.ts). `health.status` and
 * the other parts of the health are computed from the object (src/catalog/health). `health.rollUp.status` and
 * `health.rollUp.severity` also depend on what the object owns. A field with one of these names at a kind's root is written `["cluster"]`.
 *
 * A path that is relative to a list's element may start with a bracket. The path of the element itself is empty; its text is not
 * parsable.
 */
import { PortolanError } from '../../base/errors.ts';
import { splitList } from '../../base/text/split-list.ts';

export type PathStep =
  /** A field of an object. */
  | { readonly kind: 'field'; readonly name: string }
  /** Every element of a list. */
  | { readonly kind: 'each' }
  /** One element of a list, counted from 0. */
  | { readonly kind: 'index'; readonly index: number }
  /** The first element of a list whose field has this value; numbers and booleans are compared by their JSON text. */
  | { readonly kind: 'where'; readonly field: string; readonly value: string }
  /** The value under a key of a map. */
  | { readonly kind: 'key'; readonly key: string }
  /** The values at each of these paths, none of which has a fold. The only step of its path, which has the fold `min` or `max`. */
  | { readonly kind: 'several'; readonly of: readonly Path[] }
  /** A part of the object's identity that its body does not have. The only step of its path. */
  | { readonly kind: 'identity'; readonly name: IdentityName }
  /** A part of the object's health, which is computed from its body. The only step of its path. */
  | { readonly kind: 'health'; readonly name: HealthName }
  /** The worst health of the object and of all that it owns. The only step of its path. */
  | { readonly kind: 'rollUp'; readonly name: RollUpName };

/** The parts of an object's identity that callers name in paths: the cluster's name, and the object id. */
export const identityNames = ['cluster', 'id'] as const;
type IdentityName = (typeof identityNames)[number];

/** The parts of an object's health. */
export const healthNames = ['status', 'reason', 'message', 'source'] as const;
export type HealthName = (typeof healthNames)[number];

/** The parts of a rolled-up health. `severity` is the status as a number: 0 for Current, 5 for Failed. */
export const rollUpNames = ['status', 'severity'] as const;
export type RollUpName = (typeof rollUpNames)[number];

/** The name in a path of one identity step; null for other paths. */
export function identityIn({ steps: [step] }: Pick<Path, 'steps'>): IdentityName | null {
  return step?.kind === 'identity' ? step.name : null;
}

/** Is the path's value not found at a place in the body? It is a part of the object's identity or health. */
export function isDerived({ steps: [step] }: Pick<Path, 'steps'>): boolean {
  return step?.kind === 'identity' || step?.kind === 'health' || step?.kind === 'rollUp';
}

/** Does the value of the path depend on other objects? */
export function isRolledUp({ steps: [step] }: Pick<Path, 'steps'>): boolean {
  return step?.kind === 'rollUp';
}

/** How the values at a path through lists become one value. */
export const listFolds = ['sum', 'min', 'max', 'count'] as const;
export type ListFold = (typeof listFolds)[number];

export interface Path {
  /** Canonical text. */
  readonly text: string;
  readonly steps: readonly PathStep[];
  /** The path has one value, which all values at `steps` come to. */
  readonly fold?: ListFold;
}

/** May an object have several values at the path? */
export function isThroughLists({ steps, fold }: Path): boolean {
  return fold === undefined && steps.some(({ kind }) => kind === 'each');
}

/** Longest text and most steps that {@link parsePath} takes. Callers' paths are untrusted input; real paths are far shorter. */
export const maxPathLength = 2000;
export const maxSteps = 100;
/** Most steps `[]` and `[name=value]` of a path. Each is one more query inside the SQL of a condition, and SQLite bounds their depth. */
const maxListSteps = 8;

/** Most paths of a fold over several. */
const mostSeveral = 8;

const foldedText = /^(sum|min|max|count)\((.*)\)$/s;
const plainName = /^[A-Za-z0-9_-]+$/;
const plainValue = /^[A-Za-z0-9_.:/@+-]+$/;
const nameAt = /[A-Za-z0-9_-]+/y;
const valueAtPosition = /[A-Za-z0-9_.:/@+-]+/y;
const indexAt = /(0|[1-9][0-9]{0,8})\]/y;

/**
 * Reads a path.
 * @throws PortolanError BAD_USER_INPUT, with the position (counted from 0) in its details.
 */
export function parsePath(text: string): Path {
  const health = healthPaths.get(text);
  if (health !== undefined) return health;
  const folded = foldedText.exec(text);
  if (folded === null) return parsePlainPath(text);
  const [, fold, inner = ''] = folded;
  const [first, second, ...rest] = inner.length > maxPathLength ? [] : splitList(inner);
  if (first === undefined || second === undefined) return pathOf(parsePlainPath(inner.trim()).steps, fold as ListFold);
  const begin = text.indexOf('(') + 1;
  if (fold !== 'min' && fold !== 'max')
    throw refuse(text, begin + second.at - 1, 'has several paths, which only min and max take');
  const paths = [first, second, ...rest];
  const excess = paths[mostSeveral];
  if (excess !== undefined) throw refuse(text, begin + excess.at, `has more than ${mostSeveral} paths in ${fold}`);
  return pathOf([{ kind: 'several', of: paths.map((each) => parsePlainPath(each.text.trim())) }], fold);
}

function parsePlainPath(text: string): Path {
  if (text.length > maxPathLength) {
    throw refuse(text.slice(0, 40), maxPathLength, `has more than ${maxPathLength} characters`);
  }
  if (text === '') throw refuse(text, 0, 'is empty');
  const steps: PathStep[] = [];
  let lists = 0;
  let at = 0;
  while (at < text.length) {
    if (steps.length === maxSteps) throw refuse(text, at, `has more than ${maxSteps} steps`);
    if (text[at] === '[') {
      const next = readBracket(text, at, steps);
      if (isListStep(steps.at(-1))) lists += 1;
      if (lists > maxListSteps) throw refuse(text, at, `has more than ${maxListSteps} steps [] or [name=value]`);
      at = next;
      continue;
    }
    if (text[at] === '.' && at > 0) at += 1;
    else if (at > 0) throw refuse(text, at, 'needs a "." or a "[" here');
    const name = take(nameAt, text, at);
    if (name === null)
      throw refuse(text, at, 'needs a name here; other characters than A-Z a-z 0-9 _ - are written ["…"]');
    steps.push({ kind: 'field', name });
    at += name.length;
  }
  return pathOf(steps);
}

/** Does the step look at the elements of a list? */
export function isListStep(step: PathStep | undefined): boolean {
  return step?.kind === 'each' || step?.kind === 'where';
}

/** The path of these steps, with its canonical text. */
export function pathOf(steps: readonly PathStep[], fold?: ListFold): Path {
  let text = '';
  for (const step of steps) text += textOf(step, text === '');
  const frozen = Object.freeze([...steps]);
  return Object.freeze(
    fold === undefined ? { text, steps: frozen } : { text: `${fold}(${text})`, steps: frozen, fold },
  );
}

/** The concatenation of these paths. The last one may have a fold. */
export function joinPaths(...paths: readonly Path[]): Path {
  return pathOf(
    paths.flatMap((path) => path.steps),
    paths.at(-1)?.fold,
  );
}

/** A path of plain fields. */
export function fieldPath(names: readonly string[]): Path {
  return pathOf(names.map((name) => ({ kind: 'field', name })));
}

/** The paths of an object's health by their text. */
const healthPaths: ReadonlyMap<string, Path> = new Map(
  [
    ...healthNames.map((name): PathStep => ({ kind: 'health', name })),
    ...rollUpNames.map((name): PathStep => ({ kind: 'rollUp', name })),
  ].map((step) => [textOf(step, true), pathOf([step])]),
);

/** Does the name at the start of a path lead to something else than a field of the body? */
function isReserved(name: string): boolean {
  return name === 'health' || (identityNames as readonly string[]).includes(name);
}

function textOf(step: PathStep, first: boolean): string {
  switch (step.kind) {
    case 'identity':
      return step.name;
    case 'health':
      return `health.${step.name}`;
    case 'rollUp':
      return `health.rollUp.${step.name}`;
    case 'field':
      if (!plainName.test(step.name) || (first && isReserved(step.name))) return `[${JSON.stringify(step.name)}]`;
      return first ? step.name : `.${step.name}`;
    case 'several':
      return step.of.map((path) => path.text).join(', ');
    case 'each':
      return '[]';
    case 'index':
      return `[${step.index}]`;
    case 'where': {
      const field = plainName.test(step.field) ? step.field : JSON.stringify(step.field);
      return `[${field}=${plainValue.test(step.value) ? step.value : JSON.stringify(step.value)}]`;
    }
    case 'key':
      return `[${JSON.stringify(step.key)}]`;
  }
}

/** Reads the bracket that opens at `at`, adds its step, and returns the position after it. */
function readBracket(text: string, at: number, steps: PathStep[]): number {
  let next = at + 1;
  if (text[next] === ']') {
    steps.push({ kind: 'each' });
    return next + 1;
  }
  const index = take(indexAt, text, next);
  if (index !== null) {
    steps.push({ kind: 'index', index: Number(index.slice(0, -1)) });
    return next + index.length;
  }
  let member: string;
  if (isQuote(text[next])) {
    const string = readString(text, next);
    member = string.value;
    next = string.end;
    if (text[next] === ']') {
      steps.push({ kind: 'key', key: member });
      return next + 1;
    }
  } else {
    const name = take(nameAt, text, next);
    if (name === null) throw refuse(text, next, 'needs "]", a number, a quoted key or name=value here');
    member = name;
    next += name.length;
  }
  if (text[next] !== '=') throw refuse(text, next, 'needs "=" here; a key is written in quotes');
  next += 1;
  let value: string;
  if (isQuote(text[next])) {
    const string = readString(text, next);
    value = string.value;
    next = string.end;
  } else {
    const plain = take(valueAtPosition, text, next);
    if (plain === null) throw refuse(text, next, 'needs a value here; unusual characters are written in quotes');
    value = plain;
    next += plain.length;
  }
  if (text[next] !== ']') throw refuse(text, next, 'needs "]" here');
  steps.push({ kind: 'where', field: member, value });
  return next + 1;
}

function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'";
}

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

function readString(text: string, at: number): { value: string; end: number } {
  const quote = text[at];
  let value = '';
  let next = at + 1;
  for (;;) {
    const character = text[next];
    if (character === undefined) throw refuse(text, at, 'has a quote here that is never closed');
    if (character === quote) return { value, end: next + 1 };
    if (character !== '\\') {
      value += character;
      next += 1;
      continue;
    }
    const escaped = text[next + 1] ?? '';
    const hex = /^[0-9A-Fa-f]{4}$/.exec(text.slice(next + 2, next + 6));
    if (escaped === 'u' && hex !== null) {
      value += String.fromCharCode(Number.parseInt(hex[0], 16));
      next += 6;
      continue;
    }
    const plain = Object.hasOwn(escapes, escaped) ? escapes[escaped] : undefined;
    if (plain === undefined) throw refuse(text, next, 'has an unknown escape here');
    value += plain;
    next += 2;
  }
}

function take(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

function refuse(text: string, position: number, why: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `The path ${JSON.stringify(text)} ${why} (at character ${position}).`, {
    details: { path: text, position },
  });
}
