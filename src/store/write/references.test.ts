/**
 * Compares the references in the file with the bodies in it, once housekeeping has nothing left to do. Before come first lists,
 * relists of both forms, events, new declarations, a dropped collection and restarts.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describedResource, pod, storeFile } from '../../../test/kit/store-file.ts';
import { findReferences } from '../../catalog/bodies/find-references.ts';
import type { DescribedRelation } from '../../catalog/relations/described-relation.ts';
import { placeOfText, placeText } from '../../catalog/relations/place-text.ts';
import { type ReferencePlace, textOfKind } from '../../catalog/relations/relation.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { Database } from '../sqlite/database.ts';
import { openWriter, type StoreWriter } from './writer.ts';

const place = (at: string, kind: string): ReferencePlace => ({
  at: parsePath(at),
  name: null,
  namespace: null,
  target: { group: '', kind },
});
const [node, secrets, claims] = [
  place('spec.nodeName', 'Node'),
  place('spec.volumes[].secret.secretName', 'Secret'),
  place('spec.volumes[].persistentVolumeClaim.claimName', 'PersistentVolumeClaim'),
].map(placeText) as [string, string, string];

const relation = (places: readonly string[]): DescribedRelation => ({
  name: 'related',
  to: null,
  reverse: null,
  reverseOn: [],
  many: true,
  origin: 'CONFIGURED',
  way: { by: 'reference', places },
});

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const target = fc.constantFrom('x', 'y', 'z');
const spec = fc.record(
  {
    nodeName: target,
    volumes: fc.array(
      fc.oneof(
        fc.record({ secret: fc.record({ secretName: target }) }),
        fc.record({ persistentVolumeClaim: fc.record({ claimName: target }) }),
      ),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
);
const objects = fc.dictionary(name, spec, { maxKeys: 6 });
const cluster = fc.constantFrom('east', 'west');
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('list' as const), cluster, objects }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('event' as const), cluster, name, spec: fc.option(spec) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('declare' as const),
      cluster,
      places: fc.subarray([node, secrets, claims]),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('maintain' as const), steps: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), cluster }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

/** The references in the file, and those of its bodies at the complete and declared places. */
function references(file: string): { readonly stored: readonly string[]; readonly expected: readonly string[] } {
  const database = new Database(file, { readonly: true });
  try {
    const stored = (table: string): string[] =>
      database
        .statement(
          `SELECT r.id, p.spec, n.kind, t.cluster, t.namespace || '/' || t.name FROM ${table} AS r
           JOIN reference_place AS p ON p.id = r.place JOIN target AS t ON t.id = r.target
           JOIN named_kind AS n ON n.id = t.named ORDER BY 1, 2, 3, 4, 5`,
        )
        .all()
        .map((row) => row.join(' '));
    expect(stored('reference_by_target')).toEqual(stored('reference'));
    const places = database
      .statement('SELECT spec FROM reference_place')
      .all()
      .map(([text]) => placeOfText(String(text)) as ReferencePlace);
    const expected = database
      .statement(
        'SELECT o.id, o.cluster, o.namespace, coalesce(b.text, json(b.body)) FROM object o JOIN body b USING (id)',
      )
      .all()
      .flatMap(([id, of, namespace, json]) =>
        findReferences(places, JSON.parse(String(json)), String(namespace)).map(
          (found) =>
            `${id} ${placeText(places[found.place] as ReferencePlace)} ${textOfKind(found.target)} ${of} ${found.namespace}/${found.name}`,
        ),
      );
    return { stored: stored('reference').toSorted(), expected: expected.toSorted() };
  } finally {
    database.close();
  }
}

test('the stored references are those of the stored bodies', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.boolean(), async (steps, wholesale) => {
      const file = storeFile();
      const open = (): StoreWriter => openWriter(file, { checkpoints: 'inline', maxDifferences: wholesale ? 1 : 1000 });
      let writer = open();
      const declared = new Map<string, readonly string[]>([
        ['east', [node, secrets]],
        ['west', [node]],
      ]);
      const handles = () =>
        new Map(
          [...declared].map(([each, texts]) => {
            writer.openCluster(each, `uid-${each}`);
            return [
              each,
              writer.declare({ ...describedResource({ cluster: each }), relations: [relation(texts)] }),
            ] as const;
          }),
        );
      let held = handles();
      let version = 1;
      const object = (of: string, at: unknown) => pod({ name: of, rv: version, rest: { spec: at } });
      for (const each of steps) {
        version += 1;
        if (each.do === 'list') {
          const handle = held.get(each.cluster);
          if (handle === undefined) continue;
          const replace = writer.replace(handle);
          replace.put(Object.entries(each.objects).map(([of, at]) => object(of, at)));
          await replace.commit(String(version));
        } else if (each.do === 'event') {
          const handle = held.get(each.cluster);
          if (handle === undefined || !writer.state(handle).synced) continue;
          const type = each.spec === null ? 'DELETED' : 'MODIFIED';
          writer.apply(handle, [{ type, object: object(each.name, each.spec ?? {}) }], String(version));
        } else if (each.do === 'declare') {
          declared.set(each.cluster, each.places);
          held = handles();
        } else if (each.do === 'maintain') {
          for (let count = 0; count < each.steps; count += 1) writer.maintain();
        } else if (each.do === 'drop') {
          const handle = held.get(each.cluster);
          declared.delete(each.cluster);
          held.delete(each.cluster);
          if (handle !== undefined) await writer.drop(handle);
        } else {
          writer.close();
          writer = open();
          held = handles();
        }
      }
      while (writer.maintain());
      const { stored, expected } = references(file);
      expect(stored).toEqual(expected);
      const database = new Database(file, { readonly: true });
      expect(database.statement('SELECT count(*) FROM reference_place WHERE backfilled IS NOT NULL').get()).toEqual([
        0,
      ]);
      const specs = database
        .statement('SELECT DISTINCT spec FROM reference_place ORDER BY 1')
        .all()
        .map(([text]) => text);
      expect(specs).toEqual([...new Set([...declared.values()].flat())].toSorted());
      database.close();
      writer.close();
    }),
    { numRuns: Number(process.env['PORTOLAN_RUNS'] ?? 60) },
  );
});
