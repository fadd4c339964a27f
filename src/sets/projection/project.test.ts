/** The oracle of the projection: a model of server-side apply without schemas, in which the field set of a manifest is known. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { appliedFields } from './field-set.ts';
import { projectMember } from './project.ts';

type Json = Readonly<Record<string, unknown>>;

const head = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } };

/** The field set of a value as an API server makes it. Lists of objects with a name are maps of these, other lists are atomic. */
function setOf(value: unknown): Json {
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.every(isNamed)) return {};
    return Object.fromEntries(
      value.map((each) => [`k:${JSON.stringify({ name: each.name })}`, { '.': {}, ...setOf(each) }]),
    );
  }
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [`f:${name}`, setOf(inner)]));
}

function isNamed(value: unknown): value is { readonly name: string } {
  return typeof value === 'object' && value !== null && 'name' in value;
}

/** The value with what a server and controllers add: members, and elements of lists with names. */
function withMore(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.length > 0 && value.every(isNamed) ? [{ name: '-added' }, ...value.map(withMore)] : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  return { ...Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withMore(inner)])), '-added': 1 };
}

const key = fc.oneof(
  fc.string({ minLength: 1, maxLength: 3 }),
  fc.constantFrom('__proto__', 'constructor', 'f:a', '.'),
);
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(fc.string(), fc.integer(), fc.boolean()),
    tie('object'),
    fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 3 }),
    fc.uniqueArray(
      fc.tuple(fc.string(), tie('object')).map(([name, object]) => ({ ...(object as object), name })),
      { selector: ({ name }) => name, minLength: 1, maxLength: 3 },
    ),
  ),
  object: fc.dictionary(key, tie('value'), { minKeys: 1, maxKeys: 4 }),
}));
const manifest = fc
  .dictionary(key, anyValue, { maxKeys: 4 })
  .map((spec): Json => ({ ...head, ...(Object.keys(spec).length === 0 ? {} : { spec }) }));

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('an applied manifest is shown as it was submitted, whatever is added to the object', () => {
  fc.assert(
    fc.property(manifest, (submitted) => {
      const { apiVersion: _version, kind: _kind, metadata: _metadata, ...rest } = submitted;
      const live = { ...(withMore(submitted) as Json), apiVersion: head.apiVersion, kind: head.kind };
      const metadata = { ...head.metadata, uid: 'u', labels: { more: 'x' } };
      expect(plain(projectMember({ ...live, metadata }, setOf(rest)))).toEqual(plain(submitted));
    }),
  );
});

test('a field that is changed, added or removed since is shown as it is now', () => {
  const fields = { 'f:spec': { 'f:replicas': {}, 'f:paused': {}, 'f:args': {} } };
  const spec = { replicas: 5, args: ['--new'], strategy: 'default' };
  expect(projectMember({ ...head, spec, status: {} }, fields)).toEqual({
    ...head,
    spec: { replicas: 5, args: ['--new'] },
  });
});

