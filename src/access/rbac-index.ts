/**
 * The roles and bindings of one cluster, by subject. Updated object by object; a decision never walks all bindings.
 *
 *   change of a binding -> its subjects get a new version        change of a role -> the subjects of all its bindings do
 *   grantsOf(alice)     -> kept grants of her bound subjects, if none of them has a newer version -> else made from their bindings
 *
 * Invariant: kept grants equal grants made anew.
 */
import { createHash } from 'node:crypto';
import { BoundedCache } from '../base/bounded-cache.ts';
import { must } from '../base/must.ts';
import type { UserInfo } from './caller.ts';
import { type Granted, Grants, superusers } from './grants.ts';
import { coversName, coversResource, type PolicyRule, type ResourceAttributes } from './policy-rule.ts';
import { type BindingObject, type RoleObject, readBinding, readRole, subjectsOf } from './rbac-objects.ts';

interface KnownRole {
  /** JSON of the rules. */
  readonly text: string;
  readonly rules: readonly PolicyRule[];
}

interface SharedRules {
  readonly rules: readonly PolicyRule[];
  /** Roles that have them. */
  roles: number;
}

interface KeptGrants {
  readonly grants: Grants;
  /** The version of the index when they were last known to be true. */
  checkedAt: number;
}

/** Sets of subjects whose grants are kept. */
const keptSets = 50_000;
/** Different grants that are kept. Users with the same bindings share them. */
const keptGrants = 2000;
/** Subjects whose last change is known. */
const mostChanged = 100_000;

export class RbacIndex {
  readonly #roles = new Map<string, KnownRole>();
  /** Rules by their text, so that equal ones are one object. */
  readonly #rules = new Map<string, SharedRules>();
  readonly #bindings = new Map<string, BindingObject>();
  readonly #bySubject = new Map<string, Set<BindingObject>>();
  readonly #byRole = new Map<string, Set<BindingObject>>();
  /** The version of the index at the last change of each subject's bindings. */
  readonly #changedAt = new Map<string, number>();
  readonly #kept = new BoundedCache<KeptGrants>({ entries: keptSets, weight: keptSets });
  /** Grants by their bindings and rules. */
  readonly #grants = new BoundedCache<Grants>({ entries: keptGrants, weight: keptGrants });
  #version = 0;
  /** Changes up to this version are no longer known by subject. */
  #floor = 0;

  /**
   * Adds an object of one of the four kinds, or replaces the one of this namespace and name.
   * @param key one of `rbacKeys`. @param body the object as served.
   */
  put(key: string, namespace: string, name: string, body: unknown): void {
    const binding = isBinding(key) ? readBinding(namespace, name, body) : null;
    if (!isBinding(key)) this.setRole(readRole(namespace, name, body));
    else if (binding === null) this.removeBinding(namespace, name);
    else this.setBinding(binding);
  }

  /** Removes an object of one of the four kinds. @param key one of `rbacKeys`. */
  remove(key: string, namespace: string, name: string): void {
    if (isBinding(key)) this.removeBinding(namespace, name);
    else this.removeRole(namespace, name);
  }

  /** Adds a role, or replaces the one of this namespace and name. */
  setRole({ namespace, name, rules }: RoleObject): void {
    const key = objectKey(namespace, name);
    const text = JSON.stringify(rules);
    const known = this.#roles.get(key);
    if (known?.text === text) return;
    if (known !== undefined) this.#release(known.text);
    this.#roles.set(key, { text, rules: this.#share(text, rules) });
    this.#roleChanged(key);
  }

  /** @param namespace empty for a ClusterRole. */
  removeRole(namespace: string, name: string): void {
    const key = objectKey(namespace, name);
    const known = this.#roles.get(key);
    if (known === undefined) return;
    this.#release(known.text);
    this.#roles.delete(key);
    this.#roleChanged(key);
  }

  /** Adds a binding, or replaces the one of this namespace and name. */
  setBinding(binding: BindingObject): void {
    this.removeBinding(binding.namespace, binding.name);
    this.#link(binding);
  }

  /** @param namespace empty for a ClusterRoleBinding. */
  removeBinding(namespace: string, name: string): void {
    const known = this.#bindings.get(objectKey(namespace, name));
    if (known !== undefined) this.#unlink(known);
  }

