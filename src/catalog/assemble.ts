/**
 * Assembles the catalog of all clusters from their resource descriptions.
 *
 * Life of the data:
 *   DescribedResource of every cluster (from the store)
 *   -> one kind per (group, plural), with the union of its field trees
 *   -> shared definitions made equal (share-definitions.ts)
 *   -> names, in the order in which the kinds came (name-claims.ts)
 *   -> relations between the kinds (relate-kinds.ts)
 *   -> Catalog
 *   -> one generation of the GraphQL schema
 *
 * Invariants: the order of the input does not matter. An unusable description drops only its own kind and leaves a diagnostic. A
 * kind whose hash did not change stays the same object in the assembler's next catalog, so types made from it can be reused.
 */
import { isDeepStrictEqual } from 'node:util';
import { must } from '../base/must.ts';
import { runSteps, type Steps } from '../base/steps.ts';
import { nameEnums } from './names/enum-names.ts';
import { type NamedKind, namedKindId, withPrefix } from './names/kind-names.ts';
import { NameClaims } from './names/name-claims.ts';
import { type RelatedKind, relateKinds } from './names/relate-kinds.ts';
import { isOwnGroup } from './names/reserved-names.ts';
import type {
  Catalog,
  CatalogKind,
  DescribedResource,
  Diagnostic,
  KindNames,
  KindRelation,
} from './resources/catalog.ts';
import { resourceKey } from './resources/resource.ts';
import type { FieldTree } from './tree/field-tree.ts';
import { mergeTrees } from './tree/merge-trees.ts';
import { requireTheSame } from './tree/required-fields.ts';
import { shareDefinitions } from './tree/share-definitions.ts';
import { hashText } from './tree/structure-hash.ts';
import { compareText } from './values/values.ts';

/** One kind, merged from the descriptions of all clusters. */
interface Gathered {
  readonly key: string;
  /** All descriptions of this group and plural, sorted by when their Kind came, then by cluster. */
  readonly from: readonly DescribedResource[];
  /** The first of `from`. */
  readonly first: DescribedResource;
  /** The descriptions with the Kind and the scope (namespaced or not) of `first`, in the order of `from`. */
  readonly all: readonly DescribedResource[];
  readonly tree: FieldTree;
  readonly diagnostics: readonly Diagnostic[];
}

/** A kind and its inputs. */
interface Made {
  readonly gathered: Gathered;
  /** With shared definitions. */
  readonly tree: FieldTree;
  /** As JSON. */
  readonly relations: string;
  readonly kind: CatalogKind;
}

/** A kind that has its names. */
interface Claimed {
  readonly gathered: Gathered;
  readonly tree: FieldTree;
  readonly names: KindNames;
}

/** Assembles the catalog synchronously, without an earlier catalog. */
export function assembleCatalog(
  described: readonly DescribedResource[],
  came?: readonly NamedKind[],
  typePrefix?: string,
): Catalog {
  return runSteps(new CatalogAssembler(typePrefix).assemble(described, came));
}

/** Assembles successive catalogs and reuses the kinds that did not change. */
export class CatalogAssembler {
  readonly #typePrefix: string;
  #gathered = new Map<string, Gathered>();
  #made = new Map<string, Made>();

  /** @param typePrefix what the names of types begin with */
  constructor(typePrefix = '') {
    this.#typePrefix = typePrefix;
  }

