/**
 * Compiles a filter argument to a query filter. The roles of input fields (filter-types.ts) decide how each value is read.
 *
 *   { status: { phase: { ne: "Running" } } }
 *     { kind: 'not', of: comparison of status.phase, eq "Running" }
 *   { spec: { containers: { some: { image: { startsWith: "web" } } } } }
 *     { kind: 'some', path: spec.containers, of: comparison of image, startsWith "web" }     the path is relative to one element
 *
 * Invariant: null or {} means everything at the top only. Below the top both are refused with their path, because an absent variable
 * inside a filter would otherwise match everything.
 */

import { type GraphQLInputField, type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { isAbstract } from '../../catalog/groups/api-group.ts';
import { mostTerms, searchTerms } from '../../catalog/paths/search-text.ts';
import type { Catalog, CatalogKind } from '../../catalog/resources/catalog.ts';
import { referencePlaces } from '../../catalog/resources/reference-places.ts';
import { type Path, type PathStep, pathOf } from '../../catalog/tree/path.ts';
import { type KnownClusters, requireClusters } from '../../operation/list-readiness.ts';
import type { Operation } from '../../operation/operation.ts';
import type { ServedKinds } from '../../operation/served-kinds.ts';
import { ConditionCount, checkFilter } from '../../query/plan/check-filter.ts';
import { conjunction, existence, negation } from '../../query/plan/comparison.ts';
import { everything, type Filter, isTextOperator } from '../../query/plan/filter.ts';
import { type Hop, hopEnd } from '../../query/plan/hop.ts';
import { parseLabelSelector } from '../../query/plan/label-selector.ts';
import { decodeObjectId } from '../../query/plan/object-id.ts';
import {
  absent,
  entriesOf,
  type FilterValues,
  listOf,
  nothingGiven,
  refuse,
  truth,
} from '../../reads/paths/filter-values.ts';
import { leafConditions } from '../../reads/paths/leaf-conditions.ts';
import { compareConditions } from './compare-conditions.ts';
import { type FilteredKind, fieldConditions } from './field-conditions.ts';
import { conditionLeaves } from './leaf-filter-types.ts';
import { pathConditions } from './path-conditions.ts';
import type { InputRole } from './shape-filters.ts';

/** The kinds' data that a filter is compiled with. */
interface FilterContext {
  /** The queried kinds. */
  readonly kinds: readonly FilteredKind[];
  /** Has the clusters and the kinds that there are. */
  readonly operation: KnownClusters & { readonly generation: Pick<ServedKinds, 'all'> };
  /** Paths that `search` covers in addition to names and labels. */
  readonly searchPaths: readonly Path[];
  /** The places of weak references (placeText), of all kinds. */
  weakPlaces(): readonly string[];
  /** The time to which relative times refer, in milliseconds since the epoch. */
  now(): number;
}

/**
 * The query filter of an argument of this input type.
 * @throws PortolanError BAD_USER_INPUT with the place in the message; QUERY_TOO_COSTLY for a filter that is too large.
 */
export function filterFrom(type: GraphQLInputObjectType, value: unknown, context: FilterContext): Filter {
  if (value === null || value === undefined || Object.keys(value).length === 0) return everything;
  const filter = new FilterReader(context, new ConditionCount()).fields(type, value, 'filter', []);
  checkFilter(filter);
  return filter;
}

class FilterReader {
  readonly #context: FilterContext;
  /** That of the whole filter. */
  readonly #count: ConditionCount;

  constructor(context: FilterContext, count: ConditionCount) {
    this.#context = context;
    this.#count = count;
  }

  /** `base` is the path of the fields of `type`, relative to the object or to the element of a list. */
  fields(type: GraphQLInputObjectType, value: unknown, place: string, base: readonly PathStep[]): Filter {
    return conjunction(
      entriesOf(value, place).map(([name, item]) => {
        const field = type.getFields()[name];
        if (field === undefined) return refuse(`${place}.${name}`, 'is not a field of this filter');
        return this.#field(type, field, item, `${place}.${name}`, base);
      }),
    );
  }

  #field(
    self: GraphQLInputObjectType,
    field: GraphQLInputField,
    value: unknown,
    place: string,
    base: readonly PathStep[],
  ): Filter {
    const meaning = field.extensions['portolan'] as InputRole | undefined;
    if (meaning === undefined) return refuse(place, 'cannot be used here');
    switch (meaning.role) {
      case 'clusters':
        return ofClusters(listOf(value, place) as readonly string[], this.#context);
      case 'namespaces':
        return { kind: 'namespaces', in: listOf(value, place) as readonly string[] };
      case 'ids':
        return { kind: 'ids', in: listOf(value, place).map((id) => decodeObjectId(String(id))) };
      case 'exists':
        return presence(base, value, place);
      case 'labelSelector':
        return this.#count.add({ kind: 'labels', requirements: parseLabelSelector(text(value, place)) });
      case 'fieldSelector':
        return this.#count.add(fieldConditions(text(value, place), this.#context.kinds));
      case 'search':
        return search(text(value, place), place, this.#context.searchPaths);
      case 'conditions':
        return this.#each(value, place, (item, here) => this.#count.add(this.#condition(item, here)));
      case 'paths':
        return this.#each(value, place, (item, here) =>
          this.#count.add(pathConditions(item, here, this.#context.kinds, this.#context)),
        );
      case 'compare':
        return this.#each(value, place, (item, here) =>
          this.#count.add(compareConditions(item, here, this.#context.kinds)),
        );
      case 'usedBy': {
        const used: Filter = { kind: 'used', of: this.#context.kinds.map(hopEnd), weak: this.#context.weakPlaces() };
        return conjunction(
          entriesOf(value, place).map(([name, item]) => (truth(item, `${place}.${name}`) ? used : negation(used))),
        );
      }
      case 'health':
        return this.fields(inputOf(field), value, place, []);
      case 'healthPart':
        return this.#count.add(leafConditions(meaning.type, value, place, meaning.path, this.#context));
      case 'related':
        return this.#related(meaning, value, place);
      case 'and':
      case 'or':
        return {
          kind: meaning.role,
          of: listOf(value, place).map((item, index) => this.fields(self, item, `${place}[${index}]`, base)),
        };
      case 'not':
        return negation(this.fields(self, value, place, base));
      default:
        return this.#data(meaning, field, value, place, [...base, { kind: 'field', name: meaning.name }]);
    }
  }

  #data(
    meaning: Extract<InputRole, { readonly name: string }>,
    field: GraphQLInputField,
    value: unknown,
    place: string,
    steps: readonly PathStep[],
  ): Filter {
    switch (meaning.role) {
      case 'leaf':
        return this.#count.add(leafConditions(meaning.type, value, place, pathOf(steps), this.#context));
      case 'object':
        return this.fields(inputOf(field), value, place, steps);
      case 'leafList':
      case 'objectList':
        return this.#quantified(meaning, field, value, place, steps);
      case 'leafMap':
        return this.#each(value, place, (item, here) => {
          const { key, rest } = entryOf(item, here);
          if (key === null) return presence(steps, rest, `${here}.exists`);
          const path = pathOf([...steps, { kind: 'key', key }]);
          return this.#count.add(leafConditions(meaning.type, rest, here, path, this.#context));
        });
      case 'objectMap':
        return this.#each(value, place, (item, here) => {
          const { key, rest } = entryOf(item, here);
          if (key === null) return presence(steps, rest, `${here}.exists`);
          return this.#entry(inputOf(field), rest, here, [...steps, { kind: 'key', key }]);
        });
    }
  }

  #related(
    { hop, kind, filter }: Extract<InputRole, { readonly role: 'related' }>,
    value: unknown,
    place: string,
  ): Filter {
    const kinds = kind === null ? this.#context.operation.generation.all : [kind];
    const reader = new FilterReader({ ...this.#context, kinds }, this.#count);
    return conjunction(
      entriesOf(value, place).map(([quantifier, item]): Filter => {
        const here = `${place}.${quantifier}`;
        const related = (of: Filter): Filter => ({ kind: 'related', hop, of });
        if (quantifier === 'exists') {
          const some = related(everything);
          return truth(item, here) ? some : negation(some);
        }
        if (quantifier === 'count')
          return relatedCount(hop, leafConditions('Int', item, here, pathOf([]), this.#context));
        const inner = reader.fields(filter, item, here, []);
        if (quantifier === 'every') return negation(related(negation(inner)));
        return quantifier === 'none' ? negation(related(inner)) : related(inner);
      }),
    );
  }

  /** The conjunction of the items of a list. */
  #each(value: unknown, place: string, one: (item: unknown, place: string) => Filter): Filter {
    const items = listOf(value, place);
    if (items.length === 0) return refuse(place, nothingGiven);
    return conjunction(items.map((item, index) => one(item, `${place}[${index}]`)));
  }

  /** The object under one key of a map. */
  #entry(type: GraphQLInputObjectType, value: FilterValues, place: string, steps: readonly PathStep[]): Filter {
    return conjunction(
      entriesOf(value, place).map(([name, item]) =>
        name === 'exists'
          ? presence(steps, item, `${place}.exists`)
          : this.fields(inputOf(type.getFields()['value']), item, `${place}.value`, steps),
      ),
    );
  }

  #condition(value: unknown, place: string): Filter {
    const { key, rest } = keyed(value, place, 'type');
    const steps: readonly PathStep[] = [
      { kind: 'field', name: 'status' },
      { kind: 'field', name: 'conditions' },
      { kind: 'where', field: 'type', value: key },
    ];
    return conjunction(
      entriesOf(rest, place).map(([name, item]) => {
        if (name === 'exists') return presence(steps, item, `${place}.exists`);
        const path = pathOf([...steps, { kind: 'field', name }]);
        return leafConditions(
          conditionLeaves[name as keyof typeof conditionLeaves],
          item,
          `${place}.${name}`,
          path,
          this.#context,
        );
      }),
    );
  }

  #quantified(
    meaning: Extract<InputRole, { role: 'leafList' | 'objectList' }>,
    field: GraphQLInputField,
    value: unknown,
    place: string,
    steps: readonly PathStep[],
  ): Filter {
    const path = pathOf(steps);
    const inner = (item: unknown, quantifier: string): Filter => {
      const here = `${place}.${quantifier}`;
      if (meaning.role === 'leafList')
        return this.#count.add(leafConditions(meaning.type, item, here, pathOf([]), this.#context));
      return this.fields(inputOf(inputOf(field).getFields()['some']), item, here, []);
    };
    return conjunction(
      entriesOf(value, place).map(([quantifier, item]): Filter => {
        switch (quantifier) {
          case 'exists':
            return presence(steps, item, `${place}.exists`);
          case 'some':
            return { kind: 'some', path, of: inner(item, quantifier) };
          case 'none':
            return negation({ kind: 'some', path, of: inner(item, quantifier) });
          default:
            return negation({ kind: 'some', path, of: negation(inner(item, quantifier)) });
        }
      }),
    );
  }
}

