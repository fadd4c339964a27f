/** Against a plain model: after any writes, removals, copies and changes of places, the rows are what the bodies say. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findReferences } from '../../catalog/relations/find-references.ts';
import { placeOfText, placeText } from '../../catalog/relations/place-text.ts';
import { readRelations } from '../../catalog/relations/read-relations.ts';
import { type ReferencePlace, textOfKind } from '../../catalog/relations/relation.ts';
import { Database } from '../sqlite/database.ts';
import { schemaStatements } from '../sqlite/schema.ts';
import { ReferenceRows } from './reference-rows.ts';

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
    ],
  },
  'CONFIGURED',
);
const allPlaces: readonly ReferencePlace[] = relations.flatMap(({ means }) =>
  means.by === 'reference' ? means.places : [],
);

test('the text of a place is read back as the same place', () => {
  expect(allPlaces).toHaveLength(4);
  for (const place of allPlaces) expect(placeOfText(placeText(place))).toEqual(place);
});

const name = fc.constantFrom('a', 'b', 'c');
const body = fc.record({
  spec: fc.record(
    {
      secret: name,
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

test('if all places are complete, the rows are the references of the bodies', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const database = new Database(':memory:');
      for (const sql of schemaStatements) database.exec(sql);
      const rows = new ReferenceRows(database, () => {});
      const bodies = new Map<number, unknown>();
      let places: readonly ReferencePlace[] = [];
      let next = 10;
      const objectOf = (each: number) => ({ id: each, kindId, cluster: 'east', namespace: 'shop' });
      const fill = (upTo: number): void => {
        const from = rows.fillFrom(kindId);
        if (from === null) return;
        for (const each of [...bodies.keys()].filter((known) => known > from && known <= upTo))
          rows.write(objectOf(each), bodies.get(each));
        rows.filled(kindId, upTo >= next ? null : Math.max(from, upTo));
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
            rows.reopen(kindId, next - 1);
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
            rows.assign(kindId, places, bodies.size > 0);
            break;
          case 'fill':
            fill(each.upTo);
            break;
          case 'sweep':
            for (let from: number | null = 0; from !== null; ) from = rows.sweep(from, 2);
        }
      }
      fill(next);
      for (let from: number | null = 0; from !== null; ) from = rows.sweep(from, 3);
      const expected = [...bodies].flatMap(([each, value]) =>
        findReferences(places, value, 'shop').map(
          (found) =>
            `${each} ${placeText(places[found.place] as ReferencePlace)} ${textOfKind(found.target)} ${found.namespace}/${found.name}`,
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
      expect(rows.placesOf(kindId).filter(({ dropped }) => dropped)).toEqual([]);
      database.close();
    }),
    { numRuns: 1000 },
  );
});
