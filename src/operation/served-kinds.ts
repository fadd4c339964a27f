/**
 * The kinds that operations can read, and the names by which callers refer to them.
 *
 *   `Pod`, `pods`, `pods` (resourceKey), `deployments.apps`   one kind
 *   `Certificate`                                             one kind, if only one kind has this Kind
 *   `pod`, `po`                                               one kind by its singular or its short name
 *   `all`                                                     the kinds of a category, as in kubectl
 *   `*.cert-manager.io`                                       all kinds whose type, list or resourceKey matches
 *
 * A word means the first of these that there is. So no singular, no short name and no category changes the meaning of another name. One of
 * several kinds means the one of Kubernetes itself, the core group first: a CRD that comes later does not take it.
 */

import { createHash } from 'node:crypto';
import { PortolanError } from '../base/errors.ts';
import { namePattern } from '../base/text/name-pattern.ts';
import { memberCluster, memberOfPart, splitMemberCluster } from '../catalog/abstract/abstract-kind.ts';
import { isAbstract, isAbstractKey } from '../catalog/groups/api-group.ts';
import { isOwnGroup } from '../catalog/names/reserved-names.ts';
import { didYouMean } from '../catalog/paths/did-you-mean.ts';
import { textOfKind } from '../catalog/relations/relation.ts';
import type { Catalog, CatalogKind } from '../catalog/resources/catalog.ts';
import type { Resource } from '../catalog/resources/resource.ts';
import type { Identity } from '../query/plan/filter.ts';

/** Immutable; made from one catalog. */
export interface ServedKinds {
  /** Changes exactly when the catalog does. */
  readonly id: string;
  readonly catalog: Catalog;
  /** The kinds of the catalog without those whose types could not be built, in the same order. */
  readonly all: readonly CatalogKind[];
  /** Names of all clusters that serve a kind, sorted. */
  readonly clusters: ReadonlySet<string>;
  /** The kind of a resourceKey. */
  kind(key: string): CatalogKind | undefined;
  /** The kind of a group and a Kind. */
  kindOf(group: string, kind: string): CatalogKind | undefined;
  /** The kind and the identity of the object that an object of an abstract kind is made from; null for other kinds. */
  origin(kind: CatalogKind, identity: Identity): { readonly kind: CatalogKind; readonly identity: Identity } | null;
  /** Do objects of one of these kinds come from this one? Those of an abstract kind come from its members. @param key resourceKey */
  isSource(key: string, kinds: Iterable<string>): boolean;
  /** The objects of abstract kinds that are made from this one, if they are there. */
  derived(kind: CatalogKind, identity: Identity): readonly Identity[];
  /**
   * The kinds that a caller's words name. A word is a GraphQL type, a list root, a resourceKey, an unambiguous Kind, a singular, a short
   * name or a category. `*` in a word matches any text.
   * @throws PortolanError BAD_USER_INPUT for a word that names no kind, or for a name of several.
   */
  kinds(words: readonly string[]): readonly CatalogKind[];
  /** Does the word stand for a set of kinds: is it a category, or has it a `*`? */
  isSet(word: string): boolean;
}

/** @param kinds the served kinds of the catalog. A kind whose types could not be built is left out. */
export function servedKinds(catalog: Catalog, kinds: readonly CatalogKind[]): ServedKinds {
  const derivedBy = derivedKinds(kinds.filter(isAbstract));
  const byKey = new Map(kinds.map((kind) => [kind.key, kind]));
  const byWord = wordsOf(kinds);
  const categories = categoriesOf(kinds, byWord);
  // The first of several kinds, as in relations of the catalog.
  const byText = new Map(kinds.toReversed().map((kind) => [textOfKind(kind.resource), kind]));
  return {
    id: createHash('sha256').update(catalog.hash).digest('hex').slice(0, 16),
    catalog,
    all: kinds,
    clusters: new Set(kinds.flatMap((kind) => (isAbstract(kind) ? [] : kind.clusters)).sort()),
    kind: (key) => byKey.get(key),
    origin: (kind, { cluster: part, namespace, name }) => {
      if (!isAbstract(kind)) return null;
      const { cluster, member } = splitMemberCluster(part);
      const of = byKey.get(member);
      return of === undefined ? null : { kind: of, identity: { cluster, key: member, namespace, name } };
    },
    kindOf: (group, kind) => byText.get(textOfKind({ group, kind })),
    isSource: (key, keys) => {
      for (const each of keys) {
        const kind = each === key ? null : byKey.get(each);
        if (kind === null) return true;
        if (
          kind !== undefined &&
          isAbstract(kind) &&
          kind.clusters.some((part) => splitMemberCluster(part).member === key)
        )
          return true;
      }
      return false;
    },
    derived: (kind, { cluster, namespace, name }) => {
      const parts = derivedBy.get(memberCluster(cluster, kind.key)) ?? [];
      return parts.map(({ part, key }) => ({ cluster: part, key, namespace, name }));
    },
    kinds: (words) =>
      words.flatMap((word) =>
        word.includes('*')
          ? kindsOfPattern(byKey, word)
          : (categories.get(word) ?? kindOfWord(byWord, categories, word)),
      ),
    isSet: (word) => word.includes('*') || categories.has(word),
  };
}

