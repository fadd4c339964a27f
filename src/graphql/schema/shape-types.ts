/**
 * The only module that turns shapes of a field tree into GraphQL object types. Everything below a kind's root is plain data: a
 * resolver reads one property under its Kubernetes name.
 *
 * A shape's type belongs to its kind. A definition of core/v1 or meta/v1 is one type in all kinds, made from the tree of the
 * first kind that shows it. The shapes of shared-shapes.ts are the same in every catalog.
 *
 * A value that does not fit its schema is displayed as null, with an error at its field (src/catalog/values/displayed-value.ts). The items of
 * lists of custom kinds are nullable, so that such an item does not take the list with it. The definitions of Kubernetes and the kinds that
 * an API server serves itself have lists whose items are not null. Their objects fit, because the API server reads them into its own types.
 * Lists of conditions are alike in all kinds.
 */
import { type GraphQLFieldConfig, type GraphQLNamedType, GraphQLObjectType, type GraphQLOutputType } from 'graphql';
import { must } from '../../base/must.ts';
import { mayBeCustom } from '../../catalog/groups/api-group.ts';
import { fieldName } from '../../catalog/names/field-names.ts';
import { definitionName } from '../../catalog/names/kind-names.ts';
import { nameShapes } from '../../catalog/names/shape-names.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import {
  type Field,
  type FieldTree,
  type FieldType,
  type Shape,
  scalarOfMap,
  shapeOf,
} from '../../catalog/tree/field-tree.ts';
import { conditionKey, sharedShapes } from '../../catalog/tree/shared-shapes.ts';
import { displayedMember, type Items } from '../../catalog/values/displayed-value.ts';
import type { OperationContext } from '../generation/generation.ts';
import { counted, isCounted } from '../selection/answer-size.ts';
import { at, below, facts } from '../selection/field-facts.ts';
import { misfitErrors } from '../selection/misfit-errors.ts';
import type { DefinitionTypes } from '../types/definition-types.ts';
import type { EnumTypes } from '../types/enum-types.ts';
import { listOf, nonNull } from '../types/type-wrappers.ts';

export type FieldConfig = GraphQLFieldConfig<unknown, OperationContext>;

type StaticType = (name: string) => GraphQLNamedType | undefined;

/** The types that shapes of all kinds refer to. */
export class CommonShapes {
  readonly static: StaticType;
  readonly #types = new Map<string, GraphQLObjectType>();

  /** @param staticType a type of the static schema. A leaf type has the name of its scalar. */
  constructor(staticType: StaticType) {
    this.static = staticType;
  }

  /** The type of a shape that is the same in every catalog; undefined for other shapes. */
  type(key: string): GraphQLObjectType | undefined {
    const shape = sharedShapes.get(key);
    if (shape === undefined) return undefined;
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    const made = new ShapeTypes(commonTree, commonNames, this).object(key);
    this.#types.set(key, made);
    return made;
  }
}

const commonTree: FieldTree = { root: '', shapes: Object.fromEntries(sharedShapes) };
const commonNames: ReadonlyMap<string, string> = new Map(
  [...sharedShapes.values()].map(({ key, definition }) => [key, definitionName(definition ?? key)]),
);

/** The definitions of a kind, by name. */
type Definitions = (name: string, make: () => GraphQLObjectType) => GraphQLObjectType;

/** The object types of one tree's shapes. */
export class ShapeTypes {
  readonly #tree: FieldTree;
  readonly #names: ReadonlyMap<string, string>;
  readonly #common: CommonShapes;
  readonly #definitions: Definitions;
  readonly #enums: EnumTypes;
  readonly #isCustom: boolean;
  readonly #types = new Map<string, GraphQLObjectType>();

  /**
   * @param names the type names of shapes by their keys.
   * @param enums those of the root's fields
   * @param isCustom is it the tree of a custom kind?
   */
  constructor(
    tree: FieldTree,
    names: ReadonlyMap<string, string>,
    common: CommonShapes,
    definitions: Definitions = (_name, make) => make(),
    enums: EnumTypes = new Map(),
    isCustom = false,
  ) {
    this.#tree = tree;
    this.#names = names;
    this.#common = common;
    this.#definitions = definitions;
    this.#enums = enums;
    this.#isCustom = isCustom;
  }

