/**
 * The health of an object, by the rules of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus). It depends on the object alone:
 *
 *   1. metadata.deletionTimestamp                               Terminating
 *   2. status.observedGeneration differs from the generation    InProgress
 *   3. the first true condition Reconciling or Stalled          InProgress, Failed
 *   4. the kind's own rule (kind-rules.ts)
 *   5. the condition Ready                                      True: Current; False or Unknown: InProgress
 *   6. otherwise                                                Current
 *
 * Differences from kstatus:
 *   - kstatus returns an error for a status that it cannot read. Here the health is Unknown.
 *   - kstatus shows an unschedulable Pod as InProgress for 15 s. Here the Pod is Failed at once, because health does not depend on time.
 */

import { groupOf } from '../resources/resource.ts';
import { memberOf, recordOf } from '../values/displayed-value.ts';
import { isRawJson } from '../values/raw-json.ts';
import { type Condition, current, failed, type Health, inProgress, unknown } from './health-status.ts';
import { kindRules } from './kind-rules.ts';

/** Reads an object's values by member names. */
interface HealthInput {
  /** The value at a path of {@link HealthRule.paths}; undefined or null for an absent one. */
  value(path: readonly string[]): unknown;
  /** The object's conditions; null if `status` is no object, or `status.conditions` is no list of conditions. */
  conditions(): readonly Condition[] | null;
}

/** How the health of one kind's objects is found. */
export interface HealthRule {
  /** The paths that {@link HealthRule.of} reads, besides the conditions. Each list is the same instance at every read. */
  readonly paths: readonly (readonly string[])[];
  of(input: HealthInput): Health;
}

/** The members of a condition that the rules read. */
export const conditionMembers = ['type', 'status', 'reason'] as const;
export const statusPath: readonly string[] = ['status'];
export const conditionsPath: readonly string[] = ['status', 'conditions'];

const deletionTimestamp = ['metadata', 'deletionTimestamp'];
const generation = ['metadata', 'generation'];
const observedGeneration = ['status', 'observedGeneration'];
const commonPaths: readonly (readonly string[])[] = [deletionTimestamp, generation, observedGeneration];

/** The rule of a kind by its API group; the empty string is the core group. */
function healthRule(group: string, kind: string): HealthRule {
  const own = kindRules.get(group === '' ? kind : `${group}/${kind}`);
  const paths = [...commonPaths, ...(own?.paths ?? [])];
  return {
    paths,
    of(input) {
      const deleting = input.value(deletionTimestamp);
      if (typeof deleting === 'string' && deleting !== '') return { status: 'Terminating', reason: null };
      const wanted = input.value(generation);
      const observed = isThere(wanted) ? input.value(observedGeneration) : null;
      if (!isIntegerOrAbsent(wanted) || !isIntegerOrAbsent(observed)) return unknown;
      if (isThere(observed) && textOf(wanted) !== textOf(observed)) return inProgress('LatestGenerationNotObserved');
      const conditions = input.conditions();
      if (conditions === null) return unknown;
      for (const { type, status, reason } of conditions) {
        if (status !== 'True') continue;
        if (type === 'Reconciling') return inProgress(reason);
        if (type === 'Stalled') return failed(reason);
      }
      if (own !== undefined) {
        const isGenerationKnown = isThere(wanted) ? isThere(observed) || 'NoObservedGeneration' : 'NoGeneration';
        return own.of({ value: (path) => input.value(path), conditions, isGenerationKnown });
      }
      return byReady(conditions);
    },
  };
}

function byReady(conditions: readonly Condition[]): Health {
  for (const { type, status, reason } of conditions) {
    if (type !== 'Ready') continue;
    if (status === 'True') return current;
    if (status === 'False' || status === 'Unknown') return inProgress(reason);
  }
  return current;
}

interface Names {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The rule of the kind that these names on the wire are of. */
export function healthRuleOf({ apiVersion, kind }: Names): HealthRule {
  const group = groupOf(apiVersion);
  const key = `${group}/${kind}`;
  let rule = rules.get(key);
  if (rule === undefined) {
    if (rules.size === mostRules) rules.clear();
    rule = healthRule(group, kind);
    rules.set(key, rule);
  }
  return rule;
}

const rules = new Map<string, HealthRule>();
const mostRules = 5000;

/** The health of a parsed object. @param names apiVersion and kind of an object that lacks them, such as an item of a list. */
export function healthOf(body: unknown, names: Partial<Names> = {}): Health {
  const own = (name: keyof Names): string => {
    const value = memberAt(body, name);
    return value === undefined ? (names[name] ?? '') : String(value);
  };
  return healthBy(healthRuleOf({ apiVersion: own('apiVersion'), kind: own('kind') }), body);
}

/** The health of a parsed object by this rule. */
function healthBy(rule: HealthRule, body: unknown): Health {
  return rule.of({
    value: (path) => valueIn(body, path),
    conditions() {
      const status = valueIn(body, statusPath);
      return isThere(status) && recordOf(status) === null ? null : conditionsIn(valueIn(body, conditionsPath));
    },
  });
}

function valueIn(body: unknown, path: readonly string[]): unknown {
  let value = body;
  for (const name of path) value = memberAt(value, name);
  return value;
}

function conditionsIn(list: unknown): readonly Condition[] | null {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) return null;
  const conditions: Condition[] = [];
  for (const element of list as readonly unknown[]) {
    if (element === null) continue;
    const object = recordOf(element);
    if (object === null) return null;
    const condition = conditionOf(conditionMembers.map((name) => memberOf(object, name)));
    if (condition === null) return null;
    conditions.push(condition);
  }
  return conditions;
}

/** A condition from the values of {@link conditionMembers}; null if one of them is neither a text nor absent. */
export function conditionOf([type, status, reason]: readonly unknown[]): Condition | null {
  const [isType, isStatus, isReason] = [isTextOrAbsent(type), isTextOrAbsent(status), isTextOrAbsent(reason)];
  if (!isType || !isStatus || !isReason) return null;
  return {
    type: (type as string | null) ?? '',
    status: (status as string | null) ?? '',
    reason: (reason as string | null) ?? '',
  };
}

function memberAt(value: unknown, name: string): unknown {
  const object = recordOf(value);
  return object === null ? undefined : memberOf(object, name);
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isTextOrAbsent(value: unknown): boolean {
  return typeof value === 'string' || !isThere(value);
}

function isIntegerOrAbsent(value: unknown): boolean {
  return !isThere(value) || Number.isInteger(value) || isRawJson(value);
}

function textOf(value: unknown): string {
  return isRawJson(value) ? value.rawJSON : String(value);
}
