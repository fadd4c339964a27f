/**
 * How an API server merges the lists of a kind, by the OpenAPI schema of the kind.
 *
 *   x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [containerPort, protocol]   elements are told apart by these members
 *   x-kubernetes-list-type: set                                                          a set of values
 *   x-kubernetes-patch-strategy: merge, x-kubernetes-patch-merge-key: name               the same, of built-in kinds
 *   anything else                                                                        the list is one value
 *
 * Source: KEP-555 (merge strategies), and the API conventions on strategic merge patches.
 */
import { isRecord, strings } from '../../base/json.ts';
import { isObject, memberOf } from '../../catalog/values/displayed-value.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A schema, and the schemas that it may refer to. */
export interface MergeSchema {
  readonly schema: Schema;
  /** By name: `components.schemas` of OpenAPI v3, `definitions` of v2. */
  readonly definitions: Schema;
}

/** The keys that tell the elements of a list apart. */
export type ListKeys =
  | {
      readonly kind: 'map';
      /** One name at least. */
      readonly names: readonly string[];
      /** The values of absent members, by their names. */
      readonly defaults: ReadonlyMap<string, unknown>;
    }
  | { readonly kind: 'set' };

/** References that lead to references. More are a circle. */
const mostHops = 16;

/** The schema of a member; null if it is not known. */
export function schemaOfMember(of: MergeSchema | null, name: string): MergeSchema | null {
  if (of === null) return null;
  const properties = memberOf(of.schema, 'properties');
  const own = isRecord(properties) ? memberOf(properties, name) : undefined;
  return resolved(of, own ?? memberOf(of.schema, 'additionalProperties'));
}

/** The schema of the elements of a list; null if it is not known. */
export function schemaOfElements(of: MergeSchema | null): MergeSchema | null {
  return of === null ? null : resolved(of, memberOf(of.schema, 'items'));
}

/** The keys that tell the elements of the list apart; null: the list is one value. */
export function listKeysOf(of: MergeSchema | null): ListKeys | null {
  if (of === null) return null;
  const { schema } = of;
  const type = memberOf(schema, 'x-kubernetes-list-type');
  const mapKeys = strings(memberOf(schema, 'x-kubernetes-list-map-keys'));
  if (type === 'map' && mapKeys.length > 0) return { kind: 'map', names: mapKeys, defaults: defaultsOf(of, mapKeys) };
  if (type === 'set') return { kind: 'set' };
  const strategy = String(memberOf(schema, 'x-kubernetes-patch-strategy') ?? '').split(',');
  if (type === 'atomic' || !strategy.includes('merge')) return null;
  const key = memberOf(schema, 'x-kubernetes-patch-merge-key');
  if (typeof key !== 'string') return { kind: 'set' };
  return { kind: 'map', names: [key], defaults: defaultsOf(of, [key]) };
}

function defaultsOf(of: MergeSchema, names: readonly string[]): ReadonlyMap<string, unknown> {
  const elements = schemaOfElements(of);
  return new Map(
    names.flatMap((name): (readonly [string, unknown])[] => {
      const given = schemaOfMember(elements, name)?.schema['default'];
      return given === undefined ? [] : [[name, given]];
    }),
  );
}

/**
 * The schema behind `$ref`, which may be wrapped: into `allOf` beside a default, or into `anyOf` beside null. Branches that have constraints
 * alone, such as `required`, count for nothing.
 */
function resolved({ definitions }: MergeSchema, found: unknown): MergeSchema | null {
  let schema = found;
  let beside: Schema = {};
  for (let hops = 0; hops < mostHops; hops += 1) {
    if (!isObject(schema)) return null;
    const reference = memberOf(schema, '$ref');
    if (typeof reference === 'string') {
      beside = { ...schema, ...beside };
      schema = memberOf(definitions, reference.slice(reference.lastIndexOf('/') + 1));
      continue;
    }
    const whole: Schema = schema;
    const branches = shapes.some((name) => memberOf(whole, name) !== undefined)
      ? []
      : [memberOf(whole, 'allOf'), memberOf(whole, 'anyOf')].flatMap(branchesOf);
    const [only, ...others] = branches;
    if (only === undefined || others.length > 0) return { schema: { ...whole, ...beside }, definitions };
    beside = { ...whole, ...beside };
    schema = only;
  }
  return null;
}

/** The keywords that declare members or elements. */
const shapes = ['properties', 'items', 'additionalProperties'];
const shaped = ['$ref', ...shapes, 'allOf', 'anyOf'];

/** The branches that have a shape. */
function branchesOf(members: unknown): readonly Schema[] {
  const all: readonly unknown[] = Array.isArray(members) ? members : [];
  return all.filter(isObject).filter((each) => shaped.some((name) => memberOf(each, name) !== undefined));
}
