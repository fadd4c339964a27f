/** Label selectors, as text (`a=b,c in (d,e),!f`) and as objects (matchLabels, matchExpressions). */
import { asArray, asObject, asString, type JsonObject } from '../objects/json.ts';
import { type StatusError, statusErrors } from '../objects/status-error.ts';
import { isLabelValue, isQualifiedName } from './qualified-name.ts';

export type LabelPredicate = (labels: JsonObject) => boolean;

const set = /^(\S+?)\s+(in|notin)\s*\(([^()]*)\)$/;
const comparison = /^([^\s=!<>]+)\s*(==|=|!=|<|>)\s*([^\s=!<>()]*)$/;
const existence = /^(!?)\s*([^\s=!()<>]+)$/;

/** Splits at commas outside parentheses. */
function split(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if (c === '(') depth++;
    else if (c === ')') depth--;
    else if (c === undefined || (c === ',' && depth === 0)) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return parts;
}

/** Key, operator and operand; `?` and `!` test only whether the key exists. */
function partsOf(part: string): readonly [key: string, operator: string, operand?: string] {
  const [, key, operator, operand] = set.exec(part) ?? comparison.exec(part) ?? [];
  if (key !== undefined && operator !== undefined) return [key, operator, operand ?? ''];
  const [, not, alone = ''] = existence.exec(part) ?? [];
  return not === undefined ? ['', ''] : [alone, not === '!' ? '!' : '?'];
}

function requirement(part: string, whole: string): LabelPredicate {
  const refuse = (why: string): StatusError =>
    statusErrors.badRequest(`unable to parse requirement: ${why} in ${JSON.stringify(whole)}`);
  const [key, operator, operand = ''] = partsOf(part);
  if (operator === '') throw refuse(`${JSON.stringify(part)} is no requirement`);
  if (!isQualifiedName(key)) throw refuse(`${JSON.stringify(key)} is no name of a label`);
  const values = operator.endsWith('in') ? operand.split(',').map((value) => value.trim()) : [operand];
  const wrong = values.find((value) => !isLabelValue(value));
  if (wrong !== undefined) throw refuse(`${JSON.stringify(wrong)} is no value of a label`);
  const among = (labels: JsonObject): boolean => typeof labels[key] === 'string' && values.includes(labels[key]);
  switch (operator) {
    case '?':
      return (labels) => labels[key] !== undefined;
    case '!':
      return (labels) => labels[key] === undefined;
    case 'notin':
    case '!=':
      return (labels) => !among(labels);
    case '<':
    case '>': {
      if (!/^-?\d+$/.test(operand)) throw refuse(`${JSON.stringify(operand)} is no whole number`);
      const sign = operator === '<' ? -1 : 1;
      return (labels) => /^-?\d+$/.test(asString(labels[key])) && (Number(labels[key]) - Number(operand)) * sign > 0;
    }
    default:
      return among;
  }
}

/** Parses a selector; undefined for an empty one. Throws a 400 Status for invalid text. */
export function parseLabelSelector(text: string): LabelPredicate | undefined {
  if (text.trim() === '') return undefined;
  const parts = split(text).map((part) => requirement(part, text));
  return (labels) => parts.every((part) => part(labels));
}

/** A LabelSelector object as a predicate; an empty one matches everything. */
export function labelSelectorOf(selector: unknown): LabelPredicate {
  const { matchLabels, matchExpressions } = asObject(selector);
  const wanted = Object.entries(asObject(matchLabels));
  const expressions = asArray(matchExpressions).map((item): LabelPredicate => {
    const { key, operator, values } = asObject(item);
    const name = asString(key);
    const list = new Set(asArray(values).map(asString));
    const has = (labels: JsonObject): boolean => list.has(asString(labels[name])) && labels[name] !== undefined;
    if (operator === 'In') return has;
    if (operator === 'NotIn') return (labels) => !has(labels);
    return operator === 'Exists' ? (labels) => labels[name] !== undefined : (labels) => labels[name] === undefined;
  });
  return (labels) => wanted.every(([key, value]) => labels[key] === value) && expressions.every((test) => test(labels));
}

/** A LabelSelector object as text, sorted by key, as servers show it: `app=d,tier in (a,b),!old`. */
export function labelSelectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = asObject(selector);
  const parts = Object.entries(asObject(matchLabels)).map(([key, value]): [string, string] => [
    key,
    `${key}=${asString(value)}`,
  ]);
  for (const item of asArray(matchExpressions).map(asObject)) {
    const key = asString(item.key);
    const values = asArray(item.values).map(asString).toSorted().join(',');
    const text: Readonly<Record<string, string>> = {
      In: `${key} in (${values})`,
      NotIn: `${key} notin (${values})`,
      Exists: key,
      DoesNotExist: `!${key}`,
    };
    parts.push([key, text[asString(item.operator)] ?? key]);
  }
  return parts
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(',');
}
