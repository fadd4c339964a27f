/** The part of every generation that does not come from a catalog. It is made once. All schemas of a builder share it. */
import {
  __Schema,
  type GraphQLFieldConfigMap,
  type GraphQLInputType,
  type GraphQLNamedType,
  GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  specifiedDirectives,
} from 'graphql';
import { must } from '../../base/must.ts';
import { runSteps } from '../../base/steps.ts';
import { FilterTypes } from '../filter/filter-types.ts';
import type { OperationContext } from '../generation/generation.ts';
import { logsRoot } from '../logs/logs-field.ts';
import { countFields } from '../selection/answer-size.ts';
import { setMutations } from '../sets/set-mutations.ts';
import { buildStaticSchema } from '../static/static-schema.ts';
import { addPrefix, problemsOf } from '../types/collected-schema.ts';
import { forEachOperationType, type OperationTypeName, rootNames } from '../types/root-types.ts';
import { mentionedTypes, reachableTypes } from '../types/type-walk.ts';
import { writesRoot } from '../writes/write-stream.ts';
import type { RelationFields } from './kind-shells.ts';
import { type Shared, sharedParts } from './kind-types.ts';
import { objectChangesRoot } from './object-changes-field.ts';
import { kindsArgument, kindsOf, objectRoots } from './object-roots.ts';
import { CommonShapes } from './shape-types.ts';
import { targetMutations } from './target-mutations.ts';

export type RootFields = GraphQLFieldConfigMap<unknown, OperationContext>;

interface Around<T> {
  /** The value for the static root fields before the kinds' root fields. */
  readonly before: T;
  /** The value for the static root fields after the kinds' root fields. */
  readonly behind: T;
}

export class StaticPart {
  readonly filters: FilterTypes;
  readonly common: CommonShapes;
  readonly shared: Shared;
  /** The static root fields by operation type: those before the kinds' root fields, and those after them. */
  readonly roots: Readonly<Record<OperationTypeName, Around<RootFields>>>;
  /** The types of the static root fields. */
  readonly rootTypes: Readonly<Record<OperationTypeName, Around<readonly GraphQLNamedType[]>>>;
  /** Types below the interface of all objects. */
  readonly core: readonly GraphQLNamedType[];
  /** GraphQL's own types. */
  readonly specified: readonly GraphQLNamedType[];
  readonly #core: ReadonlySet<GraphQLNamedType>;

  /** @param typePrefix what the names of types begin with */
  constructor(relations: RelationFields, typePrefix: string) {
    const base = buildStaticSchema();
    for (const each of Object.values(base.getTypeMap())) countFields(each);
    const type = (name: string): GraphQLNamedType => must(base.getType(name), `the static schema has ${name}`);
    this.filters = new FilterTypes((leaf) => type(leaf) as GraphQLInputType);
    this.common = new CommonShapes((name) => base.getType(name));
    this.shared = sharedParts(type, this.filters, relations);
    const behind = { ...targetMutations(this.shared), ...setMutations(this.shared) };
    const mutation = { before: fieldsOf(base.getMutationType()), behind };
    this.roots = {
      query: { before: fieldsOf(base.getQueryType()), behind: objectRoots(this.shared) },
      mutation,
      subscription: {
        before: fieldsOf(base.getSubscriptionType()),
        behind: {
          ...objectChangesRoot(this.shared),
          ...logsRoot({ type, filter: this.filters.object, kindsArgument, kindsOf }),
          ...writesRoot({ ...mutation.before, ...mutation.behind }, type),
        },
      },
    };
    const ofRecords = Object.values(this.shared.recordFields).map(({ type: each }) => getNamedType(each));
    this.core = reachable([this.shared.object, ...ofRecords]);
    this.#core = new Set(this.core);
    const rootTypes: GraphQLNamedType[] = [];
    const typesOf = (operation: OperationTypeName, fields: RootFields): readonly GraphQLNamedType[] => {
      if (Object.keys(fields).length === 0) return [];
      const root = new GraphQLObjectType({ name: rootNames[operation], fields });
      rootTypes.push(root);
      const named = reachable(mentionedTypes(root));
      // Only the schema knows which types have an interface.
      return reachable([...named, ...named.filter(isInterfaceType).flatMap((each) => base.getPossibleTypes(each))]);
    };
    this.rootTypes = forEachOperationType((operation) => {
      const { before, behind } = this.roots[operation];
      return { before: typesOf(operation, before), behind: typesOf(operation, behind) };
    });
    this.specified = reachable([
      ...specifiedDirectives.flatMap(({ args }) => args.map((argument) => getNamedType(argument.type))),
      __Schema,
    ]);
    const [problem] = problemsOf([...rootTypes, ...new Set(this.all())]);
    if (problem !== undefined) throw new Error(`invariant broken: the static schema is valid: ${problem}`);
    addPrefix(typePrefix, this.all());
  }

  /** All types, in no order; some more than once. */
  all(): readonly GraphQLNamedType[] {
    const ofRoots = Object.values(this.rootTypes).flatMap(({ before, behind }) => [...before, ...behind]);
    const { filterOne, filterList } = this.shared.anyFilters;
    return [...this.core, ...ofRoots, ...this.specified, filterOne, filterList];
  }

  /** Does the interface of all objects lead to this type? Then every kind does. */
  isCore(type: GraphQLNamedType): boolean {
    return this.#core.has(type);
  }
}

function reachable(types: readonly GraphQLNamedType[]): readonly GraphQLNamedType[] {
  return runSteps(reachableTypes(types, () => false));
}

function fieldsOf(root: GraphQLObjectType | null | undefined): RootFields {
  return root === null || root === undefined ? {} : (root.toConfig().fields as RootFields);
}
