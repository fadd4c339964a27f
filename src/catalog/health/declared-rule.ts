/**
 * A declared rule (declared-health.ts), ready to be asked: its paths are parsed once.
 *
 *   cases in order -> the first whose tests all hold -> its status, with the reason and the message that it names
 *
 * Texts are compared without case. A number and a boolean count as their JSON text. Tests of a path through a list hold if one of its
 * values fits; `noneOf` and `exists: false` hold if no value does.
 */

import { valuesAt } from '../paths/value-at.ts';
import { type Path, parsePath } from '../tree/path.ts';
import { plainNumber } from '../values/decimal.ts';
import { scalarText } from '../values/values.ts';
import type { DeclaredHealth, HealthCase, HealthTest } from './declared-health.ts';
import { type Condition, type Finding, finding } from './health-status.ts';

/** Reads the values at paths of an object. */
interface DeclaredInput {
  /** The values at a path, without the absent ones. */
  values(path: Path): readonly unknown[];
  readonly conditions: readonly Condition[];
}

interface DeclaredRule {
  readonly source: DeclaredHealth['source'];
  readonly paths: readonly Path[];
  /** Null if no case holds. */
  of(input: DeclaredInput): Finding | null;
  /**
   * The same for the cases that do not read the status and say Suspended. Controllers do not observe a generation that suspends the object.
   */
  suspends(input: DeclaredInput): Finding | null;
}

type Values = (input: DeclaredInput) => readonly unknown[];

/** A rule that is ready to be asked. */
export function declaredRule({ source, cases }: DeclaredHealth): DeclaredRule {
  const paths = new Map<string, Path>();
  const at = (text: string): Values => {
    const path = paths.get(text) ?? parsePath(text);
    const condition = conditionMember(path);
    if (condition !== null) {
      const { type, member } = condition;
      return ({ conditions }) => conditions.filter((each) => each.type === type).map((each) => each[member]);
    }
    paths.set(text, path);
    return (input) => input.values(path);
  };
  const ready = cases.map((each) => readyCase(each, at));
  const early = ready.filter((_, index) => isEarly(cases[index]));
  const first = (of: typeof ready, input: DeclaredInput): Finding | null => {
    for (const { holds, found } of of) if (holds(input)) return found(input);
    return null;
  };
  return {
    source,
    paths: [...paths.values()],
    of: (input) => first(ready, input),
    suspends: (input) => first(early, input),
  };
}

function isEarly(given: HealthCase | undefined): boolean {
  return given?.status === 'Suspended' && given.when.every(({ path }) => !/^status\b/.test(path));
}

function readyCase(
  { status, when, reason, message }: HealthCase,
  at: (text: string) => Values,
): { holds(input: DeclaredInput): boolean; found(input: DeclaredInput): Finding } {
  const tests = when.map((test) => readyTest(test, at));
  const first = when[0]?.path ?? '';
  const condition = conditionMember(parsePath(first));
  const beside = (member: string): string => `${first.slice(0, first.lastIndexOf('.'))}.${member}`;
  const texts = (path: string): ((input: DeclaredInput) => string) => {
    const values = at(path);
    return (input) => textOf(values(input)[0]);
  };
  const reasonOf =
    reason === undefined
      ? condition === null
        ? wordAt(texts(first))
        : texts(beside('reason'))
      : isPath(reason)
        ? wordAt(texts(reason))
        : () => reason;
  const messageOf = message === undefined ? (condition === null ? () => '' : texts(beside('message'))) : texts(message);
  return {
    holds: (input) => tests.every((test) => test(input)),
    found: (input) => finding(status, reasonOf(input), messageOf(input)),
  };
}

/** Does everything hold for an object? */
export function bodyTest(tests: readonly HealthTest[]): (body: unknown) => boolean {
  const ready = tests.map((test) =>
    readyTest(test, (text) => {
      const path = parsePath(text);
      return (input) => input.values(path);
    }),
  );
  return (body) => {
    const input = { values: (path: Path) => valuesAt(body, path), conditions: [] };
    return ready.every((test) => test(input));
  };
}

/** Is the text of `reason` a path? A word has neither dots nor brackets. */
export function isPath(reason: string): boolean {
  return /[.[]/.test(reason);
}

function readyTest(test: HealthTest, at: (text: string) => Values): (input: DeclaredInput) => boolean {
  const values = at(test.path);
  const { oneOf, noneOf, startsWith, exists, lessThan, greaterThan } = test;
  const checks: ((found: readonly unknown[], input: DeclaredInput) => boolean)[] = [];
  const some = (found: readonly unknown[], fits: (text: string) => boolean): boolean =>
    found.some((value) => {
      const text = scalarText(value);
      return text !== null && fits(text.toLowerCase());
    });
  if (oneOf !== undefined) checks.push((found) => some(found, (text) => oneOf.includes(text)));
  if (noneOf !== undefined) checks.push((found) => !some(found, (text) => noneOf.includes(text)));
  if (startsWith !== undefined)
    checks.push((found) => some(found, (text) => startsWith.some((start) => text.startsWith(start))));
  if (exists !== undefined)
    checks.push((found) => found.some((value) => value !== null && value !== undefined && value !== '') === exists);
  const compared = (with_: number | string, fits: (left: number, right: number) => boolean): void => {
    const right = typeof with_ === 'number' ? (): readonly unknown[] => [with_] : at(with_);
    checks.push((found, input) => fits(numberOf(found), numberOf(right(input))));
  };
  if (lessThan !== undefined) compared(lessThan, (left, right) => left < right);
  if (greaterThan !== undefined) compared(greaterThan, (left, right) => left > right);
  return (input) => {
    const found = values(input);
    return checks.every((check) => check(found, input));
  };
}

const conditionParts = ['status', 'reason', 'message'] as const;

/** The member of a condition that a path names: `status.conditions[type=Ready].reason`. Null for other paths. */
function conditionMember({
  steps,
}: Path): { readonly type: string; readonly member: (typeof conditionParts)[number] } | null {
  const [status, conditions, where, last, more] = steps;
  if (status?.kind !== 'field' || status.name !== 'status' || more !== undefined) return null;
  if (conditions?.kind !== 'field' || conditions.name !== 'conditions') return null;
  if (where?.kind !== 'where' || where.field !== 'type' || last?.kind !== 'field') return null;
  const member = conditionParts.find((part) => part === last.name);
  return member === undefined ? null : { type: where.value, member };
}

function textOf(value: unknown): string {
  return scalarText(value) ?? '';
}

function wordAt(text: (input: DeclaredInput) => string): (input: DeclaredInput) => string {
  return (input) => reasonWord(text(input));
}

/** A text as one word in CamelCase: `Failing over` is `FailingOver`, `HEALTH_ERR` is `HealthErr`. */
export function reasonWord(text: string): string {
  return text
    .split(/[^\p{L}\p{N}]+/u)
    .map(
      (word) =>
        word.slice(0, 1).toUpperCase() + (word === word.toUpperCase() ? word.slice(1).toLowerCase() : word.slice(1)),
    )
    .join('');
}

function numberOf(values: readonly unknown[]): number {
  return plainNumber(textOf(values[0])) ?? 0;
}
