/**
 * The types of kinds, made kind by kind and kept while they are valid.
 *
 * Owns: which types of an earlier build are reused, and which kind is blamed for a type that cannot be made.
 *
 *   shells   the types of every kind without fields, so that kinds can refer to each other
 *   fields   kind by kind: its fields are made and its types validated. The types of other kinds are left out.
 *
 * A part is kept while all of these hold:
 * - its CatalogKind is the same object
 * - the kinds that it refers to are kept (or still missing)
 * - the kinds that share definitions are the same
 * So a kept type leads to kept types only, and two schemas may share it.
 *
 * Blame: a definition's type (PodSpec) is made from the tree of the first kind that shows it. If that fails, all kinds that show
 * it fail, and only the first kind is blamed. The next attempt makes the type from the tree of another kind.
 */
import { type GraphQLNamedType, GraphQLObjectType } from 'graphql';
import { messageOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { Steps } from '../../base/steps.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { definitionsOf } from '../../catalog/tree/share-definitions.ts';
import { addPrefix, problemsOf } from '../types/collected-schema.ts';
import { DefinitionTypes } from '../types/definition-types.ts';
import { enumTypes } from '../types/enum-types.ts';
import { type OperationTypeName, operationTypes, rootNames } from '../types/root-types.ts';
import { mentionedTypes, reachableTypes, TypeFailure } from '../types/type-walk.ts';
import type { KindShells } from './kind-shells.ts';
import { type KindRoots, makeShells, rootsOf } from './kind-types.ts';
import { ShapeTypes } from './shape-types.ts';
import type { StaticPart } from './static-part.ts';

/** The complete and valid types of one kind of a schema. */
export interface KindPart {
  readonly shells: KindShells;
  readonly roots: KindRoots;
  /**
   * The types that the kind's object and its root fields lead to, in the order of graphql-js. Each type is listed
   * once. The types that other kinds list and the core types of the static part are not listed.
   */
  readonly types: Readonly<Record<'object' | OperationTypeName, readonly GraphQLNamedType[]>>;
  /** The other kinds that it refers to, by key; undefined for a kind that was missing. */
  readonly neighbours: ReadonlyMap<string, KindShells | undefined>;
  /** Null for a kind without definitions. */
  readonly definitions: DefinitionTypes | null;
}

interface LookedAt {
  /** The parts of all kinds, in their order; empty if one failed. */
  readonly parts: readonly KindPart[];
  /** The errors of the kinds that are to blame, by key. */
  readonly failed: ReadonlyMap<string, string>;
}

type BegunPart = Omit<KindPart, 'types'>;

/** Types that are validated together, so that a large kind is validated in several steps. */
const typesAtOnce = 200;

export class KindParts {
  readonly #static: StaticPart;
  readonly #typePrefix: string;
  readonly #validated = new WeakSet<GraphQLNamedType>();
  #parts = new Map<string, KindPart>();
  #definitions = new DefinitionTypes([]);

  constructor(staticPart: StaticPart, typePrefix: string) {
    this.#static = staticPart;
    this.#typePrefix = typePrefix;
  }

  /** Drops all other parts. */
  retain(parts: readonly KindPart[]): void {
    this.#parts = new Map(parts.map((part) => [part.shells.kind.key, part]));
  }

  /** The parts of these kinds, reused or made. There are none if a kind fails. */
  *lookAt(kinds: readonly CatalogKind[]): Steps<LookedAt> {
    const definitions = this.#definitionsOf(kinds);
    const kept = this.#kept(kinds, definitions);
    const shells = new Map<string, KindShells>();
    const failed = new Map<string, string>();
    const begun: BegunPart[] = [];
    for (const kind of kinds) {
      yield;
      const known = kept.get(kind.key);
      try {
        if (known === undefined) begun.push(this.#begin(kind, definitions, shells));
        else shells.set(kind.key, known.shells);
      } catch (error) {
        failed.set(kind.key, messageOf(error));
      }
    }
    const owners = ownersOf(shells.values());
    for (const each of begun) {
      const { key } = each.shells.kind;
      try {
        this.#parts.set(key, yield* this.#finish(each, (type) => (owners.get(type) ?? key) !== key));
      } catch (error) {
        const blamed = (error instanceof TypeFailure ? definitions.ownerOf(error.type) : undefined) ?? key;
        if (!failed.has(blamed)) failed.set(blamed, messageOf(error));
      }
    }
    if (failed.size > 0) return { parts: [], failed };
    return { parts: kinds.map(({ key }) => must(this.#parts.get(key), 'the kind has its part')), failed };
  }

  /** The shared definition types. They are reused while the kinds that have definitions are the same. */
  #definitionsOf(kinds: readonly CatalogKind[]): DefinitionTypes {
    const using = kinds.filter(hasDefinitions);
    const known = this.#definitions.kinds;
    if (using.length !== known.length || using.some((kind, i) => kind !== known[i])) {
      this.#definitions = new DefinitionTypes(using);
    }
    return this.#definitions;
  }

  /** The parts that are still valid. */
  #kept(kinds: readonly CatalogKind[], definitions: DefinitionTypes): ReadonlyMap<string, KindPart> {
    const wanted = new Set(kinds.map(({ key }) => key));
    const kept = new Map<string, KindPart>();
    for (const kind of kinds) {
      const part = this.#parts.get(kind.key);
      if (part?.shells.kind === kind && (part.definitions ?? definitions) === definitions) kept.set(kind.key, part);
    }
    for (let before = Number.POSITIVE_INFINITY; kept.size < before; ) {
      before = kept.size;
      for (const [key, { neighbours }] of kept) {
        const isValid = [...neighbours].every(([other, shells]) =>
          shells === undefined ? !wanted.has(other) : kept.get(other)?.shells === shells,
        );
        if (!isValid) kept.delete(key);
      }
    }
    return kept;
  }

  /** Makes the shells of a kind and adds them to `shells`. @throws for names that GraphQL does not accept. */
  #begin(kind: CatalogKind, definitions: DefinitionTypes, shells: Map<string, KindShells>): BegunPart {
    const { common, shared } = this.#static;
    const neighbours = new Map<string, KindShells | undefined>();
    const enums = enumTypes(kind);
    const own = makeShells(
      kind,
      { shared, shapes: ShapeTypes.ofKind(kind, common, definitions, enums), definitions, enums },
      (key) => {
        const found = shells.get(key);
        if (key !== kind.key) neighbours.set(key, found);
        return found;
      },
    );
    const roots = rootsOf(own, shared);
    shells.set(kind.key, own);
    return { shells: own, roots, neighbours, definitions: hasDefinitions(kind) ? definitions : null };
  }

  *#finish(begun: BegunPart, isForeign: (type: GraphQLNamedType) => boolean): Steps<KindPart> {
    const { shells, roots } = begun;
    const listed = new Set<GraphQLNamedType>();
    const isOutside = (type: GraphQLNamedType): boolean =>
      listed.has(type) || this.#static.isCore(type) || isForeign(type);
    const types: Record<keyof KindPart['types'], readonly GraphQLNamedType[]> = {
      object: add(listed, yield* reachableTypes([shells.object], isOutside)),
      query: [],
      mutation: [],
      subscription: [],
    };
    const rootTypes: GraphQLNamedType[] = [];
    for (const operation of operationTypes) {
      if (Object.keys(roots[operation]).length === 0) continue;
      const root = new GraphQLObjectType({ name: rootNames[operation], fields: roots[operation] });
      rootTypes.push(root);
      types[operation] = add(listed, yield* reachableTypes(mentionedTypes(root), isOutside));
    }
    yield* this.#validate([...rootTypes, ...listed]);
    addPrefix(this.#typePrefix, listed);
    return { ...begun, types };
  }

  /** Validates groups of types. @throws TypeFailure for an invalid type. */
  *#validate(types: readonly GraphQLNamedType[]): Steps<void> {
    const waiting = types.filter((type) => !this.#validated.has(type));
    for (let at = 0; at < waiting.length; at += typesAtOnce) {
      yield;
      const some = waiting.slice(at, at + typesAtOnce);
      if (problemsOf(some).length > 0) {
        for (const type of some) {
          const problems = problemsOf([type]);
          if (problems.length > 0) throw new TypeFailure(type, new Error(problems.join(' ')));
        }
      }
      for (const type of some) this.#validated.add(type);
    }
  }
}

function hasDefinitions({ tree }: CatalogKind): boolean {
  return definitionsOf(tree).length > 0;
}

/** The key of the kind that lists each type. Only other kinds lead to `filterOne` and `filterList`, so each of them lists these. */
function ownersOf(all: Iterable<KindShells>): ReadonlyMap<GraphQLNamedType, string> {
  const owners = new Map<GraphQLNamedType, string>();
  for (const { kind, filterOne: _one, filterList: _list, ...types } of all) {
    for (const type of Object.values(types)) owners.set(type, kind.key);
  }
  return owners;
}

function add<T>(listed: Set<T>, found: readonly T[]): readonly T[] {
  for (const each of found) listed.add(each);
  return found;
}