test('a key of an element is shown only if it was submitted', () => {
  const http = 'k:{"containerPort":80,"protocol":"TCP"}';
  const udp = 'k:{"containerPort":80,"protocol":"UDP"}';
  const fields = {
    'f:ports': {
      [http]: { '.': {}, 'f:containerPort': {} },
      [udp]: { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
    },
    'f:finalizers': { 'v:"a<b"': {} },
    'f:places': { 'i:1': {} },
  };
  const ports = [{ containerPort: 80, protocol: 'UDP' }, { containerPort: 80, protocol: 'TCP' }, { containerPort: 1 }];
  const live = { ...head, ports, finalizers: ['other', 'a<b'], places: [[1], [2]] };
  expect(projectMember(live, fields)).toEqual({
    ...head,
    ports: [{ containerPort: 80, protocol: 'UDP' }, { containerPort: 80 }],
    finalizers: ['a<b'],
    places: [[2]],
  });
  // Before 1.20, an API server may leave the default out.
  expect(
    projectMember({ ...head, ports: [{ containerPort: 80 }] }, { 'f:ports': { [http]: { 'f:containerPort': {} } } }),
  ).toEqual({ ...head, ports: [{ containerPort: 80 }] });
});

test('without an apply only the name is shown, and a forged field set shows nothing that is not there', () => {
  expect(projectMember({ ...head, spec: { a: 1 } }, null)).toEqual(head);
  const forged = { 'f:spec': 7, 'f:status': [], 'k:{': {}, 'f:toString': {}, 'f:__proto__': { 'f:a': {} } };
  expect(projectMember({ ...head, spec: { a: 1 }, status: 'x' }, forged)).toEqual(head);
  expect(projectMember({ ...head, kind: 'Real' }, { 'f:kind': {}, 'f:apiVersion': {} })).toEqual({
    ...head,
    kind: 'Real',
  });
});

test('a value that nests deeper than anybody writes is left out', () => {
  let live: unknown = 1;
  let fields: Json = {};
  for (let depth = 0; depth < 20_000; depth += 1) {
    live = { a: live };
    fields = { 'f:a': fields };
  }
  expect(projectMember({ ...head, spec: live }, { 'f:spec': fields })).toMatchObject(head);
});

describe('the fields of an apply', () => {
  const manager = 'shadow:shop/web';
  const entry = (fieldsV1: Json, more: Json = {}) => ({ manager, operation: 'Apply', fieldsV1, ...more });
  const object = (managedFields: unknown, more: Json = {}) => ({
    ...head,
    ...more,
    metadata: { ...head.metadata, ...(more['metadata'] as object | undefined), managedFields },
  });
  const fieldsOf = (fieldsV1: Json, manifestOf: Json = head, answered: Json = {}) =>
    appliedFields({ object: object([entry(fieldsV1)], answered), manifest: manifestOf, manager, recordUid: 'u-1' });
  const partOf = 'f:applyset.kubernetes.io/part-of';

  test('are without the label and the ownerReference of the set', () => {
    const own = { 'f:labels': { [partOf]: {} }, 'f:ownerReferences': { 'k:{"uid":"u-1"}': {} } };
    expect(fieldsOf({ 'f:metadata': own, 'f:data': { 'f:a': {} } })).toEqual({ 'f:data': { 'f:a': {} } });
    const more = {
      'f:labels': { [partOf]: {}, 'f:app': {} },
      'f:ownerReferences': { 'k:{"uid":"u-1"}': { '.': {}, 'f:uid': {} }, 'k:{"uid":"u-2"}': {} },
    };
    expect(fieldsOf({ 'f:metadata': more })).toEqual({
      'f:metadata': { 'f:labels': { 'f:app': {} }, 'f:ownerReferences': { 'k:{"uid":"u-2"}': {} } },
    });
  });

  test('are those of the apply of this manager to the object itself', () => {
    const others = [
      entry({ 'f:a': {} }, { manager: 'other' }),
      entry({ 'f:b': {} }, { operation: 'Update' }),
      entry({ 'f:c': {} }, { subresource: 'status' }),
    ];
    const read = (managed: unknown) =>
      appliedFields({ object: object(managed), manifest: head, manager, recordUid: 'u-1' });
    expect(read(others)).toBeNull();
    expect(read([...others, entry({ 'f:d': {} })])).toEqual({ 'f:d': {} });
    expect(read('none')).toBeNull();
  });

  test('name the namespace if the manifest does', () => {
    const metadata = { name: 'a', namespace: 'shop' };
    const live = { ...head, metadata, spec: { a: 1 } };
    const label = { 'f:metadata': { 'f:labels': { 'f:app': {} } } };
    const shown = fieldsOf(label, { ...head, metadata: { ...metadata, labels: { app: 'x' } } });
    expect(shown).toEqual({ 'f:metadata': { 'f:labels': { 'f:app': {} }, 'f:namespace': {} } });
    expect(projectMember(live, shown)).toEqual({ ...head, metadata });
    expect(projectMember(live, fieldsOf(label))).toEqual(head);
  });

  test('show what is empty and the server does not keep as it was submitted', () => {
    const written = {
      metadata: { name: 'a', annotations: {} },
      spec: { list: [], some: [{ name: 'x', more: {} }] },
      status: {},
    };
    const answered = {
      metadata: { name: 'a' },
      spec: { some: [{ name: 'x' }] },
      status: {},
    };
    const some = { 'k:{"name":"x"}': { '.': {}, 'f:name': {} } };
    const fields = fieldsOf({ 'f:spec': { 'f:some': some } }, { ...head, ...written }, answered);
    expect(projectMember({ ...head, ...answered }, fields)).toEqual({ ...head, ...written });
    // Fields that others add to it do not belong to the set.
    const later = {
      metadata: { ...answered.metadata, annotations: { by: 'other' } },
      spec: { ...answered.spec, list: [1] },
      status: { ready: 1 },
    };
    expect(projectMember({ ...head, ...later }, fields)).toEqual({
      ...head,
      ...written,
      spec: written.spec,
    });
    const again = fieldsOf(
      { 'f:spec': { 'f:some': some } },
      { ...head, ...written },
      { ...answered, status: { ready: 1 } },
    );
    expect(again).toEqual(fields);
  });

  test('show none of what the server has put into an empty object', () => {
    const name = 'k:{"name":"app"}';
    const fields = { 'f:strategy': {}, 'f:selector': {}, 'f:containers': { [name]: { '.': {}, 'f:resources': {} } } };
    const written = { strategy: {}, selector: {}, containers: [{ name: 'app', resources: {} }] };
    const answered = { strategy: { type: 'A' }, selector: {}, containers: [{ name: 'app', resources: { cpu: 1 } }] };
    const found = fieldsOf(fields, { ...head, ...written }, answered);
    expect(found).toEqual({
      'f:strategy': { '.': {} },
      'f:selector': {},
      'f:containers': { [name]: { '.': {}, 'f:resources': { '.': {} } } },
    });
    expect(projectMember({ ...head, ...answered, selector: { now: 1 } }, found)).toEqual({
      ...head,
      strategy: {},
      selector: { now: 1 },
      containers: [{ resources: {} }],
    });
  });

  test('show no defaults in a value that one manager owns as a whole, and what is added to it later', () => {
    const submitted = {
      spec: { claims: [{ name: 'a' }, { name: 'b', size: 1 }], ref: { path: 'x' }, selector: { app: 'y' } },
    };
    const claims = [
      { name: 'a', mode: 'Block' },
      { name: 'b', size: 1, mode: 'Block', status: {} },
    ];
    const answered = { spec: { claims, ref: { path: 'x', version: 'v1' }, selector: { app: 'y' } } };
    const fieldsV1 = { 'f:spec': { 'f:claims': {}, 'f:ref': {}, 'f:selector': {} } };
    const managed = { manager, operation: 'Apply', fieldsV1 };
    const object = { ...head, ...answered, metadata: { ...head.metadata, managedFields: [managed] } };
    const fields = appliedFields({ object, manifest: { ...head, ...submitted }, manager, recordUid: 'u-1' });
    const shown = (spec: object): unknown => (projectMember({ ...head, spec }, fields) as Json)['spec'];
    expect(shown(answered.spec)).toEqual(submitted.spec);
    expect(shown({ ...answered.spec, claims: claims.slice(1) })).toEqual({
      ...submitted.spec,
      claims: [{ name: 'b' }],
    });
    const added = { name: 'c', mode: 'File' };
    expect(shown({ claims: [...claims, added], ref: { path: 'z' }, selector: { app: 'y', tier: 't' } })).toEqual({
      claims: [...submitted.spec.claims, added],
      ref: { path: 'z' },
      selector: { app: 'y', tier: 't' },
    });
  });
});

describe('field sets that somebody has forged', () => {
  const count = 20_000;
  const numbers = Array.from({ length: count }, (_, at) => at);
  const setWith = (names: readonly string[]): Json => Object.fromEntries(names.map((name) => [name, {}]));
  const shownOf = (items: readonly unknown[], fields: Json): unknown =>
    projectMember({ ...head, items }, { 'f:items': fields })['items'];
  const lacking = numbers.map((at) => ({ b: at }));

  test.each([
    ['many names that fit no element', lacking, setWith(numbers.map((at) => `k:{"a":${at}}`)), 0],
    ['many names with other keys', lacking, setWith(numbers.map((at) => `k:{"a${at}":1}`)), 0],
    ['names that differ in a key that elements lack', lacking, setWith(numbers.map((at) => `k:{"a":${at},"b":0}`)), 1],
    [
      'many elements of one name, each with a list',
      numbers.map(() => ({ a: 1, x: [0] })),
      { 'k:{"a":1}': { 'f:x': setWith(numbers.map((at) => `v:${at}`)) } },
      count,
    ],
  ] as const)('%s', (_what, items, fields, expected) => {
    expect(shownOf(items, fields)).toHaveLength(expected);
  });

  test('many elements of one name that lack many empty values', () => {
    const fields = { 'k:{"a":1}': setWith(numbers.map((at) => `f:x${at}`)) };
    const hollow = { 'k:{"a":1}': Object.fromEntries(numbers.map((at) => [`f:x${at}`, { '.': {} }])) };
    for (const forged of [fields, hollow]) {
      const items = numbers.map(() => ({ a: 1 }));
      expect(JSON.stringify(shownOf(items, forged)).length).toBeLessThan(count * 4 + 20_000);
    }
  });

  test('an element that lacks a key has the name that no other element has', () => {
    const fields = { 'k:{"p":"udp","port":80}': { 'f:port': {} }, 'k:{"p":"tcp","port":80}': { 'f:name': {} } };
    const items = [
      { port: 80, name: 'a' },
      { port: 80, p: 'udp', name: 'b' },
    ];
    expect(shownOf(items, fields)).toEqual([{ name: 'a' }, { port: 80 }]);
  });
});
