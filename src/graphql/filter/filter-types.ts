/**
 * Filter inputs that mirror a kind's field tree. Nested inputs are named by the hash of their structure, so equal structures of
 * all kinds share one type. Those names are outside the contract. Each input field keeps its meaning in its extensions.
 * src/graphql/filter/read-filter.ts reads them to turn values into query filters.
 */
import {
  GraphQLID,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLString,
} from 'graphql';
import { must } from '../../base/must.ts';
import { type FieldPosition, fieldName } from '../../catalog/names/field-names.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { FieldTree, FieldType, LeafType, Shape } from '../../catalog/tree/field-tree.ts';
import { inputNames } from '../../catalog/tree/structure-hash.ts';
import { inputList } from '../types/type-wrappers.ts';
import { metadataTree } from './kinds-path.ts';
import {
  conditionFilter,
  type InputFields,
  leafFilter,
  leafMapFilter,
  listFilter,
  objectMapFilter,
  pathFilter,
} from './leaf-filter-types.ts';

/** The meaning of an input field. */
export type InputRole =
  | { readonly role: 'namespaces' | 'clusters' | 'ids' | 'labelSelector' | 'fieldSelector' | 'and' | 'or' | 'not' }
  | { readonly role: 'conditions' | 'paths' | 'search' }
  | { readonly role: 'leaf'; readonly name: string; readonly type: LeafType }
  | { readonly role: 'leafList'; readonly name: string; readonly type: LeafType }
  | { readonly role: 'object'; readonly name: string }
  | { readonly role: 'objectList'; readonly name: string }
  | { readonly role: 'leafMap'; readonly name: string; readonly type: LeafType }
  | { readonly role: 'objectMap'; readonly name: string };

/** Fields at a kind's root that have a filter of their own, or whose value follows from the kind. */
const common = new Set(['apiVersion', 'kind', 'metadata']);

function role(value: InputRole): { extensions: { portolan: InputRole } } {
  return { extensions: { portolan: value } };
}

/** The filter inputs of one generation, or of several that share them. */
export class FilterTypes {
  readonly #leaves = new Map<LeafType, GraphQLInputObjectType>();
  readonly #leafLists = new Map<LeafType, GraphQLInputObjectType>();
  readonly #leafMaps = new Map<LeafType, GraphQLInputObjectType>();
  readonly #nested = new Map<string, GraphQLInputObjectType>();
  readonly #lists = new Map<string, GraphQLInputObjectType>();
  readonly #maps = new Map<string, GraphQLInputObjectType>();
  readonly #scalar: (name: string) => GraphQLInputType;
  readonly #condition: GraphQLInputObjectType;
  readonly #path: GraphQLInputObjectType;
  readonly metadata: GraphQLInputObjectType;
  readonly object: GraphQLInputObjectType;

  /** @param scalar a scalar of the static schema by name. */
  constructor(scalar: (name: string) => GraphQLInputType) {
    this.#scalar = scalar;
    this.#condition = conditionFilter((type) => this.#leaf(type));
    this.#path = pathFilter(scalar);
    const inputs = new TreeInputs(metadataTree);
    this.metadata = new GraphQLInputObjectType({
      name: 'ObjectMetaFilter',
      description: 'Conditions on metadata.',
      fields: () => this.#fields(inputs, rootShape(metadataTree)),
    });
    this.object = new GraphQLInputObjectType({
      name: 'ObjectFilter',
      description: 'Conditions that every kind can answer. Null or {} means everything.',
      fields: () => this.#topFields(this.object, {}),
    });
  }

  /** The filter input of a kind. */
  ofKind(kind: CatalogKind): GraphQLInputObjectType {
    const made: GraphQLInputObjectType = new GraphQLInputObjectType({
      name: kind.names.filter,
      description: `Conditions on ${kind.names.type}. Null or {} means everything.`,
      fields: () => {
        const data = this.#fields(new TreeInputs(kind.tree), rootShape(kind.tree), 'root');
        return this.#topFields(made, data);
      },
    });
    return made;
  }

