/** The shared context of the parts of one JSON Schema: the definitions that it refers to, and the bounds of its size. */
import { PortolanError } from '../../base/errors.ts';
import { isText, records } from '../../base/json.ts';

export type Json = Readonly<Record<string, unknown>>;

/** The largest schemas of real kinds have about 20,000 parts. */
const mostParts = 100_000;

export class SchemaContext {
  /** A deeper place takes any value. Real schemas have about 30 levels. */
  readonly mostDepth = 64;
  readonly #find: (name: string) => { readonly takesNull: boolean } | undefined;
  #parts = 0;

  /** @param find the definition of this name, which is then a part of the schema */
  constructor(find: (name: string) => { readonly takesNull: boolean } | undefined) {
    this.#find = find;
  }

  /**
   * Counts one part. True where the computation should pause.
   * @throws PortolanError UPSTREAM_UNAVAILABLE for too many parts.
   */
  count(depth: number): boolean {
    this.#parts += 1;
    if (this.#parts > mostParts) {
      throw new PortolanError(
        'UPSTREAM_UNAVAILABLE',
        `The schema of the kind has more than ${mostParts} parts, so it is not shown: look at its CustomResourceDefinition or its API service.`,
      );
    }
    return depth > this.mostDepth || this.#parts % 64 === 0;
  }

  /** The definition to which `#/components/schemas/NAME` or `#/definitions/NAME` refers, or undefined. */
  definition(ref: string): { readonly ref: string; readonly takesNull: boolean } | undefined {
    const name = definitionName(ref);
    const found = name === null ? undefined : this.#find(name);
    return found === undefined ? undefined : { ref: refTo(name ?? ''), ...found };
  }
}

/** The name in a reference of an OpenAPI document; null for any other reference. */
function definitionName(ref: string): string | null {
  return /^#\/(?:components\/schemas|definitions)\/([^/]+)$/.exec(ref)?.[1] ?? null;
}

/** The reference to a definition of this name, by RFC 6901. */
function refTo(name: string): string {
  return `#/$defs/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}

/** Formats that mean the same to API servers and in JSON Schema. Servers ignore formats that they do not know; tools may refuse them. */
const formats: ReadonlySet<unknown> = new Set(
  'binary byte date date-time double email float hostname int32 int64 ipv4 ipv6 password uri uuid'.split(' '),
);

/** The annotations of a schema besides its constraints. Messages of CEL rules are a part of the description, where editors show them. */
export function annotations(source: Json): Json {
  const rules = records(source['x-kubernetes-validations']).flatMap(
    ({ message, rule }) => [message, rule].find(isText) ?? [],
  );
  const description = [
    ...(isText(source['description']) ? [source['description']] : []),
    ...(rules.length === 0 ? [] : [`Rules:\n${rules.map((each) => `- ${each}`).join('\n')}`]),
  ].join('\n\n');
  const kept = Object.entries(source).filter(
    ([key, value]) =>
      key === 'title' ||
      key === 'default' ||
      (key === 'format' && formats.has(value)) ||
      (key.startsWith('x-kubernetes-') && key !== 'x-kubernetes-group-version-kind'),
  );
  return { ...(description === '' ? {} : { description }), ...Object.fromEntries(kept) };
}

/** The schema, or null. @param others the values that stand for an absent one */
export function orNull(schema: Json, others: readonly unknown[] = [null]): Json {
  const isPlain = !['enum', '$ref', 'anyOf', 'oneOf', 'allOf', 'not'].some((key) => key in schema);
  if (isPlain) {
    const type: unknown = schema['type'];
    if (type === undefined) return schema;
    const types = Array.isArray(type) ? (type as unknown[]) : [type];
    return types.includes('null') ? schema : { ...schema, type: [...types, 'null'] };
  }
  const { title, description, default: given, ...constraints } = schema;
  const about = Object.entries({ title, description, default: given }).filter(([, value]) => value !== undefined);
  // Editors do not offer the values of a branch with `doNotSuggest`.
  return { ...Object.fromEntries(about), anyOf: [constraints, { enum: others, doNotSuggest: true }] };
}
