/** Prepared answers of abstract kinds have the same bytes as those of the executor. */
import { expect, test } from 'vitest';
import { readAbstractKinds } from '../../src/catalog/abstract/read-abstract-kinds.ts';
import { answerPair } from '../kit/answer-pair.ts';
import { deriving } from '../kit/deriving.ts';
import { made } from '../kit/engine-fixture.ts';
import { eventually } from '../kit/eventually.ts';
import { gadget, gadgets, widget, widgets } from '../kit/graphql-world.ts';

test('a page of an abstract kind is written as text, with the same bytes', async () => {
  const { fixture, ask, pages } = await answerPair();
  await fixture.declare(widget(), gadget());
  await fixture.sync(widgets, [
    made({ name: 'a', spec: { name: 'x', replicas: 3 }, status: { phase: 'Ready' } }),
    made({ name: 'b', spec: { name: 'y', total: 5 }, status: { phase: 'Odd' } }),
  ]);
  await fixture.sync(gadgets, [made({ name: 'g', namespace: null })]);
  const { kinds } = readAbstractKinds({
    abstractKinds: [
      {
        name: 'things',
        columns: { label: 'String', count: 'Int64', phase: { type: 'Enum', values: ['Ready', 'Gone'] } },
        members: [
          {
            resource: widgets,
            columns: {
              label: 'spec.name',
              count: { firstOf: ['spec.replicas', 'spec.total'] },
              phase: 'status.phase',
            },
          },
          { resource: gadgets, columns: { label: { value: 'gadget' }, phase: { value: 'Gone' } } },
        ],
      },
    ],
  });
  deriving(fixture, kinds);
  await eventually(async () => {
    await fixture.engine.refreshCatalog();
    const { data, errors } = await fixture.query('{ things { totalCount } }');
    expect(errors).toEqual([]);
    expect(data.things.totalCount).toBe(3);
  });
  const filter = { phase: { in: ['Ready'] } };
  for (const query of [
    '{ things(filter: { phase: { ne: Gone } }, orderBy: [{ path: "phase", direction: DESC }]) { nodes { phase } } }',
    '{ things { nodes { phase metadata { name } } pageInfo { hasNextPage } } }',
    'query ($filter: ThingFilter, $phase: ThingPhase = Gone) { things(filter: $filter) { nodes { phase } } gone: things(filter: { phase: { eq: $phase } }) { edges { cursor node { phase } } } }',
    '{ things(first: 2, orderBy: [{ path: "label", direction: DESC }]) { totalCount pageInfo { hasNextPage endCursor } nodes { id cluster member kind apiVersion metadata { name namespace uid resourceVersion } label count phase health { status reason message source } } } }',
    '{ things(filter: { clusters: ["east"], count: { gt: 3 } }) { nodes { label } } }',
  ]) {
    const before = pages.atOnce + pages.given;
    const [prepared, executed] = await ask(
      JSON.stringify({ query, variables: query.includes('$filter') ? { filter } : {} }),
    );
    expect(prepared.text).toBe(executed.text);
    expect(prepared.status).toBe(200);
    expect(pages.atOnce + pages.given, query).toBeGreaterThan(before);
  }
});
