import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { describedResource } from '../../../test/kit/store-file.ts';

async function ask(object: unknown, fields: string) {
  const { declare, sync, query } = engineFixture();
  await declare(widget());
  await sync(widgets, [object]);
  const { data, errors } = await query(`{ exampleComWidgets { nodes { ${fields} } } }`);
  return { node: data.exampleComWidgets.nodes[0], errors };
}

test('metadata', async () => {
  const object = made({
    name: 'a',
    uid: 'u',
    labels: { 'a/b': 'x', odd: 5 },
    owner: { uid: 'o' },
    metadata: {
      annotations: { note: 'n' },
      finalizers: ['f', 5],
      generation: 3,
      deletionTimestamp: '2026-02-01T00:00:00Z',
    },
  });
  const { node } = await ask(
    object,
    `cluster apiVersion kind metadata { name namespace uid generation creationTimestamp deletionTimestamp labels annotations finalizers
       a: label(key: "a/b") odd: label(key: "odd") no: label(key: "constructor") note: annotation(key: "note")
       ownerReferences { kind name uid controller blockOwnerDeletion } }`,
  );
  expect(node).toEqual({
    cluster: 'east',
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: {
      name: 'a',
      namespace: 'default',
      uid: 'u',
      generation: 3,
      creationTimestamp: '2026-01-31T12:00:00Z',
      deletionTimestamp: '2026-02-01T00:00:00Z',
      labels: { 'a/b': 'x', odd: 5 },
      annotations: { note: 'n' },
      finalizers: ['f', '5'],
      a: 'x',
      odd: '5',
      no: null,
      note: 'n',
      ownerReferences: [{ kind: 'Owner', name: 'owner', uid: 'o', controller: false, blockOwnerDeletion: false }],
    },
  });
});

test('yaml is the object with every digit and every character', async () => {
  const big = '9223372036854775807';
  const text = JSON.stringify(
    made({ name: 'a', spec: { total: 'BIG', name: 'x\ud800y', at: '2026-01-31', no: 'no', n: '5', free: null } }),
  );
  const { node } = await ask(text.replace('"BIG"', big), 'yaml raw');
  const lines = node.yaml.split('\n');
  expect(lines.slice(0, 2)).toEqual(['apiVersion: example.com/v1', 'kind: Widget']);
  expect(node.yaml).toContain(`total: ${big}\n`);
  const back = parseYaml(node.yaml, { intAsBigInt: true, schema: 'core' });
  expect(back.spec).toMatchObject({ total: BigInt(big), at: '2026-01-31', no: 'no', n: '5', free: null });
  expect(back.spec.name).toBe('x\ud800y');
  expect(Object.keys(node.raw).slice(0, 2)).toEqual(['apiVersion', 'kind']);
  expect(JSON.stringify(node.raw)).toContain(`"total":${big}`);
});

test('yaml is the same object for readers of YAML 1.1, such as kubectl', async () => {
  const spec = { off: 'off', y: 'yes', time: '12:30', octal: '0644', grouped: '0777_1', day: '2026-01-31' };
  const { node } = await ask(made({ name: 'a', spec }), 'yaml');
  expect(parseYaml(node.yaml, { version: '1.1' }).spec).toEqual(spec);
});

test('value at a path', async () => {
  const object = made({
    name: 'a',
    labels: { 'app.io/name': 'web' },
    spec: { name: 'n', ports: [{ name: 'http', number: 80 }, { name: 'admin' }] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const paths = {
    leaf: 'spec.name',
    absent: 'spec.replicas',
    object: 'spec.ports[0]',
    every: 'spec.ports[].number',
    condition: 'status.conditions[type=Ready].status',
    label: 'metadata.labels[\\"app.io/name\\"]',
  };
  const fields = Object.entries(paths).map(([alias, path]) => `${alias}: value(path: "${path}")`);
  expect((await ask(object, fields.join(' '))).node).toEqual({
    leaf: 'n',
    absent: null,
    object: { name: 'http', number: 80 },
    every: [80],
    condition: 'True',
    label: 'web',
  });
  for (const path of ['spec.nmae', 'spec..name']) {
    const { errors } = await ask(object, `value(path: "${path}")`);
    expect(errors[0]?.originalError).toMatchObject({ code: 'BAD_USER_INPUT' });
  }
});

test('conditions by type', async () => {
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'R',
    message: 'M',
    lastTransitionTime: '2026-01-31T12:00:00Z',
    observedGeneration: 2,
  };
  const { node } = await ask(
    made({
      name: 'a',
      status: { conditions: [null, 'x', { type: 'Other' }, condition, { type: 'Ready', status: 'False' }] },
    }),
    'ready: condition(type: "Ready") { type status reason message lastTransitionTime observedGeneration } no: condition(type: "No") { type }',
  );
  expect(node).toEqual({ ready: condition, no: null });
});

test('columns as kubectl shows them', async () => {
  const object = made({
    name: 'a',
    spec: { ports: [{ number: 80 }, { number: 443 }] },
    status: { phase: 'Up', conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const { node } = await ask(object, 'columns { name type priority value }');
  expect(node.columns).toMatchObject([
    { name: 'Name', value: 'a' },
    { name: 'Phase', type: 'string', priority: 0, value: 'Up' },
    { name: 'Ready', value: 'True' },
    { name: 'Ports', priority: 1, value: '80' },
  ]);
  const bare = await ask(made({ name: 'a' }), 'columns { value }');
  expect(bare.node.columns.map(({ value }: { value: unknown }) => value)).toEqual(['a', null, null, null]);
});

test('what is redacted is named and never there', async () => {
  const { declare, sync, query } = engineFixture();
  await declare({ ...widget(), redacted: ['spec.name'] });
  await sync(widgets, [made({ name: 'a', spec: { name: 'secret', replicas: 1 } })]);
  const { data } = await query(
    '{ exampleComWidgets { nodes { redacted spec { name replicas } raw yaml value(path: "spec.name") } } }',
  );
  expect(data.exampleComWidgets.nodes[0]).toMatchObject({
    redacted: ['spec.name'],
    spec: { name: null, replicas: 1 },
    value: null,
  });
  expect(JSON.stringify(data)).not.toContain('secret');
});

test('a kind without a schema has its metadata and raw', async () => {
  const { declare, sync, query } = engineFixture();
  const bare = describedResource({ plural: 'bares', kind: 'Bare', group: 'example.com' });
  await declare({ ...bare, tree: widget().tree, promoted: [] });
  await sync('bares.example.com', [made({ name: 'a', other: 1 })]);
  const { data } = await query('{ exampleComBares { nodes { metadata { name } raw } } }');
  expect(data.exampleComBares.nodes[0]).toMatchObject({ metadata: { name: 'a' }, raw: { other: 1, kind: 'Bare' } });
});