  /** Drops the nested inputs that are no longer used. Until then, equal content gives the same input object. */
  retain(isUsed: (input: GraphQLInputObjectType) => boolean): void {
    for (const inputs of [this.#nested, this.#lists, this.#maps]) {
      for (const [name, input] of inputs) if (!isUsed(input)) inputs.delete(name);
    }
  }

  #topFields(self: GraphQLInputObjectType, data: InputFields): InputFields {
    const top: InputFields = {
      clusters: { type: inputList(GraphQLString), ...role({ role: 'clusters' }) },
      namespaces: { type: inputList(GraphQLString), ...role({ role: 'namespaces' }) },
      ids: { type: inputList(GraphQLID), ...role({ role: 'ids' }) },
      labelSelector: {
        type: GraphQLString,
        description: "The API server's own grammar: app=web,tier in (front,back),!legacy",
        ...role({ role: 'labelSelector' }),
      },
      fieldSelector: {
        type: GraphQLString,
        description:
          "The API server's own grammar, on any value: status.phase!=Running,spec.nodeName=. No value counts as '', false or 0.",
        ...role({ role: 'fieldSelector' }),
      },
      search: {
        type: GraphQLString,
        description:
          'Words, or parts of words, that all occur in the name, in labels as key=value, in images or in other searched paths. Letter case of ASCII counts as nothing. Without orderBy the best matches of the name come first.',
        ...role({ role: 'search' }),
      },
      metadata: { type: this.metadata, ...role({ role: 'object', name: 'metadata' }) },
      condition: { type: inputList(this.#condition), ...role({ role: 'conditions' }) },
      path: { type: inputList(this.#path), ...role({ role: 'paths' }) },
      and: { type: inputList(self), ...role({ role: 'and' }) },
      or: { type: inputList(self), ...role({ role: 'or' }) },
      not: { type: self, ...role({ role: 'not' }) },
    };
    for (const [name, config] of Object.entries(data)) top[Object.hasOwn(top, name) ? `${name}_` : name] = config;
    return top;
  }

  #fields(inputs: TreeInputs, shape: Shape, position: FieldPosition = 'nested'): InputFields {
    const fields: InputFields = {};
    for (const { name, type } of shape.fields) {
      if (position === 'root' && common.has(name)) continue;
      const made = this.#field(inputs, name, type);
      if (made !== null) fields[fieldName(name, position)] = made;
    }
    return fields;
  }

  #field(inputs: TreeInputs, name: string, type: FieldType): GraphQLInputFieldConfig | null {
    switch (type.kind) {
      case 'leaf':
        return { type: this.#leaf(type.type), ...role({ role: 'leaf', name, type: type.type }) };
      case 'object': {
        const made = this.#shape(inputs, type.shape);
        return made === null ? null : { type: made, ...role({ role: 'object', name }) };
      }
      case 'list': {
        const { of } = type;
        if (of.kind === 'leaf') {
          return { type: this.#leafList(of.type), ...role({ role: 'leafList', name, type: of.type }) };
        }
        if (of.kind !== 'object') return null;
        const made = this.#shape(inputs, of.shape);
        if (made === null) return null;
        const list = this.#remember(this.#lists, `${made.name}_List`, (listName) => listFilter(listName, made));
        return { type: list, ...role({ role: 'objectList', name }) };
      }
      case 'stringMap':
        return { type: inputList(this.#leafMap('String')), ...role({ role: 'leafMap', name, type: 'String' }) };
      case 'map': {
        const { of } = type;
        if (of.kind === 'leaf') {
          return { type: inputList(this.#leafMap(of.type)), ...role({ role: 'leafMap', name, type: of.type }) };
        }
        if (of.kind !== 'object') return null;
        const made = this.#shape(inputs, of.shape);
        if (made === null) return null;
        const map = this.#remember(this.#maps, `${made.name}_Map`, (mapName) => objectMapFilter(mapName, made));
        return { type: inputList(map), ...role({ role: 'objectMap', name }) };
      }
      default:
        return null;
    }
  }

  #shape(inputs: TreeInputs, key: string): GraphQLInputObjectType | null {
    if (!inputs.filterable(key)) return null;
    return this.#remember(
      this.#nested,
      inputs.name(key),
      (name) => new GraphQLInputObjectType({ name, fields: () => this.#fields(inputs, shapeOf(inputs.tree, key)) }),
    );
  }

  #leaf(type: LeafType): GraphQLInputObjectType {
    return this.#remember(this.#leaves, type, () => leafFilter(type, this.#scalarOf(type)));
  }

  /** Clients see IP addresses as strings. */
  #scalarOf(type: LeafType): GraphQLInputType {
    return this.#scalar(type === 'IP' ? 'String' : type);
  }

  #leafMap(type: LeafType): GraphQLInputObjectType {
    return this.#remember(this.#leafMaps, type, () => leafMapFilter(type, this.#scalarOf(type)));
  }

  #leafList(type: LeafType): GraphQLInputObjectType {
    return this.#remember(this.#leafLists, type, () => listFilter(`${type}ListFilter`, this.#leaf(type)));
  }

  #remember<K extends string>(
    known: Map<K, GraphQLInputObjectType>,
    key: K,
    make: (key: K) => GraphQLInputObjectType,
  ): GraphQLInputObjectType {
    const found = known.get(key) ?? make(key);
    known.set(key, found);
    return found;
  }
}

function shapeOf(tree: FieldTree, key: string): Shape {
  return must(tree.shapes[key], `shape ${key} is in its tree`);
}

function rootShape(tree: FieldTree): Shape {
  return shapeOf(tree, tree.root);
}

/** The input names of a tree's shapes, and the shapes that can be filtered. */
class TreeInputs {
  readonly tree: FieldTree;
  readonly #names: ReadonlyMap<string, string>;
  /** Shapes with a leaf to compare, in the shape itself or below it. */
  readonly #filterable: ReadonlySet<string>;

  constructor(tree: FieldTree) {
    this.tree = tree;
    this.#names = inputNames(tree);
    this.#filterable = filterableShapes(tree);
  }

  name(key: string): string {
    return must(this.#names.get(key), `shape ${key} has an input name`);
  }

  filterable(key: string): boolean {
    return this.#filterable.has(key);
  }
}

/** Shapes may contain each other, so the search starts at shapes with leaves and follows their users. */
function filterableShapes(tree: FieldTree): ReadonlySet<string> {
  const found = new Set<string>();
  const users = new Map<string, string[]>();
  const pending: string[] = [];
  for (const { key, fields } of Object.values(tree.shapes)) {
    for (const { type } of fields) {
      const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type;
      if (inner.kind === 'leaf' || type.kind === 'stringMap') pending.push(key);
      if (inner.kind === 'object') users.set(inner.shape, [...(users.get(inner.shape) ?? []), key]);
    }
  }
  for (let key = pending.pop(); key !== undefined; key = pending.pop()) {
    if (found.has(key)) continue;
    found.add(key);
    pending.push(...(users.get(key) ?? []));
  }
  return found;
}
