/**
 * The filter inputs of the shapes below a kind's root. Each mirrors the object type of its shape and has its name
 * (src/catalog/names/shape-names.ts):
 *
 *   spec: PodSpec                 PodSpec_Filter         a field for each field of PodSpec, and `exists`
 *   containers: [Container!]      Container_ListFilter   some, none, every, exists
 *   a map of objects              Foo_spec_x_MapFilter   key, exists, value
 *
 * As with object types, an input belongs to its kind. Inputs of definitions (PodSpec) belong to all kinds that have the definition.
 * Inputs of the shapes in shared-shapes.ts are the same in every catalog.
 */
import { type GraphQLInputFieldConfig, GraphQLInputObjectType } from 'graphql';
import { must } from '../../base/must.ts';
import { enumFilterName } from '../../catalog/names/enum-names.ts';
import { type FieldPosition, fieldName } from '../../catalog/names/field-names.ts';
import { injectedFields } from '../../catalog/names/reserved-names.ts';
import { type FilterNames, nameFilters } from '../../catalog/names/shape-names.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { type FieldTree, type FieldType, type LeafType, shapeOf } from '../../catalog/tree/field-tree.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { sharedShapes } from '../../catalog/tree/shared-shapes.ts';
import type { Hop } from '../../query/plan/hop.ts';
import { metadataTree } from '../../reads/paths/kinds-path.ts';
import type { DefinitionTypes } from '../types/definition-types.ts';
import type { EnumTypes } from '../types/enum-types.ts';
import { inputList } from '../types/type-wrappers.ts';
import {
  enumFieldFilter,
  exists,
  type InputFields,
  type LeafFilters,
  listFilter,
  objectMapFilter,
} from './leaf-filter-types.ts';

/** The meaning of an input field. */
export type InputRole =
  | { readonly role: 'namespaces' | 'clusters' | 'ids' | 'labelSelector' | 'fieldSelector' | 'and' | 'or' | 'not' }
  | { readonly role: 'conditions' | 'paths' | 'compare' | 'search' | 'exists' | 'health' | 'usedBy' }
  /** Conditions on the objects that a relation leads to. `filter` is the input of their kind, which is null for any kind. */
  | {
      readonly role: 'related';
      readonly hop: Hop;
      readonly kind: CatalogKind | null;
      readonly filter: GraphQLInputObjectType;
    }
  | { readonly role: 'healthPart'; readonly path: Path; readonly type: LeafType }
  | { readonly role: 'leaf'; readonly name: string; readonly type: LeafType }
  | { readonly role: 'leafList'; readonly name: string; readonly type: LeafType }
  | { readonly role: 'object'; readonly name: string }
  | { readonly role: 'objectList'; readonly name: string }
  | { readonly role: 'leafMap'; readonly name: string; readonly type: LeafType }
  | { readonly role: 'objectMap'; readonly name: string };

/** The meaning of an input field as its extensions. */
export function role(value: InputRole): { extensions: { portolan: InputRole } } {
  return { extensions: { portolan: value } };
}

/** Stores the inputs of definitions by name. */
type Definitions = (name: string, make: () => GraphQLInputObjectType) => GraphQLInputObjectType;

/** The inputs for the filter of one kind, besides the kind. */
export interface FilterInputs {
  /** Has the inputs that several kinds share. */
  readonly definitions: DefinitionTypes;
  readonly enums: EnumTypes;
}

export class ShapeFilters {
  readonly #tree: FieldTree;
  readonly #names: ReadonlyMap<string, FilterNames>;
  readonly #leaves: LeafFilters;
  /** The inputs of shared-shapes.ts; null if these are those. */
  readonly #common: ShapeFilters | null;
  readonly #definitions: Definitions;
  readonly #enums: EnumTypes;
  readonly #own = new Map<string, GraphQLInputObjectType>();

  private constructor(
    tree: FieldTree,
    names: ReadonlyMap<string, FilterNames>,
    leaves: LeafFilters,
    common: ShapeFilters | null,
    definitions: Definitions,
    enums: EnumTypes,
  ) {
    this.#tree = tree;
    this.#names = names;
    this.#leaves = leaves;
    this.#common = common;
    this.#definitions = definitions;
    this.#enums = enums;
  }

  /** The inputs of the shapes that are the same in every catalog. */
  static common(leaves: LeafFilters): ShapeFilters {
    const own: Definitions = (_name, make) => make();
    return new ShapeFilters(metadataTree, nameFilters('ObjectMeta', metadataTree), leaves, null, own, new Map());
  }