/** Conditions on an integer as conditions on the number of related objects. */
function relatedCount(hop: Hop, filter: Filter): Filter {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { ...filter, of: filter.of.map((part) => relatedCount(hop, part)) };
    case 'not':
      return negation(relatedCount(hop, filter.of));
    case 'compare': {
      const { operator, values } = filter;
      if (isTextOperator(operator)) throw new Error('invariant broken: an integer has no text operators');
      return { kind: 'relatedCount', hop, operator, values };
    }
    // A number is always there.
    case 'exists':
      return everything;
    default:
      throw new Error(`invariant broken: ${filter.kind} is no condition on an integer`);
  }
}

function search(written: string, place: string, paths: readonly Path[]): Filter {
  const terms = searchTerms(written);
  if (terms.length > mostTerms) refuse(place, `has ${terms.length} words; at most ${mostTerms} are searched`);
  return terms.length === 0 ? everything : { kind: 'search', terms, paths };
}

function presence(steps: readonly PathStep[], value: unknown, place: string): Filter {
  return truth(value, place) ? existence(pathOf(steps)) : negation(existence(pathOf(steps)));
}

/** Splits an item such as `{ key: "app", eq: "web" }` into its key and its conditions, of which it must have one. */
function keyed(value: unknown, place: string, name: string): { key: string; rest: FilterValues } {
  const { [name]: key, ...rest } = Object.fromEntries(entriesOf(value, place));
  entriesOf(rest, place);
  return { key: text(key, `${place}.${name}`), rest };
}

