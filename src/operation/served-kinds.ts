/**
 * The kinds that operations can read, and the names by which callers refer to them.
 *
 *   `Pod`, `pods`, `pods` (resourceKey), `deployments.apps`   one kind
 *   `Certificate`                                             one kind, if only one kind has this Kind
 *   `*.cert-manager.io`                                       all kinds whose type, list or resourceKey matches
 */
import { createHash } from 'node:crypto';
import { PortolanError } from '../base/errors.ts';
import { textOfKind } from '../catalog/relations/relation.ts';
import type { Catalog, CatalogKind } from '../catalog/resources/catalog.ts';
import { namePattern } from '../catalog/resources/resource.ts';

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
  /**
   * The kinds that a caller's words name. A word is a GraphQL type, a list root, a resourceKey or an unambiguous Kind. `*` in a
   * word matches any text.
   * @throws PortolanError BAD_USER_INPUT for a word without `*` that names no kind or several, or a pattern that matches no kind.
   */
  kinds(words: readonly string[]): readonly CatalogKind[];
}

/** @param kinds the served kinds of the catalog. A kind whose types could not be built is left out. */
export function servedKinds(catalog: Catalog, kinds: readonly CatalogKind[]): ServedKinds {
  const byKey = new Map(kinds.map((kind) => [kind.key, kind]));
  const byWord = wordsOf(kinds);
  // The first of several kinds, as in relations of the catalog.
  const byText = new Map(kinds.toReversed().map((kind) => [textOfKind(kind.resource), kind]));
  return {
    id: createHash('sha256').update(catalog.hash).digest('hex').slice(0, 16),
    catalog,
    all: kinds,
    clusters: new Set(kinds.flatMap(({ clusters }) => clusters).sort()),
    kind: (key) => byKey.get(key),
    kindOf: (group, kind) => byText.get(textOfKind({ group, kind })),
    kinds: (words) =>
      words.flatMap((word) => (word.includes('*') ? kindsOfPattern(byKey, word) : kindOfWord(byWord, word))),
  };
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
  return words;
}

function kindsOfPattern(kinds: ReadonlyMap<string, CatalogKind>, pattern: string): readonly CatalogKind[] {
  const fits = namePattern(pattern);
  const found = [...kinds.values()].filter(({ key, names }) =>
    [names.type, names.list, key].some((name) => fits.test(name)),
  );
  if (found.length > 0) return found;
  throw new PortolanError('BAD_USER_INPUT', `No kind fits ${JSON.stringify(pattern)}.`);
}

function kindOfWord(words: ReadonlyMap<string, readonly CatalogKind[]>, word: string): CatalogKind {
  const found = words.get(word) ?? [];
  const [only] = found;
  if (only === undefined) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `There is no kind ${JSON.stringify(word)}; name it by its type (Pod), its list (pods) or plural.group (deployments.apps).`,
    );
  }
  if (found.length > 1) {
    const types = found.map(({ names }) => names.type).join(', ');
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${JSON.stringify(word)} is the kind of several groups; say which: ${types}.`,
    );
  }
  return only;
}