  static ofKind(
    { key, names, tree, resource }: CatalogKind,
    common: CommonShapes,
    definitions: DefinitionTypes,
    enums: EnumTypes,
  ): ShapeTypes {
    const shared: Definitions = (name, make) => definitions.type(name, key, make);
    return new ShapeTypes(tree, nameShapes(names.type, tree), common, shared, enums, mayBeCustom(resource.group));
  }

  /** A field of a kind's or a shape's type. @param definition the definition whose field it is, if any */
  field({ name, type, description, required }: Field, definition?: string): FieldConfig {
    const items = this.#itemsOf(type, definition);
    const shown = { name, type, items };
    const output = this.#enumOf(name, type) ?? this.#output(type, items);
    const isShown = isCounted(output);
    return {
      type: output,
      ...(description === undefined ? {} : { description }),
      extensions: facts({
        need: type.kind === 'object' ? below(name) : at(name),
        plain: { is: 'member', ...shown },
        required: required === true,
      }),
      resolve: (source, _args, context) => {
        const value = displayedMember(shown, source as Readonly<Record<string, unknown>>, misfitErrors(context));
        return isShown ? counted(context, value) : value;
      },
    };
  }

  /** A new type for a shape that has fields. */
  object(key: string): GraphQLObjectType {
    const shape = shapeOf(this.#tree, key);
    return new GraphQLObjectType({
      name: must(this.#names.get(key), `shape ${key} has a name`),
      description: shape.description ?? placeOf(shape),
      fields: () =>
        Object.fromEntries(
          shape.fields.map((field) => [fieldName(field.name, 'nested'), this.field(field, shape.definition)]),
        ),
    });
  }

  #enumOf(name: string, type: FieldType): GraphQLOutputType | null {
    if (type.kind !== 'leaf' || type.values === undefined) return null;
    return must(this.#enums.get(name), `the field ${name} has its enum`);
  }

  #itemsOf(type: FieldType, definition: string | undefined): Items {
    if (!this.#isCustom || definition !== undefined) return 'nonNull';
    return type.kind === 'list' && type.of.kind === 'object' && type.of.shape === conditionKey ? 'nonNull' : 'nullable';
  }

  #output(type: FieldType, items: Items): GraphQLOutputType {
    switch (type.kind) {
      case 'leaf':
        return this.#scalar(type.type === 'IP' ? 'String' : type.type);
      case 'stringMap':
        return this.#scalar('StringMap');
      case 'map':
        return this.#scalar(scalarOfMap(type));
      case 'list': {
        const of = this.#output(type.of, items);
        // A Kubernetes list of free JSON may contain null.
        return listOf(items === 'nullable' || (type.of.kind === 'leaf' && type.of.type === 'JSON') ? of : nonNull(of));
      }
      case 'object':
        return this.#shapeType(type.shape);
    }
  }

  #scalar(name: string): GraphQLOutputType {
    return must(this.#common.static(name), `the static schema has ${name}`) as GraphQLOutputType;
  }

  #shapeType(key: string): GraphQLOutputType {
    const { definition, fields } = shapeOf(this.#tree, key);
    if (fields.length === 0) return this.#scalar('JSON');
    const name = must(this.#names.get(key), `shape ${key} has a name`);
    const ready = this.#common.static(name);
    if (ready instanceof GraphQLObjectType) return ready;
    const common = this.#common.type(key);
    if (common !== undefined) return common;
    return definition === undefined ? this.#own(key) : this.#definitions(name, () => this.object(key));
  }

  #own(key: string): GraphQLObjectType {
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    const made = this.object(key);
    this.#types.set(key, made);
    return made;
  }
}

/** The description of a shape without one. */
function placeOf({ definition, path }: Shape): string {
  return definition === undefined ? `The value of ${path.join('.')}.` : `The type ${definition} of Kubernetes.`;
}
