/**
 * The roles and bindings of one cluster, by subject. Updated object by object; a decision never walks all bindings.
 *
 *   change of a binding -> its subjects get a new version        change of a role -> the subjects of all its bindings do
 *   grantsOf(alice)     -> kept grants, if no subject of alice has a newer version -> else made from the bindings of her subjects
 *
 * Invariant: kept grants equal grants made anew.
 */
import { BoundedCache } from '../../base/bounded-cache.ts';
import { type Granted, Grants, superusers } from './grants.ts';
import type { PolicyRule } from './policy-rule.ts';
import { type BindingObject, type RoleObject, subjectsOf, type UserInfo } from './rbac-objects.ts';

interface KeptGrants {
  readonly grants: Grants;
  /** The version of the index when they were last known to be true. */
  checkedAt: number;
}

/** Users whose grants are kept. */
const keptUsers = 10_000;
/** Subjects whose last change is known. */
const mostChanged = 100_000;

export class RbacIndex {
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, BindingObject>();
  readonly #bySubject = new Map<string, Set<BindingObject>>();
  readonly #byRole = new Map<string, Set<BindingObject>>();
  /** The version of the index at the last change of each subject's bindings. */
  readonly #changedAt = new Map<string, number>();
  readonly #kept = new BoundedCache<KeptGrants>({ entries: keptUsers, weight: keptUsers });
  #version = 0;
  /** Changes up to this version are no longer known by subject. */
  #floor = 0;

  /** Changes with every change. */
  get version(): number {
    return this.#version;
  }

  setRole({ namespace, name, rules }: RoleObject): void {
    const key = roleKey(namespace, name);
    this.#roles.set(key, rules);
    this.#roleChanged(key);
  }

  /** @param namespace empty for a ClusterRole. */
  removeRole(namespace: string, name: string): void {
    const key = roleKey(namespace, name);
    if (this.#roles.delete(key)) this.#roleChanged(key);
  }

  setBinding(binding: BindingObject): void {
    const known = this.#bindings.get(bindingKey(binding.namespace, binding.name));
    if (known !== undefined) this.#unlink(known);
    this.#link(binding);
  }

  /** @param namespace empty for a ClusterRoleBinding. */
  removeBinding(namespace: string, name: string): void {
    const known = this.#bindings.get(bindingKey(namespace, name));
    if (known !== undefined) this.#unlink(known);
  }

  /** What the user may do. */
  grantsOf(user: UserInfo): Grants {
    const subjects = subjectsOf(user);
    const key = JSON.stringify(subjects);
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#isCurrent(kept, subjects)) return kept.grants;
    const granted = new Map<BindingObject, Granted>();
    for (const subject of subjects) {
      for (const binding of this.#bySubject.get(subject) ?? []) {
        const rules = this.#roles.get(roleOf(binding));
        // A binding to a role that is not there grants nothing.
        if (rules !== undefined) granted.set(binding, { binding, rules });
      }
    }
    const grants = new Grants(user.groups.includes(superusers), [...granted.values()]);
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

  #link(binding: BindingObject): void {
    this.#bindings.set(bindingKey(binding.namespace, binding.name), binding);
    for (const subject of binding.subjects) add(this.#bySubject, subject, binding);
    add(this.#byRole, roleOf(binding), binding);
    this.#changed([binding]);
  }

  #unlink(binding: BindingObject): void {
    this.#bindings.delete(bindingKey(binding.namespace, binding.name));
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

function roleOf({ namespace, role }: BindingObject): string {
  return roleKey(role.kind === 'Role' ? namespace : '', role.name);
}

function roleKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function bindingKey(namespace: string, name: string): string {
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
