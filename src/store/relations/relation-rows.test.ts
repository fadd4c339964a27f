/** Compares with a plain model. After any writes, removals, copies and changes of places, the rows agree with the bodies. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findReferences } from '../../catalog/bodies/find-references.ts';
import { readSelector, selects } from '../../catalog/bodies/read-selector.ts';
import { placeOfText, placeText } from '../../catalog/relations/place-text.ts';
import { readRelations } from '../../catalog/relations/read-relations.ts';
import { type ReferencePlace, type SelectorPlace, textOfKind } from '../../catalog/relations/relation.ts';
import { Database } from '../sqlite/database.ts';
import { schemaStatements } from '../sqlite/schema.ts';
import { registerSqlFunctions } from '../sqlite/sql-functions.ts';
import { RelationRows } from './relation-rows.ts';

const { relations } = readRelations(
  {
    relations: [
      { from: 'Foo.example.com', name: 'a', to: 'Secret', at: ['spec.secret'] },
      { from: 'Foo.example.com', name: 'b', to: 'ConfigMap', at: [{ at: 'spec.maps[]', namespace: 'namespace' }] },
      {
        from: 'Foo.example.com',
        name: 'c',
        to: 'any',
        at: [{ at: 'spec.ref', kind: 'kind', group: 'group', default: 'Node' }],
      },
      {
        from: 'Foo.example.com',
        name: 'd',
        to: 'any',
        at: [{ at: 'spec.ref', kind: 'kind', apiVersion: 'apiVersion' }],
      },
      { from: 'Foo.example.com', name: 'e', to: 'Pod', selector: 'spec.labels', form: 'map', empty: 'none' },
      { from: 'Foo.example.com', name: 'f', to: 'Pod', selector: 'spec.selector', form: 'labelSelector', empty: 'all' },
    ],
  },
  'CONFIGURED',
);
const allPlaces: readonly (ReferencePlace | SelectorPlace)[] = relations.flatMap(
  ({ means }): readonly (ReferencePlace | SelectorPlace)[] => {
    if (means.by === 'reference') return means.places;
    return means.by === 'selector' ? [means.place] : [];
  },
);

test('the text of a place is read back as the same place', () => {
  expect(allPlaces).toHaveLength(6);
  for (const place of allPlaces) expect(placeOfText(placeText(place))).toEqual(place);
});

const name = fc.constantFrom('a', 'b', 'c');
const labels = fc.dictionary(name, name, { maxKeys: 3 });
const requirement = fc.record({
  key: name,
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt'),
  values: fc.array(name, { maxLength: 2 }),
});
const labelSelector = fc.record(
  { matchLabels: labels, matchExpressions: fc.array(requirement, { maxLength: 2 }) },
  { requiredKeys: [] },
);
const body = fc.record({
  spec: fc.record(
    {
      secret: name,
      labels,
      selector: labelSelector,
      maps: fc.array(fc.record({ name, namespace: name }, { requiredKeys: [] }), { maxLength: 3 }),
      ref: fc.record(
        {
          name,
          kind: fc.constantFrom('Pod', 'Node'),
          group: fc.constantFrom('', 'apps'),
          apiVersion: fc.constantFrom('v1', 'apps/v1'),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  ),
});
const id = fc.integer({ min: 1, max: 5 });
const step = fc.oneof(
  fc.record({ do: fc.constant('write' as const), id, body }),
  fc.record({ do: fc.constant('list' as const), id, body }),
  fc.record({ do: fc.constant('remove' as const), id }),
  fc.record({ do: fc.constant('copy' as const), id }),
  fc.record({ do: fc.constant('places' as const), places: fc.subarray([...allPlaces]) }),
  fc.record({ do: fc.constant('fill' as const), upTo: fc.integer({ min: 0, max: 20 }) }),
  fc.record({ do: fc.constant('sweep' as const) }),
);

const kindId = 7;

/** The rows of all objects after these steps, once every place is complete, and what their bodies say. */
function after(
  database: Database,
  steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
): { readonly bodies: ReadonlyMap<number, unknown>; readonly places: readonly (ReferencePlace | SelectorPlace)[] } {
  const rows = new RelationRows(database, { ifUndone: () => {}, layoutChanged: () => {} });
  const bodies = new Map<number, unknown>();
  let places: readonly (ReferencePlace | SelectorPlace)[] = [];
  let next = 10;
  const objectOf = (each: number) => ({ id: each, kindId, cluster: 'east', namespace: 'shop' });
  const fill = (upTo: number): void => {
    const from = rows.places.fillFrom(kindId);
    if (from === null) return;
    for (const each of [...bodies.keys()].filter((known) => known > from && known <= upTo))
      rows.write(objectOf(each), bodies.get(each));
    rows.places.filled(kindId, upTo >= next ? null : Math.max(from, upTo));
  };
  for (const each of steps) {
    switch (each.do) {
      case 'write':
        bodies.set(each.id, each.body);
        rows.write(objectOf(each.id), each.body);
        break;
      case 'list':
        // A first list writes new objects with new ids, and without references.
        bodies.set(next, each.body);
        rows.places.reopen(kindId, next - 1);
        next += 1;
        break;
      case 'remove':
        rows.remove(each.id, kindId);
        bodies.delete(each.id);
        break;
      case 'copy':
        if (!bodies.has(each.id)) break;
        rows.copy(each.id, kindId, next);
        bodies.set(next, bodies.get(each.id));
        next += 1;
        break;
      case 'places':
        places = each.places;
        rows.places.assign(kindId, places.map(placeText), bodies.size > 0);
        break;
      case 'fill':
        fill(each.upTo);
        break;
      case 'sweep':
        rows.sweep(2);
    }
  }
  fill(next);
  // A running sweep ends first; the second one looks at all targets.
  rows.sweep(1000);
  rows.sweep(1000);
  expect(rows.places.of(kindId).all.filter(({ dropped }) => dropped)).toEqual([]);
  return { bodies, places };
}

