/**
 * A generation: one immutable schema built from one catalog.
 *
 * The static part comes from Pothos, each kind's part from plain graphql-js, and one schema joins them. A build is a computation
 * in steps (src/base/steps.ts). It consists of attempts:
 *
 *   parts   of every kind, reused or made (kind-parts.ts)
 *   join    root fields and types of all kinds are put together; a second kind with a name that is there is left out; the names of kinds
 *           are made unique before (src/catalog/names/name-claims.ts)
 *
 * A kind that fails is left out with a diagnostic, and the next attempt begins without it. Other kinds are unaffected. The parts
 * of an attempt are kept for the next attempt and for the next generation, even if the build is cancelled.
 */

import { type GraphQLNamedType, GraphQLObjectType } from 'graphql';
import { runSteps, type Steps } from '../../base/steps.ts';
import type { Catalog, CatalogKind, Diagnostic } from '../../catalog/resources/catalog.ts';
import { servedKinds } from '../../operation/served-kinds.ts';
import type { Generation } from '../generation/generation.ts';
import { CollectedSchema, TypeCollection } from '../types/collected-schema.ts';
import { forEachOperationType, operationTypes, rootDescriptions, rootNames } from '../types/root-types.ts';
import { type KindPart, KindParts } from './kind-parts.ts';
import type { RelationFields } from './kind-shells.ts';
import { relationFields } from './relation-fields.ts';
import { type RootFields, StaticPart } from './static-part.ts';

/** Builds the schema of a catalog synchronously, without reuse. Never throws for a single kind. */
export function buildGeneration(catalog: Catalog): Generation {
  const { typePrefix } = catalog;
  return runSteps(new GenerationBuilder({ typePrefix }).build(catalog));
}

interface BuildOptions {
  /** Makes the relation fields of kinds. Default: those of the catalog. */
  readonly relations?: RelationFields;
  /** That of the catalogs. Default: nothing. */
  readonly typePrefix?: string;
}

/** Builds successive generations, and reuses the types that did not change. */
export class GenerationBuilder {
  readonly #static: StaticPart;
  readonly #parts: KindParts;

  constructor({ relations = relationFields, typePrefix = '' }: BuildOptions = {}) {
    this.#static = new StaticPart(relations, typePrefix);
    this.#parts = new KindParts(this.#static, typePrefix);
  }

  /** Each step processes a few types. Never throws for a single kind. */
  *build(catalog: Catalog): Steps<Generation> {
    const failed = new Map<string, string>();
    for (;;) {
      const kinds = catalog.kinds.filter(({ key }) => !failed.has(key));
      const made = yield* this.#parts.lookAt(kinds);
      const refused = made.failed.size > 0 ? made.failed : yield* this.#clashes(made.parts);
      if (refused.size === 0) return yield* this.#join(catalog, made.parts, failed);
      for (const [key, message] of refused) failed.set(key, message);
    }
  }

  /** Error messages, by key, of kinds whose root fields or types have a name of the static part or of an earlier kind. */
  *#clashes(parts: readonly KindPart[]): Steps<ReadonlyMap<string, string>> {
    const { roots } = this.#static;
    const fields = forEachOperationType(
      (operation) => new Set([...Object.keys(roots[operation].before), ...Object.keys(roots[operation].behind)]),
    );
    /** Types by name; null for the roots, which are made later. */
    const known = new Map(Object.values(rootNames).map((name): [string, GraphQLNamedType | null] => [name, null]));
    for (const type of this.#static.all()) known.set(type.name, type);
    const clashes = new Map<string, string>();
    for (const part of parts) {
      yield;
      const { key } = part.shells.kind;
      const own = operationTypes.flatMap((operation) =>
        Object.keys(part.roots[operation]).map((name) => ({ name, names: fields[operation] })),
      );
      const root = own.find(({ name, names }) => names.has(name))?.name;
      const type = otherTypeOf(part, known);
      if (root !== undefined) clashes.set(key, `Another kind has the root field ${root}; ${key} is left out.`);
      else if (type !== undefined) clashes.set(key, `Another kind has the type ${type.name}; ${key} is left out.`);
      else {
        for (const { name, names } of own) names.add(name);
        for (const some of Object.values(part.types)) for (const each of some) known.set(each.name, each);
      }
    }
    return clashes;
  }

  *#join(catalog: Catalog, parts: readonly KindPart[], failed: ReadonlyMap<string, string>): Steps<Generation> {
    const { core, roots: staticRoots, rootTypes, specified } = this.#static;
    const roots = forEachOperationType((operation) => {
      const { before, behind } = staticRoots[operation];
      const fields: RootFields = Object.assign({}, before, ...parts.map((part) => part.roots[operation]), behind);
      return Object.keys(fields).length === 0
        ? null
        : new GraphQLObjectType({ name: rootNames[operation], description: rootDescriptions[operation], fields });
    });
    const ordered = [
      core,
      ...parts.map((part) => part.types.object),
      ...operationTypes.flatMap((operation) => [
        roots[operation] === null ? [] : [roots[operation]],
        rootTypes[operation].before,
        ...parts.map((part) => part.types[operation]),
        rootTypes[operation].behind,
      ]),
      specified,
    ];
    const collection = new TypeCollection();
    for (const some of ordered) {
      yield;
      for (const type of some) collection.add(type);
    }
    yield;
    // Makes the root fields here. Otherwise the first operation would make them.
    for (const root of Object.values(roots)) root?.getFields();
    this.#parts.retain(parts);
    return {
      ...servedKinds(
        catalog,
        parts.map(({ shells }) => shells.kind),
      ),
      diagnostics: diagnosticsOf(catalog.kinds, failed),
      schema: new CollectedSchema({ roots, types: collection, typePrefix: catalog.typePrefix }),
    };
  }
}

/** A type of the part whose name belongs to another type; undefined without one. */
function otherTypeOf(
  { types }: KindPart,
  known: ReadonlyMap<string, GraphQLNamedType | null>,
): GraphQLNamedType | undefined {
  const own = new Map<string, GraphQLNamedType>();
  for (const some of Object.values(types)) {
    for (const type of some) {
      const other = known.has(type.name) ? known.get(type.name) : own.get(type.name);
      if (other !== undefined && other !== type) return type;
      own.set(type.name, type);
    }
  }
  return undefined;
}

function diagnosticsOf(kinds: readonly CatalogKind[], failed: ReadonlyMap<string, string>): readonly Diagnostic[] {
  return kinds.flatMap(({ key, clusters }) => {
    const message = failed.get(key);
    return message === undefined ? [] : [{ cluster: clusters.join(', '), resource: key, message }];
  });
}
