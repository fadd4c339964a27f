/**
 * The GraphQL names of a kind. They depend only on its group, Kind and plural, and on closed lists. Where another resource had one of them
 * before (name-claims.ts), the names are made of the resource's key.
 */

import { upperFirst } from '../../base/text/upper-first.ts';
import { abstractGroup } from '../groups/api-group.ts';
import type { KindNames } from '../resources/catalog.ts';
import { resourceKey } from '../resources/resource.ts';
import { legalName } from './field-names.ts';
import { builtInKinds, isOwnGroup, sharedTypes, staticRoots, staticTypes } from './reserved-names.ts';

/** A kind's name with one of these suffixes looks like a type that belongs to another kind. Example: PodFilter. */
const derivedSuffix = /(Connection|Edge|Filter|Changes?|Payload|Input)$/;

/** A resource under one of its Kinds: a definition that is made again may have another one. */
export interface NamedKind {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** The text that names a resource under one of its Kinds. */
export function namedKindId(kind: NamedKind): string {
  return `${resourceKey(kind)} ${kind.kind}`;
}

/** The names that follow from the group, the Kind and the plural, each as the API server writes it. */
export function namesOf({ group, kind, plural }: NamedKind): KindNames {
  const prefix = prefixOf(group);
  const type = free(prefix + legalName(kind).replace(derivedSuffix, '_$1'), staticTypes);
  const list = lowerCamel(prefix + legalName(pluralInCasing(kind, plural)));
  const one = lowerCamel(type);
  return {
    ...derivedTypes(type),
    list: free(list, staticRoots),
    one: free(kind.toLowerCase() === plural ? byName(one) : one, staticRoots),
    subscription: free(changesOf(one), staticRoots),
  };
}

/**
 * The names that are made of a resourceKey. Different keys give different names. `namesOf` gives none of these names to a kind.
 *
 *   topics.kafka-example.io   Topics___kafka__example___io, topics___kafka__example___io
 */
export function namesByKey({ group, plural }: NamedKind): KindNames {
  const list = group === '' ? `${legalName(plural)}___` : legalName(`${plural}.${group}`);
  // A key gives no single "_", so the ending of a name cannot be a part of another key.
  const stem = `${list}_`;
  return {
    ...derivedTypes(upperFirst(list), upperFirst(stem)),
    list,
    one: byName(stem),
    subscription: changesOf(stem),
  };
}

function derivedTypes(type: string, stem = type): Omit<KindNames, 'list' | 'one' | 'subscription' | 'enums'> {
  return {
    type,
    connection: `${stem}Connection`,
    edge: `${stem}Edge`,
    filter: `${stem}Filter`,
    changes: `${stem}Changes`,
    change: `${stem}Change`,
  };
}

/** The names with the prefix of --type-prefix before those of types. */
export function withPrefix(prefix: string, names: KindNames): KindNames {
  if (prefix === '') return names;
  const { list, one, subscription, enums, ...types } = names;
  const prefixed = <T extends object>(of: T): T =>
    Object.fromEntries(Object.entries(of).map(([key, name]) => [key, prefix + name])) as T;
  return {
    ...prefixed(types),
    list,
    one,
    subscription,
    ...(enums === undefined ? {} : { enums: prefixed(enums) }),
  };
}

const byName = (list: string): string => `${list}ByName`;
const changesOf = (name: string): string => `${name}Changes`;

/** The name of a core/v1 or meta/v1 definition inside other kinds, from its short name. */
export function definitionName(short: string): string {
  if (sharedTypes.has(short)) return short;
  const name = legalName(short).replace(derivedSuffix, '_$1');
  return builtInKinds.has(name) || staticTypes.has(name) ? `Embedded${name}` : name;
}

/** Empty for kube-apiserver's own groups, else the whole group in Pascal case. A segment that starts with a digit gets an X. */
function prefixOf(group: string): string {
  if (isOwnGroup(group) || group === abstractGroup) return '';
  return group
    .split(/[.-]/)
    .map((segment) => (/^[0-9]/.test(segment) ? `X${segment}` : upperFirst(segment)))
    .join('');
}

/**
 * The plural with the Kind's capitals: the common prefix comes from the Kind, the remainder from the plural (`NetworkPolic` +
 * `ies`).
 */
function pluralInCasing(kind: string, plural: string): string {
  const lower = kind.toLowerCase();
  let agreed = 0;
  while (agreed < plural.length && agreed < lower.length && plural[agreed] === lower[agreed]) agreed += 1;
  return agreed === 0 ? upperFirst(plural) : kind.slice(0, agreed) + plural.slice(agreed);
}

/**
 * Lowers leading capitals, except the capital that begins the next word: `HTTPRoute` is `httpRoute`, `APIService` is
 * `apiService`.
 */
function lowerCamel(name: string): string {
  const capitals = /^[A-Z]*/.exec(name)?.[0].length ?? 0;
  const next = name[capitals] ?? '';
  const fall = capitals > 1 && /[a-z]/.test(next) ? capitals - 1 : capitals;
  return name.slice(0, fall).toLowerCase() + name.slice(fall);
}

function free(name: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? `${name}_` : name;
}
