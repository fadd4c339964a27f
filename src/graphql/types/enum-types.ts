/** The enums of a kind's own fields. The kind's object and its filter have the same ones. */
import { GraphQLEnumType } from 'graphql';
import { must } from '../../base/must.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { shapeOf } from '../../catalog/tree/field-tree.ts';

/** By the field's name. */
export type EnumTypes = ReadonlyMap<string, GraphQLEnumType>;

/** The enums of a kind. @throws for values that GraphQL does not accept */
export function enumTypes({ names, tree, resource }: CatalogKind): EnumTypes {
  return new Map(
    shapeOf(tree, tree.root).fields.flatMap(({ name, type }): [string, GraphQLEnumType][] => {
      if (type.kind !== 'leaf' || type.values === undefined) return [];
      const made = new GraphQLEnumType({
        name: must(names.enums?.[name], `the enum of ${name} has a name`),
        description: `The values of ${name} of ${resource.kind}.`,
        values: Object.fromEntries(type.values.map((value) => [value, {}])),
      });
      return [[name, made]];
    }),
  );
}