/** A condition on one entry of a map; without a key, the value of `exists` for the whole map. */
type EntryCondition =
  | { readonly key: string; readonly rest: FilterValues }
  | { readonly key: null; readonly rest: unknown };

function entryOf(item: unknown, place: string): EntryCondition {
  const entries = entriesOf(item, place);
  if (entries.some(([name]) => name === 'key')) return keyed(item, place, 'key');
  const [[name, value] = ['', null], ...others] = entries;
  if (name !== 'exists' || others.length > 0)
    refuse(place, 'needs a key: without one, only exists applies, to the whole map');
  return { key: null, rest: value };
}

function text(value: unknown, place: string): string {
  return typeof value === 'string' ? value : refuse(place, absent);
}

function inputOf(field: GraphQLInputField | undefined): GraphQLInputObjectType {
  const type = field === undefined ? undefined : getNamedType(field.type);
  if (!isInputObjectType(type)) throw new Error(`invariant broken: ${field?.name} is an input object`);
  return type;
}

const weakPlaces = new WeakMap<Catalog, readonly string[]>();

function weakPlacesOf(catalog: Catalog): readonly string[] {
  const known = weakPlaces.get(catalog);
  if (known !== undefined) return known;
  const found = catalog.kinds.flatMap((kind) => referencePlaces(kind, { weak: true }));
  weakPlaces.set(catalog, found);
  return found;
}

