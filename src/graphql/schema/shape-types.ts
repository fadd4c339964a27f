/**
 * The one module that turns shapes of a field tree into GraphQL object types. Everything below a kind's root is plain data: a field's
 * resolver is one property read under the name that Kubernetes writes.
 *
 * A value that does not have the form its schema promises (an object where a list should be) is shown as null; `raw` and
 * `value(path:)` show it as it is.
 */
import { type GraphQLFieldConfig, type GraphQLNamedType, GraphQLObjectType, type GraphQLOutputType } from 'graphql';
import { must } from '../../base/must.ts';
import { fieldName } from '../../catalog/names/field-names.ts';
import type { FieldTree, FieldType } from '../../catalog/tree/field-tree.ts';
import { displayedMember } from '../../catalog/values/displayed-value.ts';
import type { OperationContext } from '../generation/generation.ts';
import { at, below, facts } from '../selection/field-facts.ts';
import { listOf, nonNull } from '../types/type-wrappers.ts';

export type FieldConfig = GraphQLFieldConfig<unknown, OperationContext>;

/** One generation's object types of nested shapes, by name. */
export class ShapeTypes {
  readonly #types = new Map<string, GraphQLObjectType>();
  /** Types of the static schema. A leaf type has the name of its scalar. */
  readonly #static: (name: string) => GraphQLNamedType | undefined;

  constructor(staticType: (name: string) => GraphQLNamedType | undefined) {
    this.#static = staticType;
  }

  /** The fields of a kind's or a shape's type; `names` gives each shape key its type's name. */
  field(
    tree: FieldTree,
    names: ReadonlyMap<string, string>,
    name: string,
    type: FieldType,
    description?: string,
  ): FieldConfig {
    return {
      type: this.#output(tree, names, type),
      ...(description === undefined ? {} : { description }),
      extensions: facts({ need: type.kind === 'object' ? below(name) : at(name), plain: { is: 'member', name, type } }),
      resolve: (source) => displayedMember(type, source as Readonly<Record<string, unknown>>, name),
    };
  }

  #scalar(name: string): GraphQLOutputType {
    return must(this.#static(name), `the static schema has ${name}`) as GraphQLOutputType;
  }

  #output(tree: FieldTree, names: ReadonlyMap<string, string>, type: FieldType): GraphQLOutputType {
    switch (type.kind) {
      case 'leaf':
        return this.#scalar(type.type === 'IP' ? 'String' : type.type);
      case 'stringMap':
        return this.#scalar('StringMap');
      case 'map':
        return this.#scalar('JSON');
      case 'list': {
        const of = this.#output(tree, names, type.of);
        // Kubernetes lists may hold null where their items are objects of free form.
        return listOf(type.of.kind === 'leaf' && type.of.type === 'JSON' ? of : nonNull(of));
      }
      case 'object':
        return this.#shape(tree, names, type.shape);
    }
  }

  #shape(tree: FieldTree, names: ReadonlyMap<string, string>, key: string): GraphQLOutputType {
    const shape = must(tree.shapes[key], `shape ${key} is in its tree`);
    if (shape.fields.length === 0) return this.#scalar('JSON');
    const name = must(names.get(key), `shape ${key} has a name`);
    const ready = this.#static(name);
    if (ready instanceof GraphQLObjectType) return ready;
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const made = new GraphQLObjectType({
      name,
      ...(shape.description === undefined ? {} : { description: shape.description }),
      fields: () =>
        Object.fromEntries(
          shape.fields.map((field) => [
            fieldName(field.name, 'nested'),
            this.field(tree, names, field.name, field.type, field.description),
          ]),
        ),
    });
    this.#types.set(name, made);
    return made;
  }
}
