/** Label selectors, as text (`a=b,c in (d,e),!f`) and as objects (matchLabels, matchExpressions). */
import { asArray, asObject, asString, type JsonObject } from '../json.ts';
import { statusErrors } from '../status-error.ts';

export type LabelPredicate = (labels: JsonObject) => boolean;

const set = /^(\S+?)\s+(in|notin)\s*\(([^)]*)\)$/;
const equality = /^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$/;
const existence = /^(!?)\s*([^\s=!()]+)$/;

/** Splits at commas outside of parentheses. */
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
  return parts.filter((part) => part !== '');
}

function requirement(part: string, whole: string): LabelPredicate {
  const bySet = set.exec(part);
  if (bySet) {
    const [, key = '', operator, list = ''] = bySet;
    const values = new Set(list.split(',').map((value) => value.trim()));
    return operator === 'in'
      ? (labels) => typeof labels[key] === 'string' && values.has(labels[key])
      : (labels) => !(typeof labels[key] === 'string' && values.has(labels[key]));
  }
  const byValue = equality.exec(part);
  if (byValue) {
    const [, key = '', operator, value = ''] = byValue;
    return operator === '!=' ? (labels) => labels[key] !== value : (labels) => labels[key] === value;
  }
  const byKey = existence.exec(part);
  if (byKey) {
    const [, not, key = ''] = byKey;
    return not === '!' ? (labels) => labels[key] === undefined : (labels) => labels[key] !== undefined;
  }
  throw statusErrors.badRequest(`unable to parse requirement: ${JSON.stringify(whole)} is not a label selector`);
}

/** Reads a selector; undefined for an empty one. Throws a 400 Status for one that cannot be read. */
export function parseLabelSelector(text: string): LabelPredicate | undefined {
  const parts = split(text).map((part) => requirement(part, text));
  return parts.length === 0 ? undefined : (labels) => parts.every((part) => part(labels));
}

/** A LabelSelector object as a predicate; empty matches everything. */
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
