import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePath } from '../../catalog/tree/path.ts';
import type { CompareOperator, Filter, Identity } from '../plan/filter.ts';
import { matches } from './matches.ts';
import { matchesIdentity } from './matches-identity.ts';

const texts = ['a', 'b', 'c', 'default'];
const text = fc.constantFrom(...texts);

const identity = fc.record({
  cluster: fc.constantFrom('east', 'west'),
  key: fc.constantFrom('pods', 'nodes'),
  namespace: fc.option(text, { nil: null }),
  name: text,
});

const compare = fc
  .record({
    path: fc.constantFrom('metadata.name', 'metadata.namespace', 'metadata.labels["app"]', 'spec.nodeName', 'cluster'),
    operator: fc.constantFrom<CompareOperator>('eq', 'in', 'lt', 'gte', 'startsWith', 'contains'),
    values: fc.array(text, { minLength: 1, maxLength: 3 }),
    ignoreCase: fc.boolean(),
  })
  .map(
    ({ path, operator, values, ignoreCase }): Filter => ({
      kind: 'compare',
      path: parsePath(path),
      type: 'String',
      operator,
      values: operator === 'in' ? values : values.slice(0, 1),
      ignoreCase,
    }),
  );

const leaf: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 3, arbitrary: compare },
  fc.constantFrom('metadata.name', 'metadata.namespace', 'spec.nodeName').map(
    (path): Filter => ({
      kind: 'exists',
      path: parsePath(path),
    }),
  ),
  fc.array(text, { maxLength: 3 }).map((names): Filter => ({ kind: 'namespaces', in: names })),
  fc.subarray(['east', 'west']).map((names): Filter => ({ kind: 'clusters', in: names })),
  fc.subarray(['pods', 'nodes']).map((keys): Filter => ({ kind: 'kinds', in: keys })),
  fc.array(identity, { maxLength: 3 }).map((ids): Filter => ({ kind: 'ids', in: ids })),
  text.map((value): Filter => ({ kind: 'labels', requirements: [{ key: 'app', operator: 'In', values: [value] }] })),
);

const filter = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('filter'), { maxLength: 3 }).map((of): Filter => ({ kind: 'and', of })),
    fc.array(tie('filter'), { maxLength: 3 }).map((of): Filter => ({ kind: 'or', of })),
    tie('filter').map((of): Filter => ({ kind: 'not', of })),
  ),
})).filter;

/** An object of this identity, as an API server writes it. */
function objectOf({ namespace, name }: Identity, app: string | null, node: string | null): unknown {
  return {
    metadata: {
      name,
      ...(namespace === null ? {} : { namespace }),
      ...(app === null ? {} : { labels: { app } }),
    },
    spec: node === null ? {} : { nodeName: node },
  };
}

test('what the identity decides holds for every body', () => {
  let decided = 0;
  let open = 0;
  fc.assert(
    fc.property(filter, identity, fc.option(text), fc.option(text), (wanted, object, app, node) => {
      const known = matchesIdentity(wanted, object);
      if (known === null) {
        open += 1;
        return;
      }
      decided += 1;
      expect(matches(wanted, { ...object, body: objectOf(object, app, node) })).toBe(known);
    }),
    { numRuns: 3000 },
  );
  expect(Math.min(decided, open)).toBeGreaterThan(300);
});

test('a part that decides makes the body needless', () => {
  const east: Filter = { kind: 'clusters', in: ['east'] };
  const label: Filter = { kind: 'labels', requirements: [{ key: 'app', operator: 'Exists', values: [] }] };
  const object = { cluster: 'west', key: 'pods', namespace: 'a', name: 'b' };
  expect(matchesIdentity({ kind: 'and', of: [label, east] }, object)).toBe(false);
  expect(matchesIdentity({ kind: 'or', of: [label, { kind: 'not', of: east }] }, object)).toBe(true);
  expect(matchesIdentity({ kind: 'and', of: [label, { kind: 'not', of: east }] }, object)).toBeNull();
  expect(matchesIdentity({ kind: 'and', of: [] }, object)).toBe(true);
});