  /** The bindings that allow a request, sorted by namespace and name. Looks at every binding. */
  bindingsFor(request: ResourceAttributes): readonly BindingObject[] {
    const allowing = [...this.#bindings.values()].filter((binding) => {
      if (binding.namespace !== '' && binding.namespace !== request.namespace) return false;
      const rules = this.#roles.get(roleOf(binding))?.rules ?? [];
      return rules.some((rule) => coversResource(rule, request) && coversName(rule, request.name));
    });
    return allowing.sort((a, b) => (objectKey(a.namespace, a.name) < objectKey(b.namespace, b.name) ? -1 : 1));
  }

  /** The rights of the user. */
  grantsOf(user: UserInfo): Grants {
    // Only subjects with bindings matter, so users of the same groups share what is kept.
    const subjects = subjectsOf(user).filter((subject) => this.#bySubject.has(subject));
    const isSuperuser = user.groups.includes(superusers);
    const key = JSON.stringify([isSuperuser, ...subjects]);
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#isCurrent(kept, subjects)) return kept.grants;
    const granted = new Map<BindingObject, Granted>();
    for (const subject of subjects) {
      for (const binding of this.#bySubject.get(subject) ?? []) {
        const role = this.#roles.get(roleOf(binding));
        // A binding to a role that is not there grants nothing.
        if (role !== undefined) granted.set(binding, { binding, rules: role.rules });
      }
    }
    const grants = this.#shareGrants(isSuperuser, [...granted.values()]);
    this.#kept.set(key, { grants, checkedAt: this.#version }, 1);
    return grants;
  }

  #isCurrent(kept: KeptGrants, subjects: readonly string[]): boolean {
    if (kept.checkedAt === this.#version) return true;
    if (kept.checkedAt < this.#floor) return false;
    if (subjects.some((subject) => (this.#changedAt.get(subject) ?? 0) > kept.checkedAt)) return false;
    kept.checkedAt = this.#version;
    return true;
  }

  /** The grants with these bindings and rules. Kept ones are used again: their id then stays the same. */
  #shareGrants(isSuperuser: boolean, granted: readonly Granted[]): Grants {
    const parts = granted.map(({ binding, rules }) => `${serialOf(binding)} ${serialOf(rules)}`);
    const key = createHash('sha256').update(`${isSuperuser}\n${parts.join()}`).digest('base64');
    const known = this.#grants.get(key) ?? new Grants(isSuperuser, granted);
    this.#grants.set(key, known, 1);
    return known;
  }

  #share(text: string, rules: readonly PolicyRule[]): readonly PolicyRule[] {
    const known = this.#rules.get(text) ?? { rules, roles: 0 };
    known.roles += 1;
    this.#rules.set(text, known);
    return known.rules;
  }

  #release(text: string): void {
    const known = must(this.#rules.get(text), 'the rules of a role');
    known.roles -= 1;
    if (known.roles === 0) this.#rules.delete(text);
  }

  #link(binding: BindingObject): void {
    this.#bindings.set(objectKey(binding.namespace, binding.name), binding);
    for (const subject of binding.subjects) add(this.#bySubject, subject, binding);
    add(this.#byRole, roleOf(binding), binding);
    this.#changed([binding]);
  }

  #unlink(binding: BindingObject): void {
    this.#bindings.delete(objectKey(binding.namespace, binding.name));
    for (const subject of binding.subjects) remove(this.#bySubject, subject, binding);
    remove(this.#byRole, roleOf(binding), binding);
    this.#changed([binding]);
  }

  #roleChanged(key: string): void {
    this.#changed(this.#byRole.get(key) ?? []);
  }

  #changed(bindings: Iterable<BindingObject>): void {
    this.#version += 1;
    if (this.#changedAt.size > mostChanged) {
      this.#changedAt.clear();
      this.#floor = this.#version;
    }
    for (const { subjects } of bindings) for (const subject of subjects) this.#changedAt.set(subject, this.#version);
  }
}

const serials = new WeakMap<object, number>();
let lastSerial = 0;

/** A number that is unique to this object in this process. */
function serialOf(object: object): number {
  const known = serials.get(object);
  if (known !== undefined) return known;
  lastSerial += 1;
  serials.set(object, lastSerial);
  return lastSerial;
}

/** The key of the role that a binding refers to. */
function roleOf({ namespace, role }: BindingObject): string {
  return objectKey(role.kind === 'Role' ? namespace : '', role.name);
}

function isBinding(key: string): boolean {
  return key.includes('bindings.');
}

function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function add<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const known = sets.get(key);
  if (known === undefined) sets.set(key, new Set([value]));
  else known.add(value);
}

function remove<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const known = sets.get(key);
  known?.delete(value);
  if (known?.size === 0) sets.delete(key);
}