  /**
   * Each step handles one kind. A cluster describes each (group, plural) once; the last of several descriptions wins.
   * Descriptions are compared by identity.
   * @param came all kinds in the order in which they came, also those that are gone. Kinds that it lacks come behind them: those of
   * kube-apiserver, then the others by their keys.
   */
  *assemble(described: readonly DescribedResource[], came: readonly NamedKind[] = []): Steps<Catalog> {
    const diagnostics: Diagnostic[] = [];
    const gathered: Gathered[] = [];
    const order = new Map(came.map((kind, at) => [namedKindId(kind), at]));
    for (const { key, all } of sortedKinds(described, order)) {
      yield;
      const kind = this.#gather(key, all);
      gathered.push(kind);
      diagnostics.push(...kind.diagnostics);
    }
    const trees = yield* shareDefinitions(
      gathered.map((kind) => ({ key: kind.key, own: isOwn(kind), tree: kind.tree })),
      (resource, message) => diagnostics.push({ cluster: clusterOf(gathered, resource), resource, message }),
    );
    const claims = new NameClaims();
    for (const each of came) {
      yield;
      claims.namesOf(each);
    }
    const behind = gathered.toSorted((a, b) => Number(isOwn(b)) - Number(isOwn(a)));
    for (const { first } of behind) claims.namesOf(first.resource);
    const enums = nameEnums(
      gathered
        .map(({ key, first }, i) => ({
          key,
          type: claims.namesOf(first.resource).names.type,
          tree: must(trees[i], 'each kind has its tree'),
          at: cameAt(first, order),
        }))
        .sort((a, b) => a.at - b.at),
      (name) => claims.hasType(name),
    );
    const claimed: Claimed[] = [];
    for (const [i, kind] of gathered.entries()) {
      yield;
      const { first, key, all } = kind;
      const tree = must(trees[i], 'each kind has its tree');
      const { names: given, taken } = claims.namesOf(first.resource);
      const named = enums.get(key);
      const names = withPrefix(this.#typePrefix, named === undefined ? given : { ...given, enums: named });
      claimed.push({ gathered: kind, tree, names });
      if (taken === null) continue;
      const message = `${taken}; the type is ${names.type}, the list ${names.list}`;
      for (const { cluster } of all) diagnostics.push({ cluster, resource: key, message });
    }
    yield;
    const related = relateKinds(claimed.map(relatedKind));
    diagnostics.push(...related.diagnostics);
    const kinds: CatalogKind[] = [];
    for (const each of claimed) {
      yield;
      kinds.push(this.#make(each, related.relations.get(each.gathered.key) ?? []));
    }
    this.#gathered = new Map(gathered.map((kind) => [kind.key, kind]));
    this.#made = new Map(kinds.map(({ key }) => [key, must(this.#made.get(key), 'the kind was made')]));
    return Object.freeze({
      typePrefix: this.#typePrefix,
      kinds: Object.freeze(kinds),
      diagnostics: Object.freeze(diagnostics),
      hash: hashText(kinds.map(({ key, hash }) => `${key} ${hash}`).join('\n')),
    });
  }

  #gather(key: string, from: readonly DescribedResource[]): Gathered {
    const known = this.#gathered.get(key);
    if (known?.from.length === from.length && known.from.every((each, i) => each === from[i])) return known;
    const made = gather(key, from);
    this.#gathered.set(key, made);
    return made;
  }

  #make({ gathered, tree, names }: Claimed, relations: readonly KindRelation[]): CatalogKind {
    const known = this.#made.get(gathered.key);
    const related = JSON.stringify(relations);
    const isKept = known?.gathered === gathered && known.tree === tree && isDeepStrictEqual(known.kind.names, names);
    if (isKept && known.relations === related) return known.kind;
    const { key, first, all } = gathered;
    const parts = {
      key,
      resource: first.resource,
      names,
      tree,
      ...(first.description === undefined ? {} : { description: first.description }),
      printerColumns: first.printerColumns,
      redacted: [...new Set(all.flatMap(({ redacted }) => redacted))].sort(),
      relations,
      ...(first.health === undefined ? {} : { health: first.health }),
    };
    const clusters = all.map(({ cluster }) => cluster);
    const shapeHash = hashText(JSON.stringify(parts));
    const hash = hashText(`${shapeHash} ${JSON.stringify(clusters)}`);
    const kind = known?.kind.hash === hash ? known.kind : Object.freeze({ ...parts, clusters, shapeHash, hash });
    this.#made.set(key, { gathered, tree, relations: related, kind });
    return kind;
  }
}

/** Whether kube-apiserver itself serves the group. */
function isOwn({ first }: Gathered): boolean {
  return isOwnGroup(first.resource.group);
}

function relatedKind({ gathered: { key, first, all }, tree }: Claimed): RelatedKind {
  const declared = all.flatMap(({ relations = [] }) => relations);
  return { key, resource: first.resource, tree, clusters: all.map(({ cluster }) => cluster), declared };
}

interface Sorted {
  readonly key: string;
  /** Sorted by when their Kind came, then by cluster. */
  readonly all: readonly DescribedResource[];
}

/** The descriptions of each kind, sorted by group and plural. `order`: when each key and Kind came. */
function sortedKinds(described: readonly DescribedResource[], order: ReadonlyMap<string, number>): readonly Sorted[] {
  const groups = new Map<string, Map<string, DescribedResource>>();
  for (const each of described) {
    const key = resourceKey(each.resource);
    const clusters = groups.get(key) ?? new Map<string, DescribedResource>();
    groups.set(key, clusters.set(each.cluster, each));
  }
  const kinds = [...groups].map(([key, clusters]) => ({
    key,
    all: [...clusters.values()].sort(
      (a, b) => cameAt(a, order) - cameAt(b, order) || compareText(a.cluster, b.cluster),
    ),
  }));
  return kinds.sort((a, b) => byGroupAndPlural(firstOf(a.all), firstOf(b.all)));
}

/** When the Kind came, by its place in the order of all; behind them if it is not there. */
function cameAt({ resource }: DescribedResource, order: ReadonlyMap<string, number>): number {
  return order.get(namedKindId(resource)) ?? order.size;
}

/** One kind from its sorted descriptions. */
function gather(key: string, from: readonly DescribedResource[]): Gathered {
  const first = firstOf(from);
  const all: DescribedResource[] = [];
  const diagnostics: Diagnostic[] = [];
  let tree = first.tree;
  for (const each of from) {
    diagnostics.push(...each.diagnostics.map((diagnostic): Diagnostic => ({ ...diagnostic, isDescribed: true })));
    const report = (message: string): void => {
      diagnostics.push({ cluster: each.cluster, resource: key, message });
    };
    if (each.resource.kind !== first.resource.kind || each.resource.namespaced !== first.resource.namespaced) {
      report(
        `it is another kind or has another scope than in cluster ${first.cluster}; this cluster's objects are left out`,
      );
      continue;
    }
    all.push(each);
    if (each.shapeHash === first.shapeHash && requireTheSame(first.tree, each.tree)) continue;
    tree = mergeTrees(tree, each.tree, (path) =>
      report(`${path} has another type than in the clusters before; it is free JSON`),
    );
  }
  return { key, from, first, all, tree, diagnostics };
}

function firstOf(all: readonly DescribedResource[]): DescribedResource {
  return must(all[0], 'a kind has a cluster');
}

function byGroupAndPlural(a: DescribedResource, b: DescribedResource): number {
  return compareText(a.resource.group, b.resource.group) || compareText(a.resource.plural, b.resource.plural);
}

function clusterOf(gathered: readonly Gathered[], key: string): string {
  return gathered.find((kind) => kind.key === key)?.first.cluster ?? '';
}
