/**
 * One round of the query fuzzer: a store with random objects of a few kinds, which questions are asked of. Follows from its seed
 * alone; a question follows from the seed and its number, so that one can be asked again without the others.
 */

import { isDeepStrictEqual } from 'node:util';
import { unrestricted } from '../../src/access/scope.ts';
import type { DescribedResource, PromotedPath } from '../../src/catalog/resources/catalog.ts';
import { apiVersionOf, resourceKey } from '../../src/catalog/resources/resource.ts';
import { listFolds, pathOf } from '../../src/catalog/tree/path.ts';
import { foldedType } from '../../src/catalog/values/fold-values.ts';
import { parseExact } from '../../src/catalog/values/values.ts';
import { matches } from '../../src/query/evaluate/matches.ts';
import type { Identity } from '../../src/query/plan/filter.ts';
import type { ListResult, Page, PlannedKind } from '../../src/query/plan/plan.ts';
import { countMatches } from '../../src/query/read/count.ts';
import { listPage } from '../../src/query/read/list.ts';
import { matchingObjects } from '../../src/query/read/match-ids.ts';
import type { View } from '../../src/query/sql/view.ts';
import { readView } from '../../src/query/sql/view.ts';
import type { Lease } from '../../src/store/types/lease.ts';
import { boundless, withinBudget } from '../kit/displayed-groups.ts';
import { compareByOrder } from '../kit/evaluate-order.ts';
import { checkGroups } from './check-groups.ts';
import { Dice } from './dice.ts';
import { type Focus, focusOn, placeIn } from './focus.ts';
import { type Asked, type Held, type Question, QuestionMaker } from './questions.ts';
import { clusters, identities, objectOf } from './random-objects.ts';
import { openScratchStore, type ScratchStore } from './scratch-store.ts';

/** Where SQL and the evaluator differ, in words. */
export class Difference extends Error {}

export interface Round {
  /** Asks one question. Throws what went wrong; says how many objects it is about and how many of them match. */
  ask(seed: number): Promise<{ readonly matched: number; readonly of: number }>;
  close(): void;
}

/** A kind with the places that this round is about. */
interface RoundKind extends Asked {
  readonly described: DescribedResource;
}