function emptyDatabase(): Database {
  const database = new Database(':memory:');
  registerSqlFunctions(database, { tick: () => {} });
  for (const sql of schemaStatements) database.exec(sql);
  return database;
}

test('if all places are complete, the rows are the references of the bodies', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const database = emptyDatabase();
      const { bodies, places } = after(database, steps);
      const references = places.flatMap((place) => ('form' in place ? [] : [place]));
      const expected = [...bodies].flatMap(([each, value]) =>
        findReferences(references, value, 'shop').map(
          (found) =>
            `${each} ${placeText(references[found.place] as ReferencePlace)} ${textOfKind(found.target)} ${found.namespace}/${found.name}`,
        ),
      );
      const stored = (table: string): string[] =>
        database
          .statement(
            `SELECT r.id, p.spec, CASE WHEN n.grp = '' THEN n.kind ELSE n.kind || '.' || n.grp END, t.namespace || '/' || t.name
             FROM ${table} AS r JOIN reference_place AS p ON p.id = r.place JOIN target AS t ON t.id = r.target JOIN named_kind AS n ON n.id = t.named`,
          )
          .all()
          .map((row) => row.join(' '))
          .sort();
      expect(stored('reference')).toEqual(expected.sort());
      expect(stored('reference_by_target')).toEqual(expected);
      const unused = database
        .statement(
          'SELECT count(*) FROM target AS t WHERE NOT EXISTS (SELECT 1 FROM reference_by_target AS r WHERE r.target = t.id)',
        )
        .get();
      expect(unused).toEqual([0]);
      database.close();
    }),
    { numRuns: 1000 },
  );
});

test('if all places are complete, the rows select what the selectors of the bodies select', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), labels, (steps, found) => {
      const database = emptyDatabase();
      const { bodies, places } = after(database, steps);
      const selectors = places.flatMap((place) => ('form' in place ? [place] : []));
      const expected = [...bodies].flatMap(([each, value]) =>
        selectors.flatMap((place) => {
          const selector = readSelector(place, value);
          return selector !== null && selects(selector, found) ? [`${each} ${placeText(place)}`] : [];
        }),
      );
      const stored = database
        .statement(
          `SELECT s.id, p.spec FROM selector AS s JOIN reference_place AS p ON p.id = s.place
           WHERE (s.key = '' OR s.value = (? ->> ('$."' || s.key || '"'))) AND (s.needs IS NULL OR selects(s.needs, json_array(json(?))))`,
        )
        .all(JSON.stringify(found), JSON.stringify(found))
        .map((row) => row.join(' '));
      expect(stored.sort()).toEqual(expected.sort());
      database.close();
    }),
    { numRuns: 1000 },
  );
});
