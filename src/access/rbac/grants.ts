/**
 * What one user may do in one cluster, by the bindings that name the user or a group of the user. Immutable: changed bindings give new
 * grants.
 *
 *   bindings of alice and of her groups -> roles of the whole cluster, and roles of each namespace -> decisions
 *
 * Source: plugin/pkg/auth/authorizer/rbac/rbac.go of Kubernetes. The API server allows the group system:masters everything, before RBAC.
 */
import {
  coversName,
  coversPath,
  coversResource,
  type PathAttributes,
  type PolicyRule,
  type ResourceAttributes,
} from './policy-rule.ts';
import type { BindingObject } from './rbac-objects.ts';

/** A binding of the user with the rules of its role. */
export interface Granted {
  readonly binding: BindingObject;
  /** Shared between all bindings to a role. */
  readonly rules: readonly PolicyRule[];
}

/** The objects of one resource on which a verb is allowed. */
export interface Reach {
  /** Every object of the cluster. */
  readonly all: boolean;
  /** The namespaces of which every object is allowed. */
  readonly namespaces: ReadonlySet<string>;
  /** Names of single objects by namespace. The key '' holds for each namespace, and for cluster-scoped objects. */
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The binding that allows a request. */
export type Allowed = { readonly by: BindingObject } | { readonly by: 'system:masters' };

export const superusers = 'system:masters';

export class Grants {
  readonly #isSuperuser: boolean;
  readonly #ofCluster: readonly Granted[];
  readonly #ofNamespace: ReadonlyMap<string, readonly Granted[]>;
  readonly #reaches = new Map<string, Reach>();

  constructor(isSuperuser: boolean, granted: readonly Granted[]) {
    this.#isSuperuser = isSuperuser;
    this.#ofCluster = granted.filter(({ binding }) => binding.namespace === '');
    this.#ofNamespace = Map.groupBy(
      granted.filter(({ binding }) => binding.namespace !== ''),
      ({ binding }) => binding.namespace,
    );
  }

  /** What allows the request; null when nothing does. */
  allow(request: ResourceAttributes | PathAttributes): Allowed | null {
    if (this.#isSuperuser) return { by: superusers };
    if ('path' in request) return find(this.#ofCluster, (rule) => coversPath(rule, request));
    const covers = (rule: PolicyRule): boolean => coversResource(rule, request) && coversName(rule, request.name);
    return find(this.#ofCluster, covers) ?? find(this.#ofNamespace.get(request.namespace) ?? [], covers);
  }

  /** The objects of a resource on which one of the verbs is allowed. Kept for the next call. */
  reach(verbs: readonly string[], { group, resource }: Pick<ResourceAttributes, 'group' | 'resource'>): Reach {
    const key = `${verbs.join()} ${resource}.${group}`;
    const known = this.#reaches.get(key);
    if (known !== undefined) return known;
    const made = this.#isSuperuser ? everything : this.#compute(verbs, group, resource);
    this.#reaches.set(key, made);
    return made;
  }

  #compute(verbs: readonly string[], group: string, resource: string): Reach {
    // A role that is bound in many namespaces is looked at once.
    const ofRole = new Map<readonly PolicyRule[], OfRole>();
    const look = (rules: readonly PolicyRule[]): OfRole => {
      const known = ofRole.get(rules) ?? reachOfRole(rules, verbs, group, resource);
      ofRole.set(rules, known);
      return known;
    };
    const namespaces = new Set<string>();
    const names = new Map<string, Set<string>>();
    const addNames = (namespace: string, some: readonly string[]): void => {
      if (some.length === 0) return;
      const known = names.get(namespace) ?? new Set();
      for (const name of some) known.add(name);
      names.set(namespace, known);
    };
    for (const { rules } of this.#ofCluster) {
      const found = look(rules);
      if (found.all) return everything;
      addNames('', found.names);
    }
    for (const [namespace, granted] of this.#ofNamespace) {
      for (const { rules } of granted) {
        const found = look(rules);
        if (found.all) namespaces.add(namespace);
        addNames(namespace, found.names);
      }
      if (namespaces.has(namespace)) names.delete(namespace);
    }
    return { all: false, namespaces, names };
  }
}

const everything: Reach = { all: true, namespaces: new Set(), names: new Map() };

interface OfRole {
  readonly all: boolean;
  readonly names: readonly string[];
}

function reachOfRole(rules: readonly PolicyRule[], verbs: readonly string[], group: string, resource: string): OfRole {
  const names: string[] = [];
  for (const rule of rules) {
    const covered = verbs.filter((verb) => coversResource(rule, { verb, group, resource, subresource: '' }));
    // A list names no object, so the name '' allows all of them. Only `get` always names one.
    const isWhole = (verb: string): boolean =>
      verb === 'get' ? rule.resourceNames.length === 0 : coversName(rule, '');
    if (covered.some(isWhole)) return { all: true, names: [] };
    if (covered.length > 0) names.push(...rule.resourceNames.filter((name) => name !== ''));
  }
  return { all: false, names };
}

function find(granted: readonly Granted[], covers: (rule: PolicyRule) => boolean): Allowed | null {
  const found = granted.find(({ rules }) => rules.some(covers));
  return found === undefined ? null : { by: found.binding };
}