export async function openRound(kinds: readonly DescribedResource[], seed: number): Promise<Round> {
  const dice = new Dice(seed);
  const chosen = dice.sample(kinds, 3).map((described): RoundKind => {
    const focus = focusOn(described.tree, dice);
    return {
      key: resourceKey(described.resource),
      focus,
      described: { ...described, promoted: promotedOf(described, focus, dice) },
    };
  });
  const store = openScratchStore();
  try {
    const held: Held[] = [];
    for (const kind of chosen) held.push(...(await fill(store, kind, dice)));
    return {
      ask: (questionSeed) =>
        ask(store, chosen, held, new QuestionMaker(new Dice(questionSeed), chosen, held).question()),
      close: () => store.close(),
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

const mostPromoted = 12;

/** What the kind promotes by itself, and places of the focus. */
function promotedOf({ promoted }: DescribedResource, focus: Focus, dice: Dice): readonly PromotedPath[] {
  const found = new Map<string, PromotedPath>();
  for (let index = 0; index < dice.below(9); index++) {
    const { steps, focus: end } = placeIn(focus, dice, { each: dice.chance(0.3), container: false });
    if (steps.some(({ kind }) => kind === 'each')) {
      const fold = dice.pick(listFolds);
      const type = foldedType(fold, end.kind === 'leaf' ? end.type : 'JSON');
      if (type !== null) found.set(pathOf(steps, fold).text, { path: pathOf(steps, fold).text, type });
      continue;
    }
    const path = pathOf(steps).text;
    if (end.kind === 'leaf' && steps[0]?.kind === 'field' && steps[0].name !== 'metadata')
      found.set(path, { path, type: end.type });
  }
  if (dice.chance(0.5))
    for (const path of ['health.status', 'health.reason']) found.set(path, { path, type: 'String' });
  for (const each of promoted) found.set(each.path, each);
  return [...found.values()].slice(0, mostPromoted);
}

/** Lists objects of a kind, then changes and deletes some of them; gives what is there in the end. */
async function fill({ writer }: ScratchStore, { described, focus, key }: RoundKind, dice: Dice): Promise<Held[]> {
  const held: Held[] = [];
  const made = identities(dice, dice.between(5, 35), described.resource.namespaced);
  for (const cluster of clusters) {
    writer.openCluster(cluster, `uid-${cluster}`);
    const handle = writer.declare({ ...described, cluster });
    const own = made
      .filter((identity) => identity.cluster === cluster)
      .map((identity, index) => {
        const uid = `uid-${cluster}-${key}-${index}`;
        return { uid, object: objectOf(focus, identity, uid, dice) };
      });
    const replace = writer.replace(handle);
    replace.put(own.map(({ object }) => ({ text: object.text })));
    await replace.commit('1');
    for (const { uid, object } of own) {
      const gone = dice.chance(0.1);
      const now = dice.chance(0.3) ? objectOf(focus, object, uid, dice) : object;
      if (now !== object) writer.apply(handle, [{ type: 'MODIFIED', object: { text: now.text } }], '2');
      if (gone) writer.apply(handle, [{ type: 'DELETED', object: { text: now.text } }], '3');
      else held.push({ cluster, key, namespace: now.namespace, name: now.name, body: storedBody(described, now.text) });
    }
  }
  // Rows that do not count: a list that was never published.
  writer.openCluster('north', 'uid-north');
  const identity = { cluster: 'north', namespace: described.resource.namespaced ? 'default' : null, name: 'a' };
  writer
    .replace(writer.declare({ ...described, cluster: 'north' }))
    .put([{ text: objectOf(focus, identity, 'uid-north', dice).text }]);
  return held;
}

/** A body as the store keeps it: with the names that the object lacks. */
function storedBody({ resource }: DescribedResource, text: string): unknown {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...(parseExact(text) as object) };
}

function show({ cluster, key, namespace, name }: Identity): string {
  return JSON.stringify([cluster, key, namespace, name]);
}

async function ask(
  store: ScratchStore,
  kinds: readonly RoundKind[],
  held: readonly Held[],
  question: Question,
): Promise<{ matched: number; of: number }> {
  const { filter, orderBy } = question;
  const asked = kinds.filter(({ key }) => question.kinds.includes(key));
  const among = held.filter((each) => question.kinds.includes(each.key));
  const expected = among
    .filter((each) => matches(filter, each))
    .sort((a, b) => compareByOrder(orderBy, a, b))
    .map(show);
  const planned = asked.map(({ key, described }): PlannedKind => ({ key, tree: described.tree }));
  const same = (what: string, found: unknown, wanted: unknown): void => {
    if (isDeepStrictEqual(found, wanted)) return;
    throw new Difference(
      `${what}: SQL gives ${JSON.stringify(found)}, the evaluator ${JSON.stringify(wanted)}\n${JSON.stringify(question)}`,
    );
  };
  const lease = store.lease();
  const view = await readView(lease, unrestricted);
  const plan = { kinds: planned, filter, orderBy };
  same('pages', await walk(lease, view, question, planned, expected, same), expected);
  const offset = question.limit % (expected.length + 2);
  const page: Page = { direction: 'forward', limit: question.limit, after: null, offset };
  const skipped = await listPage([{ lease, view }], { ...plan, page, projection: {} });
  same('offset', skipped.rows.map(show), expected.slice(offset, offset + question.limit));
  same('offset: next page', skipped.hasNextPage, offset + question.limit < expected.length);
  same('count', withinBudget(await countMatches(lease, view, plan, null, boundless())), expected.length);
  same(
    'count of at most 3',
    withinBudget(await countMatches(lease, view, plan, 3, boundless())),
    Math.min(3, expected.length),
  );
  if (question.grouped) await checkGroups(lease, view, planned, question, held, same);
  const [first] = planned;
  if (first === undefined) throw new Error('a question is about some kind');
  const ids = await matchingObjects(lease, view, first, filter);
  const ofFirst = held.filter((each) => each.key === first.key && matches(filter, each));
  same(
    'a live list',
    ids.map(({ identity }) => show(identity)),
    ofFirst.sort((a, b) => compareByOrder([], a, b)).map(show),
  );
  return { matched: expected.length, of: among.length };
}

/** Pages of one walk: more tell nothing that these do not. */
const mostPages = 4;

/** Walks all pages, then from the last one back by a page; the rows in the order of the list. */
async function walk(
  lease: Lease,
  view: View,
  { filter, orderBy, backward, limit: wanted }: Question,
  kinds: readonly PlannedKind[],
  expected: readonly string[],
  same: (what: string, found: unknown, wanted: unknown) => void,
): Promise<string[]> {
  const limit = Math.max(wanted, Math.ceil(expected.length / mostPages));
  const page = async (back: boolean, cursor: string | null): Promise<ListResult> => {
    const at: Page = back
      ? { direction: 'backward', limit, before: cursor }
      : { direction: 'forward', limit, after: cursor };
    return listPage([{ lease, view }], { kinds, filter, orderBy, page: at, projection: { metadata: { name: true } } });
  };
  const found: string[] = [];
  let cursor: string | null = null;
  for (;;) {
    const result: ListResult = await page(backward, cursor);
    const shown = result.rows.map(show);
    if (backward) found.unshift(...shown);
    else found.push(...shown);
    const more = backward ? result.hasPreviousPage : result.hasNextPage;
    same('a page behind', backward ? result.hasNextPage : result.hasPreviousPage, cursor !== null);
    if (more) same('rows of a full page', shown.length, limit);
    if (!more) {
      const [nearest] = backward ? result.rows.slice(-1) : result.rows;
      if (cursor !== null && nearest !== undefined) {
        const at = expected.indexOf(show(nearest));
        const before = backward ? expected.slice(at + 1, at + 1 + limit) : expected.slice(Math.max(0, at - limit), at);
        same('the page back', (await page(!backward, nearest.cursor)).rows.map(show), before);
      }
      return found;
    }
    cursor = (backward ? result.rows[0] : result.rows.at(-1))?.cursor ?? null;
    if (cursor === null)
      throw new Difference(`a page without rows says that there are more: ${JSON.stringify({ filter, orderBy })}`);
  }
}
