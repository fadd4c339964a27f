/**
 * The health of an object, by the rules of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus) and rules for custom resources. It depends on the
 * object alone. The first that decides wins:
 *
 *   DELETION     metadata.deletionTimestamp                               Terminating
 *   CONFIGURED, SHIPPED  a case Suspended of a rule that reads no status
 *   GENERATION   status.observedGeneration differs from the generation    InProgress
 *   RECONCILING  the first true condition Reconciling or Stalled          InProgress, Failed
 *   CONFIGURED   a rule of --health-rules for the kind
 *   SHIPPED      a rule of schema/health-rules.yaml for the kind
 *   BUILT_IN     the kind's own rule (kind-rules.ts)
 *   READY        the condition Ready                                      True: Current; False or Unknown: InProgress
 *   CONVENTION   the word in status.phase, else in status.state, of a custom resource (phase-words.ts)
 *   DEFAULT      otherwise                                                Current
 *
 * Differences from kstatus:
 *   - kstatus returns an error for a status that it cannot read. Here the health is Unknown, and its source INVALID.
 *   - kstatus shows an unschedulable Pod as InProgress for 15 s. Here the Pod is Failed at once, because health does not depend on time.
 *   - kstatus has no rules for custom resources, and says Current where they would decide.
 */

import { isText } from '../../base/json.ts';
import { abstractGroup, groupOf, mayBeCustom } from '../groups/api-group.ts';
import { valuesAt } from '../paths/value-at.ts';
import { healthNames, type Path } from '../tree/path.ts';
import { memberOf, recordOf } from '../values/displayed-value.ts';
import { isRawJson, rawJson } from '../values/raw-json.ts';
import type { HealthRules } from './declared-health.ts';
import { declaredRule, reasonWord } from './declared-rule.ts';
import {
  type Condition,
  current,
  type Finding,
  failed,
  finding,
  type Health,
  type HealthSource,
  inProgress,
  terminating,
  unreadable,
} from './health-status.ts';
import { kindRules } from './kind-rules.ts';
import { phaseStatus } from './phase-words.ts';

/** Reads an object's values. */
interface HealthInput {
  /** The value at a path of {@link HealthRule.paths}; undefined or null for an absent one. */
  value(path: readonly string[]): unknown;
  /** The values at a path of {@link HealthRule.declaredPaths}, without the absent ones. */
  values(path: Path): readonly unknown[];
  /** The object's conditions; null if `status` is no object, or `status.conditions` is no list of conditions. */
  conditions(): readonly Condition[] | null;
}

/** How the health of one kind's objects is found. */
export interface HealthRule {
  /** The paths that {@link HealthRule.of} may read, besides the conditions. Each list is the same instance at every read. */
  readonly paths: readonly (readonly string[])[];
  /** The paths of declared rules. Only objects that come to these rules are read there. */
  readonly declaredPaths: readonly Path[];
  of(input: HealthInput): Health;
}

/** The members of a condition that the rules read. */
export const conditionMembers = ['type', 'status', 'reason', 'message'] as const;
export const statusPath: readonly string[] = ['status'];
export const conditionsPath: readonly string[] = ['status', 'conditions'];
const deletionTimestamp = ['metadata', 'deletionTimestamp'];
const generation = ['metadata', 'generation'];
const observedGeneration = ['status', 'observedGeneration'];
const commonPaths: readonly (readonly string[])[] = [deletionTimestamp, generation, observedGeneration];
const phase = { phase: ['status', 'phase'], state: ['status', 'state'], message: ['status', 'message'] };

/** The rule of a kind by its API group; the empty string is the core group. */
function healthRule(group: string, kind: string, declared: HealthRules): HealthRule {
  if (group === abstractGroup) return carried;
  const own = kindRules.get(group === '' ? kind : `${group}/${kind}`);
  const rules = declared.map(declaredRule);
  const isCustom = mayBeCustom(group);
  return {
    paths: [...commonPaths, ...(own?.paths ?? []), ...(isCustom ? Object.values(phase) : [])],
    declaredPaths: rules.flatMap(({ paths }) => paths),
    of(input) {
      const deleting = input.value(deletionTimestamp);
      if (typeof deleting === 'string' && deleting !== '') return by('DELETION', terminating);
      for (const rule of rules) {
        const found = rule.suspends({ values: (path) => input.values(path), conditions: [] });
        if (found !== null) return by(rule.source, found);
      }
      const wanted = input.value(generation);
      const observed = isThere(wanted) ? seenGeneration(input.value(observedGeneration)) : null;
      if (!isIntegerOrAbsent(wanted) || !isIntegerOrAbsent(observed)) return by('INVALID', unreadable);
      if (isThere(observed) && textOf(wanted) !== textOf(observed))
        return by('GENERATION', inProgress('LatestGenerationNotObserved'));
      const conditions = input.conditions();
      if (conditions === null) return by('INVALID', unreadable);
      for (const { type, status, reason, message } of conditions) {
        if (status !== 'True') continue;
        if (type === 'Reconciling') return by('RECONCILING', inProgress(reason, message));
        if (type === 'Stalled') return by('RECONCILING', failed(reason, message));
      }
      for (const rule of rules) {
        const found = rule.of({ values: (path) => input.values(path), conditions });
        if (found !== null) return by(rule.source, found);
      }
      if (own !== undefined) {
        const isGenerationKnown = isThere(wanted) ? isThere(observed) || 'NoObservedGeneration' : 'NoGeneration';
        return by('BUILT_IN', own.of({ value: (path) => input.value(path), conditions, isGenerationKnown }));
      }
      const ready = byReady(conditions);
      if (ready !== null) return by('READY', ready);
      const convention = isCustom ? byConvention(input) : null;
      return convention === null ? by('DEFAULT', current) : by('CONVENTION', convention);
    },
  };
}

