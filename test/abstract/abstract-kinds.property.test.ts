/**
 * Random abstract kinds over random objects, against a plain computation. Objects change all the time; each list is compared once the
 * deriver is in step, by pages of random size in both directions.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAbstractKinds } from '../../src/catalog/abstract/read-abstract-kinds.ts';
import { deriving } from '../kit/deriving.ts';
import { describedCrd, type EngineFixture, engineFixture, made } from '../kit/engine-fixture.ts';
import { eventually } from '../kit/eventually.ts';
import { randomRuns } from '../kit/random-runs.ts';

const plurals = ['ants', 'bees', 'cats'];
const keyOf = (plural: string) => `${plural}.example.com`;
const clusters = ['east', 'west'];
const text = { type: 'string' };
const spec = { type: 'object', properties: { a: text, b: text, n: { type: 'integer' }, m: text } };

interface Spec {
  readonly a?: string;
  readonly b?: string;
  readonly n?: number;
  readonly m?: string;
}

/** A source of the text column, and what it gives. */
const sources: readonly (readonly [source: unknown, of: (given: Spec) => string | null])[] = [
  ['spec.a', ({ a }) => a ?? null],
  [{ firstOf: ['spec.b', 'spec.a'] }, ({ a, b }) => b ?? a ?? null],
  [{ value: 'one' }, () => 'one'],
  [
    { concat: ['spec.a', { value: '-' }, 'spec.b'] },
    ({ a, b }) => (a === undefined || b === undefined ? null : `${a}-${b}`),
  ],
  [
    { of: 'spec.a', map: { x: 'ex', Y: 'why' }, otherwise: 'other' },
    ({ a }) => (a === undefined ? null : a.toLowerCase() === 'x' ? 'ex' : a.toLowerCase() === 'y' ? 'why' : 'other'),
  ],
];
/** A source of the number column. */
const numbers: readonly (readonly [source: unknown, of: (given: Spec) => number | null])[] = [
  ['spec.n', ({ n }) => n ?? null],
  ['spec.m', ({ m }) => (m !== undefined && /^-?(0|[1-9][0-9]*)$/.test(m) ? Number(m) : null)],
  [{ value: 7 }, () => 7],
];

const letters = fc.constantFrom('x', 'X', 'y', 'z', 'é', '');
const object = fc.record(
  { a: letters, b: letters, n: fc.integer({ min: -3, max: 3 }), m: fc.constantFrom('1', '-2', '03', 'many') },
  { requiredKeys: [] },
);
const member = fc.record({ plural: fc.constantFrom(...plurals), t: fc.nat(4), n: fc.nat(2), where: fc.boolean() });
const write = fc.record({
  plural: fc.constantFrom(...plurals),
  cluster: fc.constantFrom(...clusters),
  name: fc.constantFrom('a', 'b', 'c', 'd'),
  given: fc.option(object),
});
const list = fc.record({
  by: fc.constantFrom('t', 'n'),
  descending: fc.boolean(),
  size: fc.integer({ min: 1, max: 4 }),
  only: fc.option(fc.constantFrom('ex', 'x', 'one')),
});

interface Row {
  readonly member: string;
  readonly cluster: string;
  readonly name: string;
  readonly t: string | null;
  readonly n: number | null;
}

const keyText = ({ member, cluster, name }: Row): string => `${cluster}/${member} ${name}`;

function compare(a: Row, b: Row, by: 't' | 'n', descending: boolean): number {
  const [left, right] = [a[by], b[by]];
  const sign = descending ? -1 : 1;
  if (left === null || right === null) {
    if (left !== right) return left === null ? 1 : -1;
  } else if (left !== right) return left < right ? -sign : sign;
  return keyText(a) < keyText(b) ? -sign : sign;
}

async function pages(query: EngineFixture['query'], args: string, size: number, forward: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | null = null; ; ) {
    const at: string = cursor === null ? '' : `, ${forward ? 'after' : 'before'}: ${JSON.stringify(cursor)}`;
    const { data, errors } = await query(
      `{ things(${args}, ${forward ? 'first' : 'last'}: ${size}${at}) { pageInfo { startCursor endCursor hasNextPage hasPreviousPage } nodes { member cluster metadata { name } t n } } }`,
    );
    expect(errors).toEqual([]);
    const { pageInfo, nodes } = data.things;
    const found: Row[] = nodes.map(({ metadata, ...rest }: Row & { metadata: { name: string } }) => ({
      ...rest,
      name: metadata.name,
    }));
    if (forward) rows.push(...found);
    else rows.unshift(...found);
    if (!(forward ? pageInfo.hasNextPage : pageInfo.hasPreviousPage)) return rows;
    cursor = forward ? pageInfo.endCursor : pageInfo.startCursor;
  }
}