/** The context for filters on these kinds. */
export function filterContext(
  operation: Pick<Operation, 'generation' | 'source' | 'now'>,
  kinds: readonly CatalogKind[],
): FilterContext {
  return {
    kinds,
    operation,
    searchPaths: operation.source.searchPaths,
    weakPlaces: () => weakPlacesOf(operation.generation.catalog),
    now: () => operation.now,
  };
}

/**
 * Objects of an abstract kind have their cluster in the body: the one in the identity names the member too.
 * @throws PortolanError BAD_USER_INPUT for an unknown cluster, if there are abstract kinds. Lists of other kinds look at the clusters later.
 */
function ofClusters(clusters: readonly string[], { kinds, operation }: FilterContext): Filter {
  const byIdentity: Filter = { kind: 'clusters', in: clusters };
  const abstract = kinds.filter(isAbstract);
  if (abstract.length === 0) return byIdentity;
  requireClusters(operation, clusters);
  const path = pathOf([{ kind: 'key', key: 'cluster' }]);
  const byBody: Filter = { kind: 'compare', path, type: 'String', operator: 'in', values: clusters, ignoreCase: false };
  if (abstract.length === kinds.length) return byBody;
  const isAbstractOne: Filter = { kind: 'kinds', in: abstract.map(({ key }) => key) };
  return { kind: 'or', of: [byIdentity, { kind: 'and', of: [isAbstractOne, byBody] }] };
}