const carriedPaths = healthNames.map((name): readonly string[] => ['health', name]);

/** Objects of abstract kinds carry the health of the object that they are made from (src/catalog/abstract). */
const carried: HealthRule = {
  paths: carriedPaths,
  declaredPaths: [],
  of({ value }) {
    const [status, reason, message, source] = carriedPaths.map((path) => value(path) ?? null);
    return { status, reason, message, source } as Health;
  },
};

function by(source: HealthSource, { status, reason, message }: Finding): Health {
  return { status, reason, message, source };
}

function byReady(conditions: readonly Condition[]): Finding | null {
  for (const { type, status, reason, message } of conditions) {
    if (type !== 'Ready') continue;
    if (status === 'True') return current;
    if (status === 'False' || status === 'Unknown') return inProgress(reason, message);
  }
  return null;
}

function byConvention(input: HealthInput): Finding | null {
  const word = [phase.phase, phase.state].map((path) => input.value(path)).find(isText);
  if (word === undefined) return null;
  const status = phaseStatus(word);
  const message = input.value(phase.message);
  return finding(status, reasonWord(word), typeof message === 'string' ? message : '');
}

interface Names {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Increases when this code gives an object another health. Stores compute it again then. */
export const healthVersion = 2;

const noRules: HealthRules = [];
/** Rules that are ready to be asked, by declared rules, then by kind. */
const ready = new WeakMap<HealthRules, Map<string, HealthRule>>();
const mostRules = 5000;

/** The rule of the kind that these names on the wire are of. */
export function healthRuleOf({ apiVersion, kind }: Names, declared: HealthRules = noRules): HealthRule {
  let rules = ready.get(declared);
  if (rules === undefined) {
    rules = new Map();
    ready.set(declared, rules);
  }
  const group = groupOf(apiVersion);
  const key = `${group}/${kind}`;
  let rule = rules.get(key);
  if (rule === undefined) {
    if (rules.size === mostRules) rules.clear();
    rule = healthRule(group, kind, declared);
    rules.set(key, rule);
  }
  return rule;
}

/**
 * The health of a parsed object.
 * @param declared the rules that its kind has besides
 * @param names apiVersion and kind of an object that lacks them, such as an item of a list
 */
export function healthOf(body: unknown, declared?: HealthRules, names: Partial<Names> = {}): Health {
  const own = (name: keyof Names): string => {
    const value = memberAt(body, name);
    return value === undefined ? (names[name] ?? '') : String(value);
  };
  return healthBy(healthRuleOf({ apiVersion: own('apiVersion'), kind: own('kind') }, declared), body);
}

/** The health of a parsed object by this rule. */
function healthBy(rule: HealthRule, body: unknown): Health {
  return rule.of({
    value: (path) => valueIn(body, path),
    values: (path) => valuesAt(body, path),
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
export function conditionOf([type, status, reason, message]: readonly unknown[]): Condition | null {
  if (!isTextOrAbsent(type) || !isTextOrAbsent(status) || !isTextOrAbsent(reason)) return null;
  return {
    type: type ?? '',
    status: status ?? '',
    reason: reason ?? '',
    message: typeof message === 'string' ? message : '',
  };
}

function memberAt(value: unknown, name: string): unknown {
  const object = recordOf(value);
  return object === null ? undefined : memberOf(object, name);
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function isTextOrAbsent(value: unknown): value is string | null | undefined {
  return typeof value === 'string' || value === undefined || value === null;
}

function isIntegerOrAbsent(value: unknown): boolean {
  return !isThere(value) || Number.isInteger(value) || isRawJson(value);
}

/** Some controllers write the observed generation as text, and some a hash in its place, which tells nothing. */
function seenGeneration(observed: unknown): unknown {
  if (typeof observed !== 'string') return observed;
  return /^[0-9]{1,19}$/.test(observed) ? rawJson(String(BigInt(observed))) : null;
}

function textOf(value: unknown): string {
  return isRawJson(value) ? value.rawJSON : String(value);
}
