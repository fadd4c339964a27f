/**
 * The rights of one user in one cluster, by the bindings that name the user or a group of the user. Immutable: changed bindings give new
 * grants.
 *
 *   bindings of alice and of her groups -> the places of each role: the whole cluster, or namespaces -> decisions
 *
 * Source: plugin/pkg/auth/authorizer/rbac/rbac.go of Kubernetes. The API server allows the group system:masters everything, before RBAC.
 */
import {
  coversName,
  coversPath,
  coversResource,
  type PolicyRule,
  type RequestAttributes,
  type ResourceAttributes,
} from './policy-rule.ts';
import type { BindingObject } from './rbac-objects.ts';

/** A binding of the user with the rules of its role. */
export interface Granted {
  readonly binding: BindingObject;
  /** Equal rules are one object: they are looked at once, however many bindings lead to them. */
  readonly rules: readonly PolicyRule[];
}

/** The objects of one resource on which a verb is allowed, whatever their names. */
export type Reach = 'all' | ReadonlySet<string>;

/** Names of single objects by namespace. The key '' holds for each namespace, and for cluster-scoped objects. */
export type NamedObjects = ReadonlyMap<string, ReadonlySet<string>>;

/** The binding that allows a request, with the rule of its role that does. */
type Allowed = { readonly by: BindingObject; readonly rule: PolicyRule } | { readonly by: typeof superusers };

/** The group whose members may do everything. */
export const superusers = 'system:masters';

type Resource = Pick<ResourceAttributes, 'group' | 'resource'>;

/** Where a list of rules holds. */
interface Places {
  everywhere: boolean;
  readonly namespaces: Set<string>;
}

let made = 0;

export class Grants {
  /** Differs from that of all other grants in this process. */
  readonly id: string;
  readonly #isSuperuser: boolean;
  readonly #granted: readonly Granted[];
  readonly #places = new Map<readonly PolicyRule[], Places>();
  /** The union of the namespaces of several rules, by the positions of the rules in `#places`. */
  readonly #unions = new Map<string, ReadonlySet<string>>();

  constructor(isSuperuser: boolean, granted: readonly Granted[]) {
    made += 1;
    this.id = String(made);
    this.#isSuperuser = isSuperuser;
    this.#granted = granted;
    for (const { binding, rules } of granted) {
      const known = this.#places.get(rules) ?? { everywhere: false, namespaces: new Set() };
      this.#places.set(rules, known);
      if (binding.namespace === '') known.everywhere = true;
      else known.namespaces.add(binding.namespace);
    }
  }

  /** The role that allows the request; null if there is none. */
  allow(request: RequestAttributes): Allowed | null {
    if (this.#isSuperuser) return { by: superusers };
    const covers = (rule: PolicyRule): boolean =>
      'path' in request ? coversPath(rule, request) : coversResource(rule, request) && coversName(rule, request.name);
    const found = (namespace: string): Allowed | null => {
      for (const { binding, rules } of this.#granted) {
        const rule = binding.namespace === namespace ? rules.find(covers) : undefined;
        if (rule !== undefined) return { by: binding, rule };
      }
      return null;
    };
    return found('') ?? ('path' in request || request.namespace === '' ? null : found(request.namespace));
  }

  /** The namespaces of all RoleBindings of the user. */
  get namespaces(): readonly string[] {
    const found = this.#granted.flatMap(({ binding: { namespace } }) => (namespace === '' ? [] : namespace));
    return [...new Set(found)];
  }

  /** The objects of a resource on which one of the verbs is allowed whatever their names. Equal reaches are often one object. */
  reach(verbs: readonly string[], resource: Resource): Reach {
    if (this.#isSuperuser) return 'all';
    for (const [rules, { everywhere }] of this.#places) {
      if (everywhere && isWhole(rules, verbs, resource)) return 'all';
    }
    return this.boundIn(verbs, resource);
  }

  /** The namespaces in which a RoleBinding allows one of the verbs on every object of a resource. */
  boundIn(verbs: readonly string[], resource: Resource): ReadonlySet<string> {
    const found: { readonly at: number; readonly namespaces: ReadonlySet<string> }[] = [];
    let at = 0;
    for (const [rules, { namespaces }] of this.#places) {
      if (namespaces.size > 0 && isWhole(rules, verbs, resource)) found.push({ at, namespaces });
      at += 1;
    }
    const [first, ...more] = found;
    if (first === undefined) return nowhere;
    if (more.length === 0) return first.namespaces;
    const key = found.map((each) => each.at).join();
    const known = this.#unions.get(key) ?? new Set(found.flatMap(({ namespaces }) => [...namespaces]));
    this.#unions.set(key, known);
    return known;
  }

  /** The objects of a resource that a rule names for one of the verbs. */
  named(verbs: readonly string[], resource: Resource): NamedObjects {
    const names = new Map<string, Set<string>>();
    if (this.#isSuperuser) return names;
    for (const [rules, { everywhere, namespaces }] of this.#places) {
      const some = namesIn(rules, verbs, resource);
      if (some.length === 0) continue;
      for (const namespace of everywhere ? [''] : namespaces) {
        const known = names.get(namespace) ?? new Set();
        names.set(namespace, known);
        for (const name of some) known.add(name);
      }
    }
    return names;
  }
}

const nowhere: ReadonlySet<string> = new Set();

function isWhole(rules: readonly PolicyRule[], verbs: readonly string[], resource: Resource): boolean {
  // A list names no object, so the name '' allows all of them. Only `get` always names one.
  const allowed = (rule: PolicyRule, verb: string): boolean =>
    covers(rule, verb, resource) && (verb === 'get' ? rule.resourceNames.length === 0 : coversName(rule, ''));
  return rules.some((rule) => verbs.some((verb) => allowed(rule, verb)));
}

function namesIn(rules: readonly PolicyRule[], verbs: readonly string[], resource: Resource): readonly string[] {
  return rules.flatMap((rule) =>
    verbs.some((verb) => covers(rule, verb, resource)) ? rule.resourceNames.filter((name) => name !== '') : [],
  );
}

function covers(rule: PolicyRule, verb: string, { group, resource }: Resource): boolean {
  return coversResource(rule, { verb, group, resource, subresource: '' });
}
