/**
 * The declared relations, and which of them a described kind has.
 *
 *   schema/relations.yaml, --relations FILE -> readRelations -> RelationSet -> `of` one kind and its schema -> DescribedRelation
 *
 * A relation is left out of a kind whose schema does not have its places. For a shipped relation this is normal, because versions of
 * Kubernetes differ. For other relations it is a mistake, and `of` returns a message.
 */
import { codeOf } from '../../base/errors.ts';
import { resolvePath } from '../paths/resolve-path.ts';
import { type DescribedRelation, describeRelation, placesOf } from '../relations/described-relation.ts';
import { pathOfMention } from '../relations/place-text.ts';
import { type ReadRelations, readAnnotation } from '../relations/read-relations.ts';
import { type Relation, type RelationMeans, relationOrigins, textOfKind } from '../relations/relation.ts';
import type { FieldTree } from '../tree/field-tree.ts';
import { joinPaths, type Path } from '../tree/path.ts';
import { inferRelations } from './infer-relations.ts';
import type { ServedKind } from './kind-by-name.ts';

/** The annotation of a CustomResourceDefinition with declarations of the kind's relations, without `from`. */
export const relationsAnnotation = 'portolan.dev/relations';

interface KindRelations {
  readonly relations: readonly DescribedRelation[];
  readonly messages: readonly string[];
}

interface RelationSetOptions {
  /** Whether the annotations of definitions count. Default: they do not. */
  readonly annotations?: boolean;
  /** Whether relations of custom resources are inferred from their schemas. Default: they are not. */
  readonly infer?: boolean;
}

/** Facts about a kind besides its schema. */
interface KindFacts {
  /** The annotation `relationsAnnotation` of its definition. */
  readonly annotation?: string | undefined;
  /** Every kind that the cluster serves. Without them nothing is inferred. */
  readonly kinds?: readonly ServedKind[] | undefined;
}

export class RelationSet {
  /** By kind text, in the order of precedence. */
  readonly #declared = new Map<string, Relation[]>();
  readonly #problems = new Map<string, string[]>();
  readonly #off: ReadonlySet<string>;
  readonly #annotations: boolean;
  readonly #infer: boolean;

  /** @param declared the shipped declarations and those of the configuration. */
  constructor(declared: readonly ReadRelations[], { annotations = false, infer = false }: RelationSetOptions = {}) {
    this.#annotations = annotations;
    this.#infer = infer;
    this.#off = new Set(declared.flatMap(({ off }) => off));
    for (const { relations, problems } of declared) {
      for (const relation of relations) add(this.#declared, textOfKind(relation.source), relation);
      for (const { source, declaration, message } of problems) {
        if (source !== null) add(this.#problems, source, `the relation ${declaration} is left out: ${message}`);
      }
    }
    for (const relations of this.#declared.values()) relations.sort((a, b) => rankOf(a) - rankOf(b));
  }

  /** The relations that begin at a kind. */
  of(kind: ServedKind, tree: FieldTree, { annotation, kinds }: KindFacts = {}): KindRelations {
    const source = textOfKind(kind);
    const messages = [...(this.#problems.get(source) ?? [])];
    const annotated = annotation === undefined || !this.#annotations ? null : readAnnotation(annotation, kind);
    for (const { declaration, message } of annotated?.problems ?? []) {
      messages.push(`${declaration} of ${relationsAnnotation} is left out: ${message}`);
    }
    const relations = new Map<string, DescribedRelation>();
    for (const relation of [...(this.#declared.get(source) ?? []), ...(annotated?.relations ?? [])]) {
      const { name, origin } = relation;
      if (this.#off.has(`${source}.${name}`)) continue;
      const earlier = relations.get(name);
      if (earlier !== undefined) {
        if (earlier.origin === origin) messages.push(`the relation ${name} is declared twice; the first one is used`);
        continue;
      }
      const { means, missing } = inTree(relation.means, tree);
      if (origin !== 'SHIPPED') {
        for (const path of missing)
          messages.push(`the relation ${name} refers to ${path}, which the schema does not have`);
      }
      if (means !== null) relations.set(name, describeRelation({ ...relation, means }));
    }
    if (this.#infer && kinds !== undefined) {
      const known = new Set(placesOf([...relations.values()]).map(pathOfMention));
      for (const relation of inferRelations(kind, tree, kinds).relations) {
        const described = describeRelation(relation);
        const { name } = described;
        const declared = placesOf([described]).some((place) => known.has(pathOfMention(place)));
        if (!declared && !relations.has(name) && !this.#off.has(`${source}.${name}`)) relations.set(name, described);
      }
    }
    return { relations: [...relations.values()], messages };
  }
}

/** The means without the places that the schema does not have; null without any place. */
function inTree(
  means: RelationMeans,
  tree: FieldTree,
): { readonly means: RelationMeans | null; readonly missing: readonly string[] } {
  switch (means.by) {
    case 'owner':
    case 'owns':
      return { means, missing: [] };
    case 'selector': {
      const found = isIn(tree, means.place.path);
      return found ? { means, missing: [] } : { means: null, missing: [means.place.path.text] };
    }
    case 'reference': {
      const nameOf = ({ at, name }: (typeof means.places)[number]): Path => (name === null ? at : joinPaths(at, name));
      const places = means.places.filter((place) => isIn(tree, nameOf(place)));
      const missing = means.places.filter((place) => !places.includes(place)).map((place) => nameOf(place).text);
      return { means: places.length === 0 ? null : { by: 'reference', places }, missing };
    }
  }
}

function isIn(tree: FieldTree, path: Path): boolean {
  try {
    resolvePath(tree, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'BAD_USER_INPUT') return false;
    throw error;
  }
}

function rankOf({ origin }: Relation): number {
  return relationOrigins.indexOf(origin);
}

function add<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  list.push(item);
}
