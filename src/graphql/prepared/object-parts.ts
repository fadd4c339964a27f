/**
 * The parts of a page template that write an object (src/store/pages/page-template.ts), from the fields selected from it.
 *
 *   { kind metadata { name labels } }
 *     '{"kind":"Pod","metadata":{"name":', column name, ',"labels":', value 0 as record, '}}'
 */
import { type GraphQLNamedType, type GraphQLObjectType, isObjectType, type SelectionSetNode } from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import type { DisplayedField } from '../../catalog/values/displayed-value.ts';
import type { ObjectMember, RowPart, ValueShape } from '../../store/pages/page-template.ts';
import type { RelatedFact } from '../selection/field-facts.ts';
import {
  type DocumentFields,
  type FieldNodes,
  type Fields,
  objectText,
  type PlannedField,
  setsOf,
} from './document-fields.ts';
import { identityParts, NotPlain, Repeats, type RowTemplate } from './row-template.ts';

/** A selected relation of an object of the rows. */
export interface SelectedRelation extends PlannedField {
  readonly plain: RelatedFact;
  readonly nodes: FieldNodes;
  readonly rows: RowTemplate;
}

interface ObjectContext {
  readonly kind: CatalogKind;
  readonly rows: RowTemplate;
  readonly path: readonly string[];
  /** Decides which fields exist: those of a kind's object, of its metadata, or of a shape below them. */
  readonly level: 'object' | 'metadata' | 'shape';
}

export class ObjectParts {
  readonly #document: DocumentFields;
  readonly #relation: (selected: SelectedRelation) => RowPart;

  /** @param relation adds a related template to the rows and returns the part that writes its pages. */
  constructor(document: DocumentFields, relation: (selected: SelectedRelation) => RowPart) {
    this.#document = document;
    this.#relation = relation;
  }

  /** The parts that write an object of the kind. @throws NotPlain for a field that only its resolver can answer. */
  node(
    kind: CatalogKind,
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    rows: RowTemplate,
  ): readonly RowPart[] {
    return this.#object({ kind, rows, path: [], level: 'object' }, type, sets);
  }

  /** The parts that write the selected fields of the object at `context.path`. */
  #object(context: ObjectContext, type: GraphQLObjectType, sets: readonly SelectionSetNode[]): readonly RowPart[] {
    return rowParts(this.#document.fields(type, sets), (name, nodes) => {
      if (name === '__typename') return [constant(type.name)];
      const planned = this.#document.field(type, nodes);
      const { plain, type: below } = planned;
      const { kind, rows, path } = context;
      if (plain.is === 'member') {
        if (plain.type.kind !== 'object' || !isObjectType(below)) {
          return [rows.value([...path, plain.name], this.#shape(plain, below, setsOf(nodes)))];
        }
        const inner = [...path, plain.name];
        return [rows.object(inner, this.#object({ kind, rows, path: inner, level: 'shape' }, below, setsOf(nodes)))];
      }
      if (plain.is === 'flag') return [rows.value([...path, plain.name], { is: 'flag' })];
      if (plain.is === 'healthPart') return [rows.healthPart(plain.of)];
      // Only objects of kinds and their metadata have the fields below.
      if (context.level === 'shape') throw new NotPlain();
      switch (plain.is) {
        case 'identity':
          return identityParts(kind, plain.of, rows);
        case 'kind':
          return [constant(kind.resource.kind)];
        case 'apiVersion': {
          const otherwise = JSON.stringify(apiVersionOf(kind.resource));
          return [rows.value(['apiVersion'], { is: 'leaf', type: 'String', otherwise })];
        }
        case 'redacted':
          return [constant(kind.redacted)];
        case 'metadata':
          if (!isObjectType(below)) throw new NotPlain();
          return this.#object({ kind, rows, path: ['metadata'], level: 'metadata' }, below, setsOf(nodes));
        case 'health':
          if (!isObjectType(below)) throw new NotPlain();
          // A roll-up is that of several objects.
          if (this.#document.argumentsOf(planned.field, nodes)['rollUp'] != null) throw new NotPlain();
          return this.#object({ kind, rows, path: [], level: 'shape' }, below, setsOf(nodes));
        case 'entry': {
          const key = this.#document.textArgument(type, nodes, 'key');
          return [rows.value([...path, plain.of], { is: 'entry', name: key, of: { is: 'leaf', type: 'String' } })];
        }
        case 'condition': {
          const equal = this.#document.textArgument(type, nodes, 'type');
          const of = this.#shape({ type: { kind: 'object', shape: '' }, items: 'nonNull' }, below, setsOf(nodes));
          return [rows.value(['status', 'conditions'], { is: 'first', name: 'type', equal, of })];
        }
        case 'related':
          return [this.#relation({ ...planned, plain, nodes, rows })];
        default:
          throw new NotPlain();
      }
    });
  }

  /** How a value of this type is written when `sets` are selected from it. */
  #shape(
    { type, items }: Pick<DisplayedField, 'type' | 'items'>,
    named: GraphQLNamedType,
    sets: readonly SelectionSetNode[],
  ): ValueShape {
    switch (type.kind) {
      case 'leaf':
        return { is: 'leaf', type: type.type, ...(type.values === undefined ? {} : { values: type.values }) };
      case 'stringMap':
      case 'map':
        return { is: 'record' };
      case 'list':
        return { is: 'list', of: this.#shape({ type: type.of, items }, named, sets), items };
      case 'object': {
        // An object without fields is free JSON.
        if (!isObjectType(named)) return { is: 'record' };
        const members: ObjectMember[] = [];
        const shows = new Repeats();
        for (const [response, nodes] of this.#document.fields(named, sets)) {
          shows.add(nodes[0].name.value);
          members.push(this.#member(JSON.stringify(response), named, nodes));
        }
        return { is: 'object', members };
      }
    }
  }

  #member(key: string, parent: GraphQLObjectType, nodes: FieldNodes): ObjectMember {
    if (nodes[0].name.value === '__typename') return { key, name: null, value: JSON.stringify(parent.name) };
    const { plain, type } = this.#document.field(parent, nodes);
    if (plain.is === 'flag') return { key, name: plain.name, value: { is: 'flag' } };
    if (plain.is !== 'member') throw new NotPlain();
    return { key, name: plain.name, value: this.#shape(plain, type, setsOf(nodes)) };
  }
}

/** The part that writes this value in each row. */
export function constant(value: unknown): RowPart {
  return { is: 'text', text: JSON.stringify(value) };
}

/** The row parts of a JSON object with these fields. Adjacent constant texts are joined. */
export function rowParts(
  fields: Fields,
  write: (name: string, nodes: FieldNodes) => readonly RowPart[],
): readonly RowPart[] {
  const parts: RowPart[] = [];
  for (const part of objectText(fields, write))
    append(parts, typeof part === 'string' ? { is: 'text', text: part } : part);
  return parts;
}

/** Joins a constant text with the constant text before it. */
function append(parts: RowPart[], part: RowPart): void {
  const last = parts.at(-1);
  if (part.is === 'text' && last?.is === 'text') parts[parts.length - 1] = { is: 'text', text: last.text + part.text };
  else parts.push(part);
}
