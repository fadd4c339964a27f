/**
 * The filter inputs of kinds, and of objects of any kind. A kind's input has the conditions that every kind can answer, and a field
 * for each field of the kind (shape-filters.ts). Each input field keeps its meaning in its extensions.
 * src/graphql/filter/read-filter.ts reads them to turn values into query filters.
 */
import { GraphQLBoolean, GraphQLID, GraphQLInputObjectType, type GraphQLInputType, GraphQLString } from 'graphql';
import { isAbstract } from '../../catalog/groups/api-group.ts';
import { bySeverity } from '../../catalog/health/health-status.ts';
import { injectedFields } from '../../catalog/names/reserved-names.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { objectMetaKey } from '../../catalog/tree/shared-shapes.ts';
import { inputList } from '../types/type-wrappers.ts';
import {
  compareFilter,
  conditionFilter,
  enumFilter,
  type InputFields,
  LeafFilters,
  pathFilter,
} from './leaf-filter-types.ts';
import { type FilterInputs, role, ShapeFilters } from './shape-filters.ts';

/** Fields at a kind's root that have a filter of their own, or whose value follows from the kind. */
const common = new Set(['apiVersion', 'kind', 'metadata']);

function usedByFilter(): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: 'UsedByFilter',
    description: 'Conditions on the objects that name this one. Events are left out.',
    fields: { exists: { type: GraphQLBoolean, description: 'Is there at least one?' } },
  });
}

/** The filter inputs of all generations of a builder. */
export class FilterTypes {
  readonly #leaves: LeafFilters;
  readonly #shapes: ShapeFilters;
  readonly #condition: GraphQLInputObjectType;
  readonly #path: GraphQLInputObjectType;
  readonly #compare: GraphQLInputObjectType;
  readonly #health: GraphQLInputObjectType;
  readonly #usedBy = usedByFilter();
  readonly metadata: GraphQLInputObjectType;
  readonly object: GraphQLInputObjectType;

  /** @param scalar a scalar of the static schema by name. */
  constructor(scalar: (name: string) => GraphQLInputType) {
    this.#leaves = new LeafFilters(scalar);
    this.#shapes = ShapeFilters.common(this.#leaves);
    this.#condition = conditionFilter((type) => this.#leaves.leaf(type));
    this.#path = pathFilter(scalar);
    this.#compare = compareFilter(scalar);
    this.#health = this.#healthFilter(scalar('HealthStatus'), scalar('HealthSource'));
    this.metadata = new GraphQLInputObjectType({
      name: 'ObjectMetaFilter',
      description: 'Conditions on metadata.',
      fields: () => this.#shapes.fields(objectMetaKey, 'nested'),
    });
    this.object = new GraphQLInputObjectType({
      name: 'ObjectFilter',
      description: 'Conditions that every kind can answer. Null or {} means everything.',
      fields: () => this.#topFields(this.object, {}),
    });
  }

  /** Conditions on an integer. */
  get number(): GraphQLInputObjectType {
    return this.#leaves.leaf('Int');
  }

  /** The filter input of a kind. @param relations the fields that go through its relations. */
  ofKind(kind: CatalogKind, inputs: FilterInputs, relations: () => InputFields = () => ({})): GraphQLInputObjectType {
    const shapes = ShapeFilters.ofKind(kind, this.#leaves, this.#shapes, inputs);
    // The cluster of an object of an abstract kind is in its body.
    const reserved = isAbstract(kind) ? new Set<string>() : injectedFields;
    const made: GraphQLInputObjectType = new GraphQLInputObjectType({
      name: kind.names.filter,
      description: `Conditions on ${kind.names.type}. Null or {} means everything.`,
      fields: () => ({
        ...this.#topFields(made, shapes.fields(kind.tree.root, 'root', common, reserved)),
        ...relations(),
      }),
    });
    return made;
  }

  #healthFilter(status: GraphQLInputType, source: GraphQLInputType): GraphQLInputObjectType {
    const part = (name: string, type: GraphQLInputType, leaf: LeafType = 'String') => ({
      type,
      ...role({ role: 'healthPart', path: parsePath(`health.${name}`), type: leaf }),
    });
    const statusFilter = enumFilter('HealthStatusFilter', 'health status', status);
    const rollUp = new GraphQLInputObjectType({
      name: 'RolledUpHealthFilter',
      description: 'Conditions on the worst health of an object and of all that it owns, as `health(rollUp: OWNED)`.',
      fields: {
        status: part('rollUp.status', statusFilter),
        severity: {
          ...part('rollUp.severity', this.#leaves.leaf('Int'), 'Int'),
          description: `The status as a number: ${bySeverity.map((name, severity) => `${severity} ${name}`).join(', ')}.`,
        },
      },
    });
    return new GraphQLInputObjectType({
      name: 'HealthFilter',
      description: 'Conditions on the health, which every object has.',
      fields: {
        status: part('status', statusFilter),
        reason: part('reason', this.#leaves.leaf('String')),
        message: part('message', this.#leaves.leaf('String')),
        source: part('source', enumFilter('HealthSourceFilter', 'health source', source)),
        rollUp: { type: rollUp, ...role({ role: 'health' }) },
      },
    });
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
        description: "The API server's own grammar, on any value: status.phase!=Running,spec.nodeName=",
        ...role({ role: 'fieldSelector' }),
      },
      search: {
        type: GraphQLString,
        description:
          'Words, or parts of words, that all occur in the name, in labels as key=value, in images or in other searched paths.',
        ...role({ role: 'search' }),
      },
      metadata: { type: this.metadata, ...role({ role: 'object', name: 'metadata' }) },
      usedBy: { type: this.#usedBy, ...role({ role: 'usedBy' }) },
      health: { type: this.#health, ...role({ role: 'health' }) },
      condition: { type: inputList(this.#condition), ...role({ role: 'conditions' }) },
      path: { type: inputList(this.#path), ...role({ role: 'paths' }) },
      compare: { type: inputList(this.#compare), ...role({ role: 'compare' }) },
      and: { type: inputList(self), ...role({ role: 'and' }) },
      or: { type: inputList(self), ...role({ role: 'or' }) },
      not: { type: self, ...role({ role: 'not' }) },
    };
    for (const [name, config] of Object.entries(data)) top[Object.hasOwn(top, name) ? `${name}_` : name] = config;
    return top;
  }
}
