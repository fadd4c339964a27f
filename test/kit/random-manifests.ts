/** Random manifests of a JSON Schema: most of them valid, and each with mutations that may break it. */
import { isRecord, list, record, recordOr, strings } from '../../src/base/json.ts';
import { must } from '../../src/base/must.ts';

type Json = Readonly<Record<string, unknown>>;

/** Texts among which one often matches a pattern or a format of a schema. */
const texts =
  `a abc A 1 8080 10 1h 10s 5m 100Mi 500m example.com www.example.com http://example.com/ https://example.com:443/a /a /a/b
  10.0.0.1 10.0.0.0/24 ::1 fd00::/64 a@example.com 2026-01-02T03:04:05Z 2026-01-02T03:04:05.000006Z 2026-01-02 YWJj
  f47ac10b-58cc-4372-a567-0e02b2c3d479 example.com/name v1 a.b.c:1 arn:aws:iam::123456789012:role/x vpc-0123456789abcdef0
  sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 1.2.3 v1.2.3 a-b a_b A_B projects/a 50% 0.5 0 true`
    .split(/\s+/)
    .concat(['', ' ', 'ä', '%%']);

const absent = Symbol('absent');

export class RandomManifests {
  readonly #schema: Json;
  readonly #next: () => number;

  /** @param next numbers in [0, 1) */
  constructor(schema: Json, next: () => number) {
    this.#schema = schema;
    this.#next = next;
  }

