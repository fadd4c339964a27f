/**
 * The catalog of all clusters, from what each says of its resources.
 *
 * Life of the data: DescribedResource of every cluster (from the store) -> one kind per (group, plural) with the union of its trees ->
 * definitions made equal (share-definitions.ts) -> names (kind-names.ts) -> Catalog -> one generation of the GraphQL schema.
 * Invariant: the order of the input does not matter. What cannot be used costs itself only, and leaves a diagnostic.
 */
import { must } from '../base/must.ts';
import { NameClaims } from './names/check-names.ts';
import { namesOf } from './names/kind-names.ts';
import { isOwnGroup } from './names/reserved-names.ts';
import type { Catalog, CatalogKind, DescribedResource, Diagnostic } from './resources/catalog.ts';
import { resourceKey } from './resources/resource.ts';
import type { FieldTree } from './tree/field-tree.ts';
import { mergeTrees } from './tree/merge-trees.ts';
import { shareDefinitions } from './tree/share-definitions.ts';
import { hashText } from './tree/structure-hash.ts';
import { compareText } from './values/values.ts';

/** One kind with the descriptions of all clusters that agree on it, sorted by cluster. */
interface Gathered {
  readonly key: string;
  readonly first: DescribedResource;
  readonly all: readonly DescribedResource[];
  readonly tree: FieldTree;
}

/** Puts the catalog together. A cluster describes each (group, plural) once; of several descriptions the last in order counts. */
export function assembleCatalog(described: readonly DescribedResource[]): Catalog {
  const diagnostics: Diagnostic[] = [];
  const gathered = gather(described, diagnostics);
  const trees = shareDefinitions(
    gathered.map(({ key, first, tree }) => ({ key, own: isOwnGroup(first.resource.group), tree })),
    (resource, message) => diagnostics.push({ cluster: clusterOf(gathered, resource), resource, message }),
  );
  const claims = new NameClaims();
  const kinds: CatalogKind[] = [];
  for (const [i, kind] of gathered.entries()) {
    const tree = must(trees[i], 'each kind has its tree');
    const names = namesOf(kind.first.resource);
    const taken = claims.claim({ key: kind.key, names, tree });
    if (taken !== null) {
      diagnostics.push({ cluster: kind.first.cluster, resource: kind.key, message: `${taken}; the kind is left out` });
      continue;
    }
    const made: Omit<CatalogKind, 'hash'> = {
      key: kind.key,
      resource: kind.first.resource,
      names,
      tree,
      ...(kind.first.description === undefined ? {} : { description: kind.first.description }),
      printerColumns: kind.first.printerColumns,
      withheld: [...new Set(kind.all.flatMap(({ withheld }) => withheld))].sort(),
      clusters: kind.all.map(({ cluster }) => cluster),
    };
    kinds.push(Object.freeze({ ...made, hash: hashText(JSON.stringify(made)) }));
  }
  return Object.freeze({
    kinds: Object.freeze(kinds),
    diagnostics: Object.freeze(diagnostics),
    hash: hashText(kinds.map(({ key, hash }) => `${key} ${hash}`).join('\n')),
  });
}

function gather(described: readonly DescribedResource[], diagnostics: Diagnostic[]): readonly Gathered[] {
  const groups = new Map<string, Map<string, DescribedResource>>();
  for (const each of described) {
    const key = resourceKey(each.resource);
    const clusters = groups.get(key) ?? new Map<string, DescribedResource>();
    groups.set(key, clusters.set(each.cluster, each));
  }
  const sorted = [...groups].map(([key, clusters]) => ({
    key,
    all: [...clusters.values()].sort((a, b) => compareText(a.cluster, b.cluster)),
  }));
  sorted.sort((a, b) => byGroupAndPlural(firstOf(a.all), firstOf(b.all)));
  return sorted.map(({ key, all }) => {
    const first = firstOf(all);
    const agreeing: DescribedResource[] = [];
    let tree = first.tree;
    for (const each of all) {
      diagnostics.push(...each.diagnostics);
      const report = (message: string): void => {
        diagnostics.push({ cluster: each.cluster, resource: key, message });
      };
      if (each.resource.kind !== first.resource.kind || each.resource.namespaced !== first.resource.namespaced) {
        report(
          `it is another kind or has another scope than in cluster ${first.cluster}; this cluster's objects are left out`,
        );
        continue;
      }
      agreeing.push(each);
      if (each.shapeHash === first.shapeHash) continue;
      tree = mergeTrees(tree, each.tree, (path) =>
        report(`${path} has another type than in the clusters before; it is free JSON`),
      );
    }
    return { key, first, all: agreeing, tree };
  });
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
