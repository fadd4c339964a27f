/** Conditions and orders on long lists of free JSON in one object: each element is looked at once, so that readers stay free. */
import { expect, test } from 'vitest';
import { describedCrd, engineFixture, made } from '../kit/engine-fixture.ts';

const length = 60_000;
const list = (make: (at: number) => unknown): unknown[] => Array.from({ length }, (_, at) => make(at));

const anything = { 'x-kubernetes-preserve-unknown-fields': true };

/** With a pass over the list for each element, each of these takes minutes. */
const cases: readonly [what: string, any: unknown, path: string, found: string, missing: string][] = [
  ['numbers', list((at) => at), 'spec.any[]', 'eq: 59999', 'eq: 60000'],
  ['numbers, in a range', list((at) => at), 'spec.any[]', 'gt: 59998', 'gt: 60000'],
  ['fractions', list((at) => at + 0.5), 'spec.any[]', 'eq: 59999.5', 'eq: 0.25'],
  ['texts', list((at) => `t${at}`), 'spec.any[]', 'eq: "t59999"', 'eq: "t"'],
  ['texts, by pattern', list((at) => `t${at}`), 'spec.any[]', 'in: ["t59999"]', 'in: ["x"]'],
  ['texts with an odd character', list((at) => `t${at}\ufffd`), 'spec.any[]', 'eq: "t59999\ufffd"', 'eq: "\ufffd"'],
  ['lists of one', list((at) => [at]), 'spec.any[][]', 'eq: 59999', 'eq: 60000'],
  ['a list in a list', [list((at) => at)], 'spec.any[][]', 'eq: 59999', 'eq: 60000'],
  ['objects', list((at) => ({ n: at })), 'spec.any[].n', 'eq: 59999', 'eq: 60000'],
  ['objects with lists', list((at) => ({ n: [at] })), 'spec.any[].n[]', 'eq: 59999', 'eq: 60000'],
  ['a member of the last object', list((at) => ({ a: `${at}`, n: at })), 'spec.any[a="59999"].n', 'eq: 59999', 'eq: 1'],
];

test.each(cases)(
  '%s',
  async (_what, any, path, found, missing) => {
    const fixture = engineFixture();
    const properties = { spec: { type: 'object', properties: { any: anything } } };
    await fixture.declare(describedCrd({ kind: 'Free', plural: 'frees', properties }));
    await fixture.sync('frees.example.com', [made({ kind: 'Free', name: 'a', spec: { any } })]);
    const quoted = JSON.stringify(path);
    for (const [condition, count] of [
      [found, 1],
      [missing, 0],
    ] as const) {
      const query = `{ exampleComFrees(filter: { path: [{ path: ${quoted}, ${condition} }] }) { totalCount nodes { id } } }`;
      const { data, errors } = await fixture.query(query);
      expect(errors).toEqual([]);
      expect(data).toMatchObject({ exampleComFrees: { totalCount: count } });
    }
    const ordered = await fixture.query(
      `{ exampleComFrees(orderBy: [{ path: ${quoted} }]) { nodes { metadata { name } } } }`,
    );
    expect(ordered.errors).toEqual([]);
  },
  60_000,
);
