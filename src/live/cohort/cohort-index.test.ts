/** Compares the index with the fold: a cohort that is not found has no message. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allRows, noRows, type Scope } from '../../access/scope.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { Filter } from '../../query/plan/filter.ts';
import type { LoggedChange } from '../../store/types/change.ts';
import { FeedChange } from '../log/feed-change.ts';
import { type CohortBatch, type CohortRows, cohortBatch, concerns } from './cohort-batch.ts';
import { CohortIndex } from './cohort-index.ts';

const words = ['a', 'b', 'A', '\ud800', ''];
const word = fc.constantFrom(...words);
const someWords = fc.array(word, { maxLength: 3 });

const leaf: fc.Arbitrary<Filter> = fc.oneof(
  fc.record({
    kind: fc.constant('compare' as const),
    path: fc
      .constantFrom('spec.node', 'metadata.name', 'cluster', 'metadata.labels["app"]', 'spec.list[0]')
      .map(parsePath),
    type: fc.constantFrom('String' as const, 'JSON' as const),
    operator: fc.constantFrom('eq' as const, 'in' as const, 'contains' as const),
    values: fc.array(word, { minLength: 1, maxLength: 3 }),
    ignoreCase: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('labels' as const),
    requirements: fc.array(
      fc.record({
        key: fc.constantFrom('app', 'tier'),
        operator: fc.constantFrom('In' as const, 'NotIn' as const, 'Exists' as const),
        values: someWords,
      }),
      { maxLength: 2 },
    ),
  }),
  fc.record({ kind: fc.constant('namespaces' as const), in: someWords }),
  fc.record({
    kind: fc.constant('clusters' as const),
    in: fc.array(fc.constantFrom('east', 'west'), { maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constant('ids' as const),
    in: fc.array(fc.record({ cluster: fc.constant('east'), key: fc.constant('things'), namespace: word, name: word }), {
      maxLength: 2,
    }),
  }),
);
const filter: fc.Arbitrary<Filter> = fc.letrec<{ tree: Filter }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), of: fc.array(tie('tree'), { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('not' as const), of: tie('tree') }),
  ),
})).tree;

const scope: fc.Arbitrary<Scope> = fc.oneof(
  fc.constantFrom(allRows, noRows),
  fc
    .dictionary(
      fc.constantFrom('east', 'west'),
      fc.oneof(
        fc.constant('all' as const),
        fc.record({
          namespaces: someWords.map((names) => new Set(names)),
          names: fc.oneof(
            fc.constant(new Map<string, Set<string>>()),
            word.map((name) => new Map([['', new Set([name])]])),
          ),
        }),
      ),
    )
    .map((clusters): Scope => ({ rows: 'some', clusters: new Map(Object.entries(clusters)) })),
);

const body = fc.record(
  {
    metadata: fc.record({ name: word, labels: fc.dictionary(fc.constantFrom('app', 'tier'), word) }),
    spec: fc.record({ node: fc.oneof(word, fc.constant(5), fc.constant(null)), list: someWords }, { requiredKeys: [] }),
  },
  { requiredKeys: ['metadata'] },
);

const changes = fc.array(
  fc.record({
    type: fc.constantFrom(
      'ADDED' as const,
      'MODIFIED' as const,
      'MODIFIED' as const,
      'DELETED' as const,
      'RESET' as const,
    ),
    cluster: fc.constantFrom('east', 'west'),
    // An API server gives no empty namespace.
    namespace: fc.oneof(fc.constantFrom(...words.filter((each) => each !== '')), fc.constant(null)),
    name: word,
    before: body,
    after: body,
  }),
  { minLength: 1, maxLength: 6 },
);

test('what is found brings clients to the same matches, and a cohort that is not found has no message [L10]', () => {
  const seen = { left: 0, messages: 0, fewer: 0 };
  fc.assert(
    fc.property(fc.array(fc.record({ filter, scope }), { minLength: 1, maxLength: 6 }), changes, (rowsOf, logged) => {
      const cohorts = rowsOf.map(({ filter, scope }) => ({
        rows: { key: 'things', filter, scope } satisfies CohortRows,
      }));
      const index = new CohortIndex<(typeof cohorts)[number]>();
      for (const cohort of cohorts) index.add(cohort);
      const feed = logged.map((each, at) => new FeedChange(loggedChange(each, at + 1)));
      const found = index.find(feed);
      for (const cohort of cohorts) {
        const whole = cohortBatch(cohort.rows, 'epoch', feed, logged.length);
        const isConcerned = concerns(whole);
        const some = found.get(cohort) ?? [];
        if (isConcerned) expect(some).not.toEqual([]);
        expect(outcome(cohortBatch(cohort.rows, 'epoch', some, logged.length))).toEqual(outcome(whole));
        seen.fewer += Number(isConcerned && some.length < feed.length);
        seen.messages += Number(isConcerned);
        seen.left += Number(!found.has(cohort));
      }
      for (const cohort of cohorts) index.delete(cohort);
      expect(index.find(feed).size).toBe(0);
    }),
    { numRuns: 3000 },
  );
  // The property would hold for an index that finds all or nothing.
  expect(seen.left).toBeGreaterThan(1000);
  expect(seen.messages).toBeGreaterThan(1000);
  expect(seen.fewer).toBeGreaterThan(30);
});

test.each<{ readonly filter: string; readonly parts: readonly Filter[]; readonly found: readonly string[] }>([
  { filter: 'one alternative', parts: [ofApp('a')], found: ['a'] },
  { filter: 'alternatives at one place', parts: [ofApp('a'), ofApp('b')], found: ['a', 'b'] },
  {
    filter: 'an alternative with more conditions',
    parts: [ofApp('a'), { kind: 'and', of: [{ kind: 'clusters', in: ['east'] }, ofApp('b')] }],
    found: ['a', 'b'],
  },
  { filter: 'no alternative', parts: [], found: [] },
  { filter: 'alternatives at two places', parts: [ofApp('a'), { kind: 'namespaces', in: ['n'] }], found: words },
])('$filter is found by the texts there', ({ parts, found }) => {
  const index = new CohortIndex<{ readonly rows: CohortRows }>();
  index.add({ rows: { key: 'things', filter: { kind: 'or', of: parts }, scope: allRows } });
  const foundBy = words.filter((app, at) => {
    const object = { metadata: { labels: { app } } };
    const logged = {
      type: 'MODIFIED',
      cluster: 'east',
      namespace: 'n',
      name: 'x',
      before: object,
      after: object,
    } as const;
    return index.find([new FeedChange(loggedChange(logged, at + 1))]).size > 0;
  });
  expect(foundBy).toEqual(found);
});

function ofApp(app: string): Filter {
  return { kind: 'labels', requirements: [{ key: 'app', operator: 'In', values: [app] }] };
}

/** The state of each object at clients in the end, or why they must drop it. Objects that no message names are not in it. */
function outcome(batch: CohortBatch): unknown {
  if (batch.kind === 'gap') return 'gap';
  const held = new Map<string, unknown>();
  for (const { changes: each } of batch.messages) {
    for (const { identity, object, reason } of each) {
      held.set(JSON.stringify(identity), object === null ? reason : object.seq);
    }
  }
  return held;
}

interface Written extends Pick<LoggedChange, 'type' | 'cluster' | 'namespace' | 'name'> {
  readonly before: object;
  readonly after: object;
}

function loggedChange({ type, cluster, namespace, name, before, after }: Written, seq: number): LoggedChange {
  const text = (isThere: boolean, value: object): string | null => (isThere ? JSON.stringify(value) : null);
  return {
    seq,
    type,
    kindId: 1,
    cluster,
    objectId: seq,
    namespace,
    name,
    uid: 'uid',
    resourceVersion: '1',
    at: 0,
    before: text(type !== 'ADDED' && type !== 'RESET', before),
    after: text(type !== 'DELETED' && type !== 'RESET', after),
  };
}