test('random abstract kinds are what a plain computation gives', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(member, { selector: ({ plural }) => plural, minLength: 1 }),
      fc.array(fc.array(write, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 }),
      fc.array(list, { minLength: 1, maxLength: 4 }),
      async (members, batches, lists) => {
        const fixture = engineFixture();
        const { query, writer, apply, engine } = fixture;
        const crd = (plural: string, cluster: string) =>
          describedCrd({
            cluster,
            kind: plural.slice(0, 1).toUpperCase() + plural.slice(1, -1),
            plural,
            properties: { spec },
            columns: [],
          });
        await fixture.declare(...plurals.flatMap((plural) => clusters.map((cluster) => crd(plural, cluster))));
        for (const plural of plurals) for (const cluster of clusters) await fixture.sync(keyOf(plural), [], cluster);
        const { kinds, problems } = readAbstractKinds({
          abstractKinds: [
            {
              name: 'things',
              columns: { t: 'String', n: 'Int64' },
              members: members.map(({ plural, t, n, where }) => ({
                resource: keyOf(plural),
                ...(where ? { where: { 'spec.a': { exists: true } } } : {}),
                columns: { t: sources[t]?.[0], n: numbers[n]?.[0] },
              })),
            },
          ],
        });
        expect(problems).toEqual([]);
        const { stop } = deriving(fixture, kinds);
        const objects = new Map<string, { plural: string; cluster: string; name: string; given: Spec }>();
        for (const batch of batches) {
          for (const { plural, cluster, name, given } of batch) {
            const id = `${cluster} ${plural} ${name}`;
            const known = objects.get(id);
            if (given === null) {
              if (known !== undefined) apply(keyOf(plural), 'DELETED', made({ name, spec: known.given }), cluster);
              objects.delete(id);
            } else {
              apply(keyOf(plural), known === undefined ? 'ADDED' : 'MODIFIED', made({ name, spec: given }), cluster);
              objects.set(id, { plural, cluster, name, given });
            }
          }
          const rows = [...objects.values()].flatMap(({ plural, cluster, name, given }): Row[] => {
            const of = members.find((each) => each.plural === plural);
            // The empty text counts as absent.
            if (of === undefined || (of.where && (given.a === undefined || given.a === ''))) return [];
            return [
              {
                member: keyOf(plural),
                cluster,
                name,
                t: sources[of.t]?.[1](given) ?? null,
                n: numbers[of.n]?.[1](given) ?? null,
              },
            ];
          });
          await eventually(async () => {
            await engine.refreshCatalog();
            const { data, errors } = await query(
              '{ things(first: 500) { totalCount nodes { member cluster metadata { name } t n } } }',
            );
            expect(errors).toEqual([]);
            const found: readonly Row[] = data.things.nodes.map(
              ({ metadata, ...rest }: Row & { metadata: { name: string } }) => ({ ...rest, name: metadata.name }),
            );
            const sorted = (all: readonly Row[]) => all.toSorted((a, b) => (keyText(a) < keyText(b) ? -1 : 1));
            expect(sorted(found)).toEqual(sorted(rows));
            expect(data.things.totalCount).toBe(rows.length);
          });
          for (const { by, descending, size, only } of lists) {
            const wanted = rows
              .filter(({ t }) => only === null || t === only)
              .sort((a, b) => compare(a, b, by as 't' | 'n', descending));
            const filter = only === null ? '' : `filter: { t: { eq: ${JSON.stringify(only)} } }, `;
            const args = `${filter}orderBy: [{ path: "${by}", direction: ${descending ? 'DESC' : 'ASC'} }]`;
            expect(await pages(query, args, size, true)).toEqual(wanted);
            expect(await pages(query, args, size, false)).toEqual(wanted);
          }
        }
        await stop();
        writer().close();
      },
    ),
    { numRuns: randomRuns(8, 25), endOnFailure: true },
  );
}, 180_000);
