/**
 * A caller without rights sees no row through any root field and any field of a connection. The documents are made from the schema, so a
 * new field is tested too. A caller with all rights sees rows by most of the same documents.
 */
import {
  type GraphQLArgument,
  type GraphQLField,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { expect, test } from 'vitest';
import { type Scope, unrestricted } from '../../src/access/scope.ts';
import { must } from '../../src/base/must.ts';
import { Dice } from '../fuzz/dice.ts';
import {
  idOf,
  type PlacedObject,
  randomObjects,
  type ScopedStore,
  scopedStore,
  scopesOf,
  worldClusters,
  worldKinds,
} from '../kit/scoped-world.ts';

/** Roots that tell of the catalog and of the caller, but of no object. */
const withoutRows = new Set(['viewer', 'resources', 'clusters', 'whoCan']);

/** Selections stop here; relations lead back to the same types. */
const deepest = 3;

type Field = GraphQLField<unknown, unknown>;

interface Document {
  readonly name: string;
  readonly query: string;
}

class Documents {
  readonly #objects: readonly PlacedObject[];

  constructor(objects: readonly PlacedObject[]) {
    this.#objects = objects;
  }

  /** A document for each argument of a field alone, and for each field of its type. */
  of(field: Field): readonly Document[] {
    const named = getNamedType(field.type);
    const fields = isObjectType(named) || isInterfaceType(named) ? Object.values(named.getFields()) : [];
    const optional = [null, ...field.args.filter((argument) => !isRequiredArgument(argument))];
    const plain = isCompositeType(named) ? this.#selection(fields, 1) : '';
    const byArgument = optional.map((argument) => ({
      name: `${field.name}(${argument?.name ?? ''})`,
      query: `{ ${this.#call(field, argument)} ${plain} }`,
    }));
    const byField = fields.map((each) => ({
      name: `${field.name}.${each.name}`,
      query: `{ ${this.#call(field, null)} { ${this.#field(each, deepest)} } }`,
    }));
    return [...byArgument, ...byField];
  }

  #selection(fields: readonly Field[], depth: number): string {
    const chosen = fields.flatMap((field) => {
      if (isCompositeType(getNamedType(field.type)) && depth === 0) return [];
      return [this.#field(field, depth)];
    });
    return `{ ${chosen.length === 0 ? '__typename' : chosen.join(' ')} }`;
  }

  #field(field: Field, depth: number): string {
    const named = getNamedType(field.type);
    const call = this.#call(field, null);
    if (!isCompositeType(named)) return call;
    const fields = isObjectType(named) || isInterfaceType(named) ? Object.values(named.getFields()) : [];
    // The whole tree would be too costly: below the first levels, the fields by which rows are shown.
    const below =
      depth > 1
        ? fields.filter(({ name }) =>
            [
              'nodes',
              'edges',
              'node',
              'id',
              'totalCount',
              'value',
              'count',
              'aggregate',
              'groups',
              'keys',
              'values',
              'metadata',
              'name',
            ].includes(name),
          )
        : fields.filter(({ name }) => name === 'id' || name === 'count');
    return `${call} ${this.#selection(below, depth - 1)}`;
  }

  #call(field: Field, optional: GraphQLArgument | null): string {
    const given = field.args.filter(
      (argument) => isRequiredArgument(argument) || argument === optional || argument.name === 'cluster',
    );
    if (given.length === 0) return field.name;
    return `${field.name}(${given.map((argument) => `${argument.name}: ${this.#value(argument.type, argument.name, 2)}`).join(', ')})`;
  }

  #value(type: unknown, name: string, depth: number): string {
    if (isNonNullType(type)) return this.#value(type.ofType, name, depth);
    if (isListType(type)) return `[${this.#value(type.ofType, name, depth)}]`;
    if (isEnumType(type)) return must(type.getValues()[0], 'a value of the enum').name;
    const widget = must(
      this.#objects.find(({ key }) => key === 'widgets.example.com'),
      'a widget',
    );
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields()).filter(({ name }) => ['path', 'namespaces'].includes(name));
      return `{ ${fields.map((field) => `${field.name}: ${this.#value(field.type, field.name, depth - 1)}`).join(', ')} }`;
    }
    const values: Readonly<Record<string, unknown>> = {
      id: idOf(widget),
      ids: idOf(widget),
      kinds: '*',
      namespace: widget.namespace,
      namespaces: widget.namespace,
      name: widget.name,
      cluster: widget.cluster,
      clusters: widget.cluster,
      path: 'metadata.name',
      paths: 'metadata.name',
      by: 'metadata.name',
      key: 'app',
      first: 5,
      last: 5,
      limit: 5,
      offset: 0,
      verb: 'get',
      resource: 'widgets.example.com',
    };
    return JSON.stringify(values[name] ?? (String(type) === 'Int' ? 1 : String(type) === 'Boolean' ? true : 'x'));
  }
}

const objects = randomObjects(new Dice(7));