  /** An object of the schema with this name, and with up to `mutations` mutations. */
  next(name: string, mutations: number): Json {
    const made = this.#value(this.#schema, 0);
    const manifest = structuredClone(isRecord(made) ? made : {}) as Record<string, unknown>;
    manifest['metadata'] = { name, ...(this.#chance(0.2) ? { labels: { a: 'b' } } : {}) };
    for (let i = 0; i < mutations; i += 1) this.#mutate(manifest);
    return manifest;
  }

  #integer(below: number): number {
    return Math.floor(this.#next() * below);
  }

  #chance(share: number): boolean {
    return this.#next() < share;
  }

  #pick<T>(values: readonly T[]): T {
    return must(values[this.#integer(values.length)], 'a value to pick');
  }

  #resolved(schema: Json): Json {
    const ref = schema['$ref'];
    if (typeof ref !== 'string') return schema;
    const name = decodeURIComponent(ref.replace('#/$defs/', '')).replaceAll('~1', '/').replaceAll('~0', '~');
    return recordOr(recordOr(this.#schema['$defs'])[name]);
  }

  #value(given: Json, depth: number): unknown {
    const schema = this.#merged(given);
    if ('const' in schema) return schema['const'];
    const values = list(schema['enum']);
    if (values.length > 0) return values[this.#integer(values.length)];
    const types = [schema['type']].flat().filter((type) => type !== undefined) as string[];
    const chosen = types.filter((type) => type !== 'null' || this.#chance(0.05));
    switch (this.#pick(chosen.length === 0 ? ['string', 'object'] : chosen)) {
      case 'object':
        return this.#object(schema, depth);
      case 'array': {
        const least = Number(schema['minItems'] ?? 0);
        const count = depth > 8 ? least : Math.max(least, this.#integer(3));
        const items = Array.from({ length: Math.min(count, 20) }, () =>
          this.#value(recordOr(schema['items']), depth + 1),
        );
        return items.includes(absent) ? [] : items;
      }
      case 'integer':
        return this.#number(schema, true);
      case 'number':
        return this.#number(schema, this.#chance(0.5));
      case 'boolean':
        return this.#chance(0.5);
      case 'null':
        return null;
      default:
        return this.#text(schema);
    }
  }

  /** With one branch of each choice. */
  #merged(given: Json): Json {
    let schema = this.#resolved(given);
    for (const key of ['allOf', 'anyOf', 'oneOf']) {
      const branches = list(schema[key]).map(recordOr);
      const { [key]: _taken, ...rest } = schema;
      if (branches.length === 0) continue;
      const taken = key === 'allOf' ? branches : [this.#chance(0.8) ? recordOr(branches[0]) : this.#pick(branches)];
      schema = rest;
      for (const branch of taken) schema = joined(schema, this.#merged(branch));
    }
    return schema;
  }

  #object(schema: Json, depth: number): unknown {
    const made: Record<string, unknown> = {};
    const required = strings(schema['required']);
    for (const [name, property] of Object.entries(recordOr(schema['properties']))) {
      const isWanted = required.includes(name) || (depth < 9 && this.#chance(depth === 0 ? 0.9 : 0.35));
      if (!isWanted || (depth === 0 && name === 'status' && this.#chance(0.9))) continue;
      const value = this.#value(recordOr(property), depth + 1);
      if (value !== absent) made[name] = value;
      else if (required.includes(name)) made[name] = 'a';
    }
    const values = record(schema['additionalProperties']);
    if (values !== undefined && this.#chance(0.5)) {
      const value = this.#value(values, depth + 1);
      if (value !== absent) made[this.#pick(['a', 'cpu', 'example.com', 'B'])] = value;
    }
    return made;
  }

  #number(schema: Json, isWhole: boolean): number {
    const least = Number(schema['minimum'] ?? schema['exclusiveMinimum'] ?? 0);
    const most = Number(schema['maximum'] ?? schema['exclusiveMaximum'] ?? 1000);
    const from = least < -1000 ? 0 : Math.ceil(least) + ('exclusiveMinimum' in schema ? 1 : 0);
    const number = Math.min(from + this.#integer(5), most);
    return isWhole ? Math.trunc(number) : number + 0.5;
  }

  #text(schema: Json): unknown {
    const pattern = typeof schema['pattern'] === 'string' ? new RegExp(schema['pattern'], 'u') : /^/;
    const fits = (text: string): boolean =>
      pattern.test(text) &&
      text.length >= Number(schema['minLength'] ?? 1) &&
      text.length <= Number(schema['maxLength'] ?? 100) &&
      (schema['format'] !== 'date-time' || /^\d{4}-\d\d-\d\dT/.test(text));
    const found = texts.filter(fits);
    return found.length === 0 ? absent : this.#pick(found);
  }

  #mutate(manifest: Record<string, unknown>): void {
    const places: { readonly at: Record<string, unknown> | unknown[]; readonly key: string }[] = [];
    const visit = (at: unknown): void => {
      if (typeof at !== 'object' || at === null) return;
      for (const [key, value] of Object.entries(at)) {
        if (at === manifest && ['apiVersion', 'kind', 'metadata'].includes(key)) continue;
        places.push({ at: at as Record<string, unknown>, key });
        visit(value);
      }
    };
    visit(manifest);
    if (places.length === 0) return;
    const { at, key } = this.#pick(places);
    const holder = at as Record<string, unknown>;
    const value = holder[key];
    const wrong = [true, 1.5, -1, {}, [], '', 2 ** 31, 2 ** 63, 'no such value', '10.5Gi'];
    switch (this.#integer(5)) {
      case 0:
        if (Array.isArray(at)) at.splice(Number(key), 1);
        else delete holder[key];
        return;
      case 1:
        holder[key] = null;
        return;
      case 2:
        holder[key] = typeof value === 'string' ? 1 : 'x';
        return;
      case 3:
        holder[key] = this.#pick(wrong);
        return;
      default:
        holder[key] = changed(value);
    }
  }
}

/** The value with one more part. */
function changed(value: unknown): unknown {
  if (isRecord(value)) return { ...value, noSuchField: 1 };
  if (Array.isArray(value)) return [...(value as unknown[]), ...(value as unknown[])];
  return typeof value === 'number' ? value * 100_000 : `${String(value)} `;
}

function joined(schema: Json, branch: Json): Json {
  const required = [...strings(schema['required']), ...strings(branch['required'])];
  const properties = { ...recordOr(branch['properties']), ...recordOr(schema['properties']) };
  return {
    ...branch,
    ...schema,
    ...('type' in branch && !('type' in schema) ? { type: branch['type'] } : {}),
    ...(required.length === 0 ? {} : { required }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
}
