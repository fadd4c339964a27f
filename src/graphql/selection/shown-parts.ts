/**
 * Whether a selection shows a difference between two states of one object. The selection is all that a subscription selects below `object`
 * and below `previous`. It decides before anything is executed, once for all subscribers with the same selection
 * (src/live/log/live-change.ts).
 *
 *   { metadata { name } condition(type: "Ready") { status } }
 *     a heartbeat changes lastHeartbeatTime of the condition    no difference
 *     the condition's status becomes False                      a difference
 *
 * The comparison follows the facts about fields (field-facts.ts). A field that reads other objects shows no difference: a change of this
 * object does not tell what became of them. Where the facts do not tell a value, more counts as a difference, never less.
 */
import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  print,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { isSameValue } from '../../catalog/values/changed-paths.ts';
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import type { ShownParts } from '../../live/log/live-change.ts';
import type { Operation } from '../../operation/operation.ts';
import { digest } from '../../query/plan/fingerprint.ts';
import type { ObjectRow } from '../../query/plan/plan.ts';
import { ObjectSource } from '../../reads/lists/object-source.ts';
import { factsOf, type PlainField } from './field-facts.ts';
import { fragmentsOf, selectedFields, selectionsAt } from './walk.ts';

type Json = Readonly<Record<string, unknown>>;

/** One state of the object, and the value whose members a selection shows. */
interface State {
  readonly source: ObjectSource;
  readonly value: Json;
}

const numbers = new WeakMap<GraphQLSchema, number>();
let schemas = 0;

/** A number for each schema: parts of an old one must not be kept by subscriptions of the next. */
function numberOf(schema: GraphQLSchema): number {
  const known = numbers.get(schema) ?? ++schemas;
  numbers.set(schema, known);
  return known;
}

/** The selections of a subscription below `object` and `previous` of its changes. @param kindOf the kind of a resourceKey */
export function shownPartsOf(
  info: GraphQLResolveInfo,
  operation: Operation,
  kindOf: (key: string) => CatalogKind,
): ShownParts {
  const fragments = fragmentsOf(info);
  const roots = info.fieldNodes.map((node) => node.selectionSet);
  const sets = ['object', 'previous'].flatMap((name) => selectionsAt(fragments, roots, ['changes', name]));
  const selection = new ShownSelection(info);
  const written = [...sets, ...Object.values(fragments)].map((node) => print(node));
  const stateOf = (row: ObjectRow): State => {
    const source = new ObjectSource(operation, kindOf(row.key), row, { isPast: true });
    return { source, value: source.body };
  };
  return {
    id: `${numberOf(info.schema)} ${digest({ written, variables: info.variableValues.coerced }, 'meant')}`,
    differ(before, after) {
      const type = info.schema.getType(kindOf(after.key).names.type);
      return !isObjectType(type) || selection.differs(sets, type, stateOf(before), stateOf(after));
    },
  };
}

class ShownSelection {
  readonly #info: GraphQLResolveInfo;

  constructor(info: GraphQLResolveInfo) {
    this.#info = info;
  }