async function world(): Promise<{ readonly store: ScopedStore; readonly documents: readonly Document[] }> {
  const store = await scopedStore();
  await store.fill(objects);
  const made = new Documents(objects);
  const { schema } = store.pair.fixture.engine.source.generation();
  const roots = Object.values(must(schema.getQueryType(), 'the type Query').getFields());
  return { store, documents: roots.filter(({ name }) => !withoutRows.has(name)).flatMap((field) => made.of(field)) };
}

const ids = new RegExp(objects.map(idOf).join('|'));

/** Members that tell of the caller's own rights, of the request or of the schema. */
const ofCaller = new Set(['__typename', 'changesCursor', 'scope', 'path']);

/** Rights to one name that no object has: no list is refused, and none has a row. */
const nobody: Scope = {
  rows: 'some',
  clusters: new Map(
    worldClusters.map((cluster) => [cluster, { namespaces: new Set(), names: new Map([['', new Set(['nobody'])]]) }]),
  ),
};
const toNobody = scopesOf(new Map(worldKinds.map((key) => [key, { list: nobody, get: nobody, watch: nobody }])));

interface Answered {
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

test.each([
  ['without rights', scopesOf(new Map()), ['FORBIDDEN']],
  ['with rights to objects that do not exist', toNobody, ['FORBIDDEN', undefined]],
])('a caller %s gets nothing from any root field, by any argument and any field', async (_who, scopes, allowed) => {
  const { store, documents } = await world();
  expect(documents.length).toBeGreaterThan(50);
  const wrong: string[] = [];
  let [rows, empty] = [0, 0];
  for (const { name, query } of documents) {
    const body = JSON.stringify({ query });
    store.scopes = unrestricted;
    const [whole] = await store.pair.ask(body);
    const { data: all, errors: refused = [] } = JSON.parse(whole.text) as Answered;
    const isRefused = refused.length > 0 && refused.every(({ extensions: { code } }) => code === 'BAD_USER_INPUT');
    if (refused.length > 0 && (!isRefused || all === undefined)) wrong.push(`${name} is invalid: ${whole.text}`);
    if (isTelling(all)) rows += 1;
    store.scopes = scopes;
    for (const { text } of await store.pair.ask(body)) {
      const { data, errors } = JSON.parse(text) as Answered;
      const code = errors?.[0]?.extensions.code;
      if (isTelling(data) || ids.test(JSON.stringify(data))) wrong.push(`${name}: ${text}`);
      // They are empty, and not FORBIDDEN.
      const isEmpty = name.startsWith('danglingReferences') || (name.endsWith('(orEmpty)') && code === undefined);
      if (!isRefused && !allowed.includes(code) && !isEmpty) wrong.push(`${name}: ${text}`);
      if (code === undefined) empty += 1;
    }
  }
  expect(wrong).toEqual([]);
  expect(rows).toBeGreaterThan(documents.length / 3);
  // Both servers answer each document.
  expect(empty > documents.length / 2).toBe(allowed.length > 1);
});

/** Does the data have a text, a number other than 0, or true? */
function isTelling(data: unknown): boolean {
  if (Array.isArray(data)) return data.some(isTelling);
  if (typeof data === 'object' && data !== null) {
    return Object.entries(data).some(([name, value]) => !ofCaller.has(name) && isTelling(value));
  }
  return data !== null && data !== undefined && data !== 0 && data !== false;
}

test('a caller without rights gets no resource, and no objects of a cluster', async () => {
  const { store } = await world();
  store.scopes = scopesOf(new Map());
  const query =
    '{ resources { key objects counts { objects } relations { references } } clusters { resources objects error staleSince } }';
  for (const { text } of await store.pair.ask(JSON.stringify({ query }))) {
    const empty = { resources: 0, objects: 0, error: null, staleSince: null };
    expect(JSON.parse(text).data).toEqual({ resources: [], clusters: [empty, empty] });
  }
});

test('a caller without rights can begin no subscription of objects, and sees no resource', async () => {
  const { store } = await world();
  store.scopes = scopesOf(new Map());
  const { fixture } = store.pair;
  const { schema } = fixture.engine.source.generation();
  const roots = Object.values(must(schema.getSubscriptionType(), 'the type Subscription').getFields());
  expect(roots.length).toBeGreaterThan(3);
  const own = new Set(['resourceChanges', 'writes', 'logs']);
  for (const { name } of roots.filter(({ name }) => !own.has(name))) {
    const root = name === 'objectChanges' ? 'objectChanges(kinds: ["*"])' : name;
    await expect(fixture.subscribe(`subscription { ${root} { phase } }`)).rejects.toThrow('You may not list and watch');
  }
  const logs = 'subscription { logs(from: { query: { kinds: ["*"] } }) { lines { text } } }';
  await expect(fixture.subscribe(logs)).rejects.toThrow('You may not list');
  const resources = await fixture.subscribe('subscription { resourceChanges { phase changes { id } } }');
  expect((await resources.next()).value).toEqual({ data: { resourceChanges: { phase: 'SYNCED', changes: [] } } });
  await resources.return();
});
