/**
 * The GraphQL names of a kind. They depend only on its group, Kind and plural, and on closed lists. Other kinds and other
 * clusters never change them.
 */

import type { KindNames } from '../resources/catalog.ts';
import { legalName } from './field-names.ts';
import { builtInKinds, isOwnGroup, sharedTypes, staticRoots, staticTypes } from './reserved-names.ts';

/** A kind's name with such a suffix looks like a type that belongs to another kind. Example: PodFilter. */
const derivedSuffix = /(Connection|Edge|Filter|Changes?|Payload|Input)$/;

/** All names of a kind. Group, kind and plural are as the API server writes them. */
export function namesOf(resource: {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
}): KindNames {
  const prefix = prefixOf(resource.group);
  const type = free(prefix + legalName(resource.kind).replace(derivedSuffix, '_$1'), staticTypes);
  const list = lowerCamel(prefix + legalName(pluralInCasing(resource.kind, resource.plural)));
  const one = lowerCamel(type) + (resource.kind.toLowerCase() === resource.plural ? 'ByName' : '');
  return {
    type,
    connection: `${type}Connection`,
    edge: `${type}Edge`,
    filter: `${type}Filter`,
    changes: `${type}Changes`,
    change: `${type}Change`,
    list: free(list, staticRoots),
    one: free(one, staticRoots),
    subscription: free(`${one}Changes`, staticRoots),
  };
}

/** The name of a core/v1 or meta/v1 definition inside other kinds, from its short name. */
export function definitionName(short: string): string {
  if (sharedTypes.has(short)) return short;
  const name = legalName(short).replace(derivedSuffix, '_$1');
  return builtInKinds.has(name) || staticTypes.has(name) ? `Embedded${name}` : name;
}

/** Empty for kube-apiserver's own groups, else the whole group in Pascal case. A segment that starts with a digit gets an X. */
function prefixOf(group: string): string {
  if (isOwnGroup(group)) return '';
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

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function free(name: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? `${name}_` : name;
}
