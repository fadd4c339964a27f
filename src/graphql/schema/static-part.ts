/** The part of every generation that does not come from a catalog. It is made once. All schemas of a builder share it. */
import {
  __Schema,
  type GraphQLFieldConfigMap,
  type GraphQLInputType,
  type GraphQLNamedType,
  GraphQLObjectType,
  getNamedType,
  specifiedDirectives,
} from 'graphql';
import { must } from '../../base/must.ts';
import { runSteps } from '../../base/steps.ts';
import { FilterTypes } from '../filter/filter-types.ts';
import type { OperationContext } from '../generation/generation.ts';
import { problemsOf } from '../types/collected-schema.ts';
import { mentionedTypes, reachableTypes } from '../types/type-walk.ts';
import { type RelationFields, type Shared, sharedParts } from './kind-types.ts';
import { objectRoots } from './object-roots.ts';
import { CommonShapes } from './shape-types.ts';
import { buildStaticSchema } from './static-schema.ts';

export type RootFields = GraphQLFieldConfigMap<unknown, OperationContext>;

export class StaticPart {
  readonly filters: FilterTypes;
  readonly common: CommonShapes;
  readonly shared: Shared;
  /** Root fields of Query before and after those of the kinds. */
  readonly roots: { readonly before: RootFields; readonly behind: RootFields };
  /** Types in the order of graphql-js: of the interface of all objects, of the root fields before and behind, and of GraphQL itself. */
  readonly types: Readonly<Record<'core' | 'before' | 'behind' | 'specified', readonly GraphQLNamedType[]>>;
  readonly #core: ReadonlySet<GraphQLNamedType>;

  constructor(relations: RelationFields) {
    const base = buildStaticSchema();
    const type = (name: string): GraphQLNamedType => must(base.getType(name), `the static schema has ${name}`);
    this.filters = new FilterTypes((leaf) => type(leaf) as GraphQLInputType);
    this.common = new CommonShapes((name) => base.getType(name));
    this.shared = sharedParts(type, this.filters, relations);
    const query = must(base.getQueryType(), 'the static schema has a Query');
    this.roots = { before: query.toConfig().fields as RootFields, behind: objectRoots(this.shared) };
    const [before, behind] = [objectOf(this.roots.before), objectOf(this.roots.behind)];
    const core = reachable([this.shared.object]);
    this.#core = new Set(core);
    this.types = {
      core,
      before: reachable(mentionedTypes(before)),
      behind: reachable(mentionedTypes(behind)),
      specified: reachable([
        ...specifiedDirectives.flatMap(({ args }) => args.map((argument) => getNamedType(argument.type))),
        __Schema,
      ]),
    };
    const [problem] = problemsOf([before, behind, ...new Set(Object.values(this.types).flat())]);
    if (problem !== undefined) throw new Error(`invariant broken: the static schema is valid: ${problem}`);
  }

  /** Does the interface of all objects lead to this type? Then every kind does. */
  isCore(type: GraphQLNamedType): boolean {
    return this.#core.has(type);
  }
}

function reachable(types: readonly GraphQLNamedType[]): readonly GraphQLNamedType[] {
  return runSteps(reachableTypes(types, () => false));
}

function objectOf(fields: RootFields): GraphQLObjectType {
  return new GraphQLObjectType({ name: 'Query', fields });
}