  /** The inputs of a kind's shapes. */
  static ofKind(
    { key, names, tree }: CatalogKind,
    leaves: LeafFilters,
    common: ShapeFilters,
    { definitions, enums }: FilterInputs,
  ): ShapeFilters {
    const shared: Definitions = (name, make) => definitions.type(name, key, make);
    return new ShapeFilters(tree, nameFilters(names.type, tree), leaves, common, shared, enums);
  }

  /**
   * The input fields of a shape's fields, without `exists`.
   * @param reserved the names at a kind's root that belong to the gateway.
   */
  fields(
    key: string,
    position: FieldPosition,
    leftOut: ReadonlySet<string> = new Set(),
    reserved: ReadonlySet<string> = injectedFields,
  ): InputFields {
    const fields: InputFields = {};
    for (const { name, type } of shapeOf(this.#tree, key).fields) {
      if (!leftOut.has(name)) fields[fieldName(name, position, reserved)] = this.#field(name, type);
    }
    return fields;
  }

  #field(name: string, type: FieldType): GraphQLInputFieldConfig {
    const onlyExists = { type: this.#leaves.leaf('JSON'), ...role({ role: 'leaf', name, type: 'JSON' }) };
    switch (type.kind) {
      case 'leaf':
        return { type: this.#leaf(name, type), ...role({ role: 'leaf', name, type: type.type }) };
      case 'object':
        if (shapeOf(this.#tree, type.shape).fields.length === 0) return onlyExists;
        return { type: this.#object(type.shape), ...role({ role: 'object', name }) };
      case 'list': {
        const { of } = type;
        if (of.kind === 'leaf') {
          return { type: this.#leaves.list(of.type), ...role({ role: 'leafList', name, type: of.type }) };
        }
        if (of.kind !== 'object') return onlyExists;
        return { type: this.#list(of.shape), ...role({ role: 'objectList', name }) };
      }
      case 'stringMap':
        return { type: inputList(this.#leaves.mapEntry('String')), ...role({ role: 'leafMap', name, type: 'String' }) };
      case 'map': {
        const { of } = type;
        if (of.kind === 'leaf') {
          return { type: inputList(this.#leaves.mapEntry(of.type)), ...role({ role: 'leafMap', name, type: of.type }) };
        }
        if (of.kind !== 'object') return onlyExists;
        return { type: inputList(this.#mapEntry(of.shape)), ...role({ role: 'objectMap', name }) };
      }
    }
  }

  #leaf(field: string, { type, values }: Extract<FieldType, { kind: 'leaf' }>): GraphQLInputObjectType {
    if (values === undefined) return this.#leaves.leaf(type);
    const of = must(this.#enums.get(field), `the field ${field} has its enum`);
    return enumFieldFilter(enumFilterName(of.name), of);
  }

  #object(key: string): GraphQLInputObjectType {
    return this.#input(key, 'object', (self, name, of) => {
      const fields = (): InputFields => {
        const made: InputFields = { exists: { ...exists, ...role({ role: 'exists' }) } };
        for (const [field, config] of Object.entries(self.fields(key, 'nested'))) {
          made[field === 'exists' ? 'exists_' : field] = config;
        }
        return made;
      };
      return new GraphQLInputObjectType({ name, description: `Conditions on ${of}.`, fields });
    });
  }

  #list(key: string): GraphQLInputObjectType {
    return this.#input(key, 'list', (self, name, of) => listFilter(name, of, self.#object(key)));
  }

  #mapEntry(key: string): GraphQLInputObjectType {
    return this.#input(key, 'mapEntry', (self, name, of) => objectMapFilter(name, of, self.#object(key)));
  }

  /** The input of a shape in this form. It is made once, by the inputs that it belongs to. */
  #input(
    key: string,
    form: 'object' | 'list' | 'mapEntry',
    make: (self: ShapeFilters, name: string, of: string) => GraphQLInputObjectType,
  ): GraphQLInputObjectType {
    if (this.#common !== null && sharedShapes.has(key)) return this.#common.#input(key, form, make);
    const { of, [form]: name } = this.#namesOf(key);
    const found = this.#own.get(name);
    if (found !== undefined) return found;
    const made = (): GraphQLInputObjectType => make(this, name, of);
    const input = shapeOf(this.#tree, key).definition === undefined ? made() : this.#definitions(name, made);
    this.#own.set(name, input);
    return input;
  }

  #namesOf(key: string): FilterNames {
    return must(this.#names.get(key), `shape ${key} has filter names`);
  }
}
