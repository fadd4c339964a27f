/**
 * Prepared answers against the executor: the same requests go over HTTP to two servers on one store, one with prepared answers and one
 * without. Status, headers and every byte of the body must be equal.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rawJson } from '../../src/catalog/values/raw-json.ts';
import { answerPair, expectSameAnswers } from '../kit/answer-pair.ts';
import { made } from '../kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';
import { pools } from '../kit/leaf-values.ts';
import { randomQuery } from '../kit/random-query.ts';
import { randomRuns } from '../kit/random-runs.ts';

const odd = ['1.0', '1e2', '-0', '1E400', '0.10', '-1.50', `1${'0'.repeat(400)}`, '1e-7', '123456789012345678'].map(
  rawJson,
);
const anything: fc.Arbitrary<unknown> = fc.oneof(
  ...Object.values(pools).map((pool) => fc.constantFrom(...pool)),
  fc.constantFrom(...odd, null, true, {}, [], { a: null }, [null]),
);
const leaf = (type: keyof typeof pools) =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...pools[type]) }, { weight: 1, arbitrary: anything });
const free = fc.oneof(
  anything,
  fc.dictionary(fc.constantFrom('b', '2', '1', 'a', '__proto__', 'constructor', 'é', '"'), anything),
  fc.array(fc.oneof(anything, fc.array(anything, { maxLength: 2 })), { maxLength: 3 }),
);
const some = { requiredKeys: [] };
const record = (model: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof({ weight: 6, arbitrary: fc.record(model, some) }, { weight: 1, arbitrary: anything });
const list = (of: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 5, arbitrary: fc.array(of, { maxLength: 3 }) }, { weight: 1, arbitrary: anything });

const condition = record({
  type: fc.oneof(fc.constantFrom('Ready', 'app'), leaf('String')),
  status: leaf('String'),
  reason: leaf('String'),
  message: leaf('String'),
  lastTransitionTime: leaf('DateTime'),
  observedGeneration: leaf('Int64'),
});
const content = fc.record(
  {
    spec: record({
      name: leaf('String'),
      replicas: leaf('Int'),
      total: leaf('Int64'),
      ratio: leaf('Float'),
      paused: leaf('Boolean'),
      at: leaf('DateTime'),
      port: leaf('IntOrString'),
      free,
      tags: list(leaf('String')),
      numbers: list(leaf('Int')),
      ports: list(record({ name: leaf('String'), number: leaf('Int'), id: leaf('String') })),
      template: record({ image: leaf('String'), 'pull-policy': leaf('String'), id: leaf('Int') }),
      settings: record({ b: leaf('String'), 1: leaf('String'), a: leaf('String') }),
    }),
    status: record({ phase: leaf('String'), conditions: list(condition) }),
  },
  some,
);
const metadata = fc.record(
  {
    labels: record({ app: leaf('String'), '1': leaf('String'), 'a"b': leaf('String'), '': leaf('String') }),
    annotations: record({ app: leaf('String') }),
    finalizers: list(leaf('String')),
    generation: leaf('Int64'),
    generateName: leaf('String'),
    deletionGracePeriodSeconds: leaf('Int64'),
    ownerReferences: list(
      record({
        apiVersion: leaf('String'),
        kind: leaf('String'),
        name: leaf('String'),
        uid: fc.constantFrom<unknown>('u1', 'u2', 'é', '', 5, null),
        controller: leaf('Boolean'),
        blockOwnerDeletion: leaf('Boolean'),
      }),
    ),
  },
  some,
);
/** An object's text, sometimes with more escapes than needed, sometimes too deep for SQLite. */
const object = (index: number) =>
  fc
    .record({
      content,
      metadata,
      escaped: fc.boolean(),
      deep: fc.integer({ min: 0, max: 20 }),
      name: fc.constantFrom('a', 'b/', 'é', '"', 'x\0y'),
    })
    .map((given) => {
      const deep = given.deep === 0 ? { deep: JSON.parse('['.repeat(1100) + ']'.repeat(1100)) } : {};
      const all = made({
        name: `${given.name}${index}`,
        namespace: `n${index % 2}`,
        metadata: given.metadata,
        ...given.content,
        ...deep,
      });
      const json = JSON.stringify(all);
      return given.escaped
        ? json.replace(/[é/A]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
        : json;
    });
const world = fc.tuple(...Array.from({ length: 6 }, (_, index) => object(index)));

const orders = [
  'metadata.name',
  'spec.total',
  'spec.name',
  'spec.at',
  'spec.ratio',
  'metadata.creationTimestamp',
  'spec.port',
];
const args = [
  '',
  '(first: 3)',
  '(first: 0)',
  '(last: 2)',
  '(first: $first, after: $after)',
  '(first: $first, after: $after, before: $after)',
  '(after: $after, last: 2)',
  '(before: $after, first: 3)',
  '(filter: { namespaces: ["n1"] }, first: 2)',
  '(filter: { spec: { name: { exists: true } } })',
  '(filter: { clusters: ["east"] }, last: 3)',
  '(filter: { clusters: ["nowhere"] })',
  '(filter: { spec: {} })',
  '(first: -1)',
  '(after: "nonsense")',
  ...orders.map((path) => `(orderBy: [{ path: "${path}", direction: DESC }], first: 4)`),
  '(orderBy: [{ path: "spec.total" }, { path: "spec.name", direction: DESC, nulls: FIRST }], last: 4)',
  '(orderBy: [{ path: "nothing" }])',
];

const key = { a: 'exampleComWidgets', b: 'exampleComGadgets' };

describe('prepared answers', () => {
  test('are what the executor gives, byte for byte', { timeout: 300_000 }, async () => {
    const pair = await answerPair();
    const { fixture, pages } = pair;
    await fixture.declare(widget(), gadget());
    await fixture.sync(gadgets, [made({ name: 'g', namespace: null, spec: { name: 'n', replicas: 'r', total: 5 } })]);
    const { schema } = fixture.engine.source.generation();
    const query = randomQuery(schema, { roots: [key.a, key.a, key.b], code: 1, args });
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(
        world,
        fc.array(query, { minLength: 6, maxLength: 10 }),
        fc.constantFrom(undefined, 1, 2),
        async (objects, queries, first) => {
          await fixture.sync(widgets, [...objects]);
          for (const each of queries) {
            asked += 1;
            // The first request goes to a reader thread, the second uses the cached route, and the third finds nothing new.
            await expectSameAnswers(pair, each, first, 3);
          }
        },
      ),
      { numRuns: randomRuns(10, 30), endOnFailure: true },
    );
    // Otherwise the test would compare the executor with itself.
    expect(pages.given + pages.atOnce).toBeGreaterThan(asked);
    expect(pages.atOnce).toBeGreaterThan(asked / 4);
  });
});