/** The parts of abstract kinds by the member and its cluster (memberCluster). */
function derivedKinds(
  abstract: readonly CatalogKind[],
): ReadonlyMap<string, readonly { readonly part: string; readonly key: string }[]> {
  const parts = abstract.flatMap(({ key, clusters }) => clusters.map((part) => ({ part, key })));
  return Map.groupBy(parts, ({ part }) => memberOfPart(part));
}

function wordsOf(kinds: readonly CatalogKind[]): ReadonlyMap<string, readonly CatalogKind[]> {
  const words = new Map<string, CatalogKind[]>();
  for (const kind of kinds) {
    const exact = new Set([kind.names.type, kind.names.list, kind.key]);
    for (const word of exact) words.set(word, [kind]);
  }
  for (const kind of kinds) {
    const { kind: name } = kind.resource;
    const known = words.get(name);
    if (known === undefined) words.set(name, [kind]);
    else if (!known.includes(kind) && known.every((other) => other.names.type !== name)) known.push(kind);
  }
  for (const [name, some] of byNames(kinds, ({ singular, shortNames }) => [...new Set([singular, ...shortNames])])) {
    if (!words.has(name)) words.set(name, preferred(some));
  }
  return words;
}

/** The core group before the other groups of Kubernetes, and these before all others. */
function preferred(kinds: CatalogKind[]): CatalogKind[] {
  for (const isBetter of [(group: string) => group === '', isOwnGroup]) {
    const found = kinds.filter(({ resource }) => isBetter(resource.group));
    if (found.length > 0) return found;
  }
  return kinds;
}

/** The categories that are no name of a kind. */
function categoriesOf(
  kinds: readonly CatalogKind[],
  words: ReadonlyMap<string, readonly CatalogKind[]>,
): ReadonlyMap<string, readonly CatalogKind[]> {
  return new Map([...byNames(kinds, ({ categories }) => categories)].filter(([name]) => !words.has(name)));
}

function byNames(
  kinds: readonly CatalogKind[],
  namesOf: (resource: Resource) => readonly string[],
): ReadonlyMap<string, CatalogKind[]> {
  const found = new Map<string, CatalogKind[]>();
  for (const kind of kinds) {
    for (const name of new Set(namesOf(kind.resource))) found.set(name, [...(found.get(name) ?? []), kind]);
  }
  return found;
}

function kindsOfPattern(kinds: ReadonlyMap<string, CatalogKind>, pattern: string): readonly CatalogKind[] {
  const fits = namePattern(pattern);
  // The objects of an abstract kind are there already, as those of its members.
  const found = [...kinds.values()].filter(
    (kind) =>
      (!isAbstract(kind) || isAbstractKey(pattern)) &&
      [kind.names.type, kind.names.list, kind.key].some((name) => fits.test(name)),
  );
  if (found.length > 0) return found;
  throw new PortolanError('BAD_USER_INPUT', `No kind fits ${JSON.stringify(pattern)}.`);
}

function kindOfWord(
  words: ReadonlyMap<string, readonly CatalogKind[]>,
  categories: ReadonlyMap<string, unknown>,
  word: string,
): CatalogKind {
  const found = words.get(word) ?? [];
  const [only] = found;
  if (only === undefined) {
    const similar = didYouMean(word, [...words.keys(), ...categories.keys()]);
    const hint = similar === null ? 'name' : `did you mean ${JSON.stringify(similar)}? Name`;
    throw new PortolanError(
      'BAD_USER_INPUT',
      `There is no kind ${JSON.stringify(word)}; ${hint} it by its type (Pod), its list (pods), plural.group (deployments.apps), a short name (po) or a category (all).`,
    );
  }
  if (found.length > 1) {
    const types = found.map(({ names }) => names.type).join(', ');
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${JSON.stringify(word)} names kinds of several groups; say which: ${types}.`,
    );
  }
  return only;
}
