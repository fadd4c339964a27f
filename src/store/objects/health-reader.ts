/** Reads the health of objects from their JSONB, by the rule of their kind. The same result as healthOf of the parsed object. */

import {
  conditionMembers,
  conditionOf,
  conditionsPath,
  type HealthRule,
  statusPath,
} from '../../catalog/health/health.ts';
import type { Condition, Health } from '../../catalog/health/health-status.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { JsonbPaths, type JsonbValues } from '../jsonb/jsonb-reader.ts';
import { JsonbWalk } from '../jsonb/jsonb-walk.ts';

const memberPaths = new JsonbPaths(conditionMembers.map((name) => [name]));

export class HealthReader {
  readonly #rule: HealthRule;
  /** The index of each path of the rule among the places of an object. */
  readonly #places: ReadonlyMap<readonly string[], number>;
  readonly #declared: ReadonlyMap<Path, JsonbWalk>;
  readonly #status: number;
  readonly #conditions: number;

  /** @param indexOf the index of a path among the places of an object. */
  constructor(rule: HealthRule, indexOf: (path: readonly string[]) => number) {
    this.#rule = rule;
    this.#declared = new Map(rule.declaredPaths.map((path) => [path, new JsonbWalk(path.steps)]));
    this.#places = new Map(this.#rule.paths.map((path) => [path, indexOf(path)]));
    this.#status = indexOf(statusPath);
    this.#conditions = indexOf(conditionsPath);
  }

  read(jsonb: Buffer, values: JsonbValues, places: readonly number[]): Health {
    return this.#rule.of({
      value: (path) => values.value(places[this.#places.get(path) ?? -1] ?? -1),
      values: (path) => (this.#declared.get(path)?.find(values, 0) ?? []).map((at) => values.value(at)),
      conditions: () => {
        if (!values.isObjectOrAbsent(places[this.#status] ?? -1)) return null;
        const list = places[this.#conditions] ?? -1;
        return values.isListOrAbsent(list) ? conditionsAt(jsonb, values, list) : null;
      },
    });
  }
}

function conditionsAt(jsonb: Buffer, values: JsonbValues, list: number): readonly Condition[] | null {
  const conditions: Condition[] = [];
  for (const element of values.elements(list)) {
    if (!values.isObjectOrAbsent(element)) return null;
    if (values.isNull(element)) continue;
    const condition = conditionOf(memberPaths.find(jsonb, element).map((at) => values.value(at)));
    if (condition === null) return null;
    conditions.push(condition);
  }
  return conditions;
}
