/** A bounded copy of a value that should be JSON, such as a variable of GraphQL. */
import { PortolanError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';
import { exactInteger } from './exact-number.ts';
import type { ManifestBudget } from './manifest-bounds.ts';
import { isForbiddenKey } from './object-keys.ts';

/**
 * The value with its own keys only. A bigint becomes an exact integer.
 * @throws PortolanError BAD_USER_INPUT for what JSON cannot hold, for a key that is not allowed, and beyond a bound
 */
export function jsonCopy(value: unknown, budget: ManifestBudget): unknown {
  return copied(value, budget, []);
}

/** @param path the keys and indexes that lead to the value; it is as it was when the copy is made */
function copied(value: unknown, budget: ManifestBudget, path: (string | number)[]): unknown {
  budget.values(1);
  if (typeof value === 'string') {
    budget.characters(value.length);
    return value;
  }
  if (value === null || typeof value === 'boolean' || isRawJson(value)) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'bigint') return exactInteger(value);
  if (Array.isArray(value)) {
    budget.level(path.length + 1);
    return value.map((item, index) => {
      path.push(index);
      const copy = copied(item, budget, path);
      path.pop();
      return copy;
    });
  }
  if (!isRecord(value)) throw refused(path, 'is no JSON value. Send a string, number, boolean, null, list or object.');
  budget.level(path.length + 1);
  const made: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    budget.values(1);
    budget.characters(key.length);
    path.push(key);
    if (isForbiddenKey(key)) throw refused(path, 'is a key that is not allowed. Rename or remove it.');
    made[key] = copied(item, budget, path);
    path.pop();
  }
  return made;
}

function refused(path: readonly (string | number)[], problem: string): PortolanError {
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return new PortolanError('BAD_USER_INPUT', `${place.replace(/^\./, '') || 'The value'} ${problem}`);
}