  differs(sets: readonly SelectionSetNode[], type: GraphQLObjectType, before: State, after: State): boolean {
    const options = {
      typeOf: (condition: string) => (this.#applies(condition, type) ? type : null),
      includes: (node: SelectionNode) => this.#isIncluded(node),
    };
    for (const { node } of selectedFields(fragmentsOf(this.#info), sets, type, options)) {
      if (this.#fieldDiffers(node, type, before, after)) return true;
    }
    return false;
  }

  #fieldDiffers(node: FieldNode, parent: GraphQLObjectType, before: State, after: State): boolean {
    const field = parent.getFields()[node.name.value];
    if (field === undefined) return false;
    const { plain, need } = factsOf(field);
    const type = getNamedType(field.type);
    const args = (): Json => getArgumentValues(field, node, this.#info.variableValues);
    if (plain !== null) return this.#plainDiffers(plain, node, type, args, before, after);
    switch (need.kind) {
      case 'none':
        return false;
      case 'paths':
        return need.paths.some(
          (path) => !isSameValue(valueAtNames(before.value, path), valueAtNames(after.value, path)),
        );
      case 'whole':
        // `raw` and `yaml` show all of the body. The text of `yaml` takes long.
        if (field.args.length === 0 && isLeafType(type)) {
          return !isSameValue(before.source.row.body, after.source.row.body);
        }
        return !isSameValue(this.#resolved(field, before, args), this.#resolved(field, after, args));
    }
  }

  #plainDiffers(
    plain: PlainField,
    node: FieldNode,
    type: GraphQLNamedType,
    args: () => Json,
    before: State,
    after: State,
  ): boolean {
    const below = (of: (state: State) => unknown): boolean =>
      this.#valueDiffers(node, type, before, after, of(before), of(after));
    switch (plain.is) {
      case 'member':
      case 'flag':
        return below(({ value }) => memberOf(value, plain.name));
      case 'entry':
        return below(({ value }) => memberOf(recordOf(memberOf(value, plain.of)) ?? {}, String(args()['key'])));
      case 'condition':
        return below(({ value }) => conditionOf(value, String(args()['type'])));
      case 'metadata':
        return below(({ source }) => source.metadata);
      case 'health':
        return below(({ source }) => source.row.health);
      case 'healthPart':
        return below(({ value }) => value[plain.of]);
      case 'identity':
        return plain.of === 'resourceVersion' && below(({ source }) => source.row.resourceVersion);
      case 'apiVersion':
        return below(({ source }) => source.apiVersion);
      case 'kind':
      case 'redacted':
      case 'list':
      case 'related':
        return false;
    }
  }

  /** Does the selection of the field show a difference between these values? */
  #valueDiffers(
    node: FieldNode,
    type: GraphQLNamedType,
    before: State,
    after: State,
    was: unknown,
    is: unknown,
  ): boolean {
    const { selectionSet } = node;
    if (selectionSet === undefined || !isObjectType(type)) return !isSameValue(was, is);
    if (Array.isArray(was) && Array.isArray(is)) {
      return (
        was.length !== is.length ||
        was.some((item, index) => this.#valueDiffers(node, type, before, after, item, is[index]))
      );
    }
    const [old, now] = [recordOf(was), recordOf(is)];
    if (old === null || now === null) return !isSameValue(was, is);
    return this.differs([selectionSet], type, { ...before, value: old }, { ...after, value: now });
  }

  /** The value that the resolver makes from the state. An error is a value like another. */
  #resolved(
    { resolve }: { readonly resolve?: ((...all: never[]) => unknown) | undefined },
    { source }: State,
    args: () => Json,
  ): unknown {
    try {
      return (resolve as ((...all: unknown[]) => unknown) | undefined)?.(
        source,
        args(),
        { portolan: source.operation },
        this.#info,
      );
    } catch {
      return source.row.body;
    }
  }

  #applies(condition: string, type: GraphQLObjectType): boolean {
    if (condition === type.name) return true;
    const named = this.#info.schema.getType(condition);
    return isAbstractType(named) && this.#info.schema.isSubType(named, type);
  }

  #isIncluded(node: SelectionNode): boolean {
    const { variableValues } = this.#info;
    return (
      getDirectiveValues(GraphQLSkipDirective, node, variableValues)?.['if'] !== true &&
      getDirectiveValues(GraphQLIncludeDirective, node, variableValues)?.['if'] !== false
    );
  }
}

function conditionOf(body: Json, type: string): unknown {
  const conditions = memberOf(recordOf(memberOf(body, 'status')) ?? {}, 'conditions');
  if (!Array.isArray(conditions)) return null;
  return conditions.find((each) => recordOf(each)?.['type'] === type) ?? null;
}

function valueAtNames(value: Json, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => memberOf(recordOf(at) ?? {}, name), value);
}
