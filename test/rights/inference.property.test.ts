/**
 * Nothing in an answer depends on objects that the caller may not see: two stores that differ in these objects alone give the same bytes.
 * So names, labels, fields, the number and the existence of hidden objects cannot be found out by filters, orders, cursors, counts,
 * warnings, errors or costs. Sequence numbers are excepted, how long an answer takes, and how far the change log of a kind reaches back.
 */
import { expect, test } from 'vitest';
import { noRows, type PartScope, type Scope, unrestricted } from '../../src/access/scope.ts';
import { Dice } from '../fuzz/dice.ts';
import { randomDocument } from '../fuzz/random-document.ts';
import { made } from '../kit/engine-fixture.ts';
import { widgets } from '../kit/graphql-world.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { cursorsOf } from '../kit/scoped-cursors.ts';
import { scopedDocument } from '../kit/scoped-documents.ts';
import {
  comparableText,
  describeScopes,
  idOf,
  isSeen,
  type PlacedObject,
  randomObjects,
  randomScopes,
  type ScopedStore,
  scopedStore,
  scopesOf,
  worldKinds,
} from '../kit/scoped-world.ts';

const rounds = Number(process.env['PORTOLAN_INFERENCE'] ?? randomRuns(3, 8));
const firstSeed = Number(process.env['PORTOLAN_SEED'] ?? '1');
const documents = 60;

const accesses = ['list', 'get', 'watch'] as const;

/**
 * The answers of both servers of a store to one request. A count that was kept takes nothing from the budget of its operation, and the
 * servers share counts. So they are asked again where the budget was spent.
 */
async function answers({ pair }: ScopedStore, body: string): Promise<readonly string[]> {
  const first = (await pair.ask(body)).map(comparableText);
  return first.some((text) => text.includes('"notAfforded"')) ? (await pair.ask(body)).map(comparableText) : first;
}

/** A text from shortly before the place where it differs from another one; the failure shows it. */
function partOf(text: string, other: string): string {
  if (text === other) return '';
  const at = [...text].findIndex((character, index) => character !== other[index]);
  return text.slice(Math.max(0, at - 300), at + 300);
}

const options = { scanRows: 40, engine: { diagnosis: { explain: true } } };

test('stores that differ in hidden objects alone give the same bytes', { timeout: 600_000 }, async () => {
  const [whole, bare] = [await scopedStore(options), await scopedStore(options)];
  const { schema } = whole.pair.fixture.engine.source.generation();
  let [asked, hidden, answered] = [0, 0, 0];
  for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) {
    const dice = new Dice(seed);
    const objects = randomObjects(dice);
    const scopes = randomScopes(dice, { same: false });
    const isHidden = (each: PlacedObject): boolean => accesses.every((access) => !isSeen(scopes, each, access));
    const seen = objects.filter((each) => !isHidden(each));
    hidden += objects.length - seen.length;
    await whole.fill(objects);
    // The other store has no hidden objects, or others.
    await bare.fill(dice.chance(0.5) ? seen : [...seen, ...randomObjects(dice).filter(isHidden)]);
    whole.scopes = unrestricted;
    const cursors = await cursorsOf(whole.pair);
    const known = { paths: ['metadata.name', 'spec.total'], ids: objects.map(idOf), kinds: worldKinds };
    [whole.scopes, bare.scopes] = [scopes, scopes];
    for (let number = 0; number < documents; number += 1) {
      const document = dice.chance(0.8)
        ? scopedDocument(dice, { objects, cursors, listsOnly: false, sameForAll: false })
        : randomDocument(schema, known, dice);
      // An answer to a subscription does not end. The stores were filled in different ways, so their objects have another past.
      if (document.query.startsWith('subscription') || /\bhistory\b|\bchanges\b/.test(document.query)) continue;
      const explain = dice.chance(0.1) ? { extensions: { portolan: { explain: true } } } : {};
      const body = JSON.stringify({ ...document, ...explain });
      // A caller who sees everything fills the caches.
      if (dice.chance(0.3)) {
        whole.scopes = unrestricted;
        await whole.pair.ask(body);
        whole.scopes = scopes;
      }
      const [first, ...more] = [...(await answers(whole, body)), ...(await answers(bare, body))];
      asked += 1;
      if (first?.includes('"errors"') === false) answered += 1;
      const where = `seed ${seed}: ${body}\n${describeScopes(scopes)}`;
      for (const other of more) expect(partOf(other, first ?? ''), where).toBe(partOf(first ?? '', other));
    }
  }
  expect(hidden).toBeGreaterThan(rounds * 5);
  expect(answered).toBeGreaterThan(asked / 2);
});

test('an order by a value of related objects takes no steps for objects that only hidden ones refer to', async () => {
  const store = await scopedStore();
  const more = Array.from({ length: 20 }, (_, index) => `b${index}`);
  const shown = (name: string, spec: object): PlacedObject => placedWidget('n0', name, spec, name === 'c' ? '0' : name);
  const objects = [shown('a', {}), ...more.map((name) => shown(name, { template: { image: 'a' } })), shown('c', {})];
  const [list, get] = [
    ['a', ...more],
    ['a', 'c'],
  ].map((names): Scope => ({ rows: 'some', clusters: new Map([['east', named('', names)]]) }));
  store.scopes = scopesOf(new Map([[widgets, { list: list ?? noRows, get: get ?? noRows, watch: noRows }]]));
  const query =
    '{ exampleComWidgets(orderBy: [{ path: "next.status.phase" }], first: 1) { nodes { metadata { name } } } }';
  const statements = async (): Promise<number> => {
    const { fixture } = store.pair;
    const before = fixture.statements.length;
    const { data } = await fixture.query(query);
    expect(data.exampleComWidgets.nodes).toHaveLength(1);
    return fixture.statements.length - before;
  };
  await store.fill(objects);
  // The first one reads more.
  await statements();
  const alone = await statements();
  // The row `d` is hidden, and refers to `c`, which the caller may get. Its value is the first.
  await store.fill([...objects, shown('d', { template: { image: 'c' } })]);
  expect(await statements()).toBe(alone);
});

function named(namespace: string, names: readonly string[]): PartScope {
  return { namespaces: new Set(), names: new Map([[namespace, new Set(names)]]) };
}

function placedWidget(namespace: string, name: string, spec: object, phase: string): PlacedObject {
  const object = made({ name, namespace, spec, status: { phase } });
  return { cluster: 'east', key: widgets, namespace, name, object };
}
