/** `npm run fuzz -- relations`: lists of related objects and filters through relations against a join in plain JavaScript. */
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../src/base/errors.ts';
import { parsePath, pathOf } from '../../src/catalog/tree/path.ts';
import type { OrderKey } from '../../src/catalog/values/values.ts';
import { comparePositions } from '../../src/query/evaluate/compare-rows.ts';
import { type MatchedObjectLike, matches, type RelatedTo } from '../../src/query/evaluate/matches.ts';
import type { Filter } from '../../src/query/plan/filter.ts';
import type { Hop, Through } from '../../src/query/plan/hop.ts';
import { compareIdentity } from '../../src/query/plan/identity-order.ts';
import type { ListPlan, OrderTerm, Page } from '../../src/query/plan/plan.ts';
import { countMatches } from '../../src/query/read/count.ts';
import { listPage } from '../../src/query/read/list.ts';
import { countRelated, relatedIds, relatedPages } from '../../src/query/related/related-list.ts';
import type { View } from '../../src/query/sql/view.ts';
import type { Lease } from '../../src/store/types/lease.ts';
import { boundless } from '../kit/displayed-groups.ts';
import { orderKeysOf } from '../kit/evaluate-order.ts';
import { Dice } from './dice.ts';
import type { FuzzOptions, FuzzOutcome } from './fuzz.ts';
import type { WorldKind, WorldObject } from './plain-join.ts';
import { RelationWorld, shippedRelations, type WorldHop } from './relation-world.ts';

export const about =
  'Relations and a join in plain JavaScript give the same answers: both directions, filters, orders, counts.';
export const defaultCases = 20_000;

/** Questions that one world is asked. */
const casesPerWorld = 50;

export async function fuzz({ from, cases, seed, progress }: FuzzOptions): Promise<FuzzOutcome> {
  const failures: { readonly number: number; readonly what: string }[] = [];
  let asked = 0;
  let telling = 0;
  const last = from + cases - 1;
  for (let start = from; start <= last; ) {
    const round = Math.floor(start / casesPerWorld);
    const end = Math.min(last, (round + 1) * casesPerWorld - 1);
    // The world of a case follows from the changes before it, so a world is played from its first case.
    const world = await RelationWorld.open(new Dice(seed, round));
    try {
      for (let number = round * casesPerWorld; number <= end; number += 1) {
        await world.change();
        if (number < start) continue;
        try {
          telling += await askOne(world, new Dice(seed, round, number));
        } catch (error) {
          failures.push({ number, what: error instanceof Error ? (error.stack ?? error.message) : messageOf(error) });
        }
        asked += 1;
        progress(asked, failures.length);
      }
    } finally {
      world.close();
    }
    start = end + 1;
  }
  return {
    asked,
    failures,
    about: `${shippedRelations.length} relations (${telling} cases found some objects and not others)`,
  };
}

/** Where SQL and the join differ, in words. */
class Difference extends Error {}

/** Asks one question. Returns 1 if its answer has some of the objects and not others, else 0. */
async function askOne(world: RelationWorld, dice: Dice): Promise<number> {
  const hops = world.hops();
  return dice.choose<Promise<number>>([
    [4, () => askPages(world, hops, dice)],
    [3, () => askFilter(world, hops, dice)],
    [2, () => askOrder(world, hops, dice)],
  ]);
}

async function askPages(world: RelationWorld, hops: readonly WorldHop[], dice: Dice): Promise<number> {
  const chosen = dice.pick(hops);
  const parents = dice.sample(
    world.objects.filter(({ key }) => key === chosen.from.key),
    5,
  );
  const filter = dice.chance(0.5) ? randomFilter(chosen.to.key, hops, dice, 2) : all;
  const orderBy = randomOrder(chosen.to.key, hops, dice);
  const limit = dice.between(1, 4);
  const relatedTo = relatedIn(hops);
  const expected = parents.map((parent) =>
    chosen
      .related(parent)
      .filter((object) => matches(filter, object, relatedTo))
      .sort(byOrder(orderBy, hops)),
  );
  const ids = await world.idsOf(parents);
  const plan = { hop: chosen.hop, filter, orderBy };
  const page = { limit, projection: {}, walkAbove: dice.pick([0, 1, 1000]) };
  await world.read(async (lease, view) => {
    const first = await relatedPages(lease, view, ids, plan, { ...page, after: null });
    const cursor = first.find(({ hasNextPage }) => hasNextPage)?.rows.at(-1)?.cursor;
    const at = first.findIndex(({ hasNextPage }) => hasNextPage);
    const counts = await countRelated(lease, view, ids, plan, null);
    const [objects] = await relatedIds(lease, view, ids, plan);
    const all = expected.map((found) => found.length);
    same(
      'pages',
      chosen,
      first.map(({ rows }) => rows.map(named)),
      expected.map((found) => found.slice(0, limit).map(named)),
    );
    same(
      'hasNextPage',
      chosen,
      first.map(({ hasNextPage }) => hasNextPage),
      all.map((count) => count > limit),
    );
    same('counts', chosen, counts, all);
    same(
      'ids',
      chosen,
      objects?.count ?? 0,
      all.reduce((sum, count) => sum + count, 0),
    );
    if (cursor === undefined) return;
    const [next] = await relatedPages(lease, view, [ids[at] ?? 0], plan, { ...page, after: cursor });
    same('the next page', chosen, next?.rows.map(named), expected[at]?.slice(limit, 2 * limit).map(named));
  });
  return expected.some((found) => found.length > 0) ? 1 : 0;
}

function askFilter(world: RelationWorld, hops: readonly WorldHop[], dice: Dice): Promise<number> {
  const { from } = dice.pick(hops);
  const filter = randomFilter(from.key, hops, dice, 3);
  return askList(world, hops, dice, { from, filter, orderBy: randomOrder(from.key, hops, dice) });
}

/** A list that is read in steps (src/query/read/order-steps.ts), where there is such a relation. */
function askOrder(world: RelationWorld, hops: readonly WorldHop[], dice: Dice): Promise<number> {
  const forward = hops.filter(({ hop: { direction, way } }) => direction === 'forward' && way.by === 'reference');
  const { from, hop } = dice.pick(forward.length === 0 ? hops : forward);
  const term = orderTerm(dice, dice.pick(['metadata.name', 'metadata.labels["app"]']), 'String');
  const orderBy = [{ ...term, through: { hops: [hop], counted: null } }];
  const more = dice.chance(0.3) ? [orderTerm(dice, 'metadata.name', 'String')] : [];
  const filter = dice.chance(0.7) ? all : randomFilter(from.key, hops, dice, 1);
  return askList(world, hops, dice, { from, filter, orderBy: [...orderBy, ...more] });
}

interface AskedList {
  readonly from: WorldKind;
  readonly filter: Filter;
  readonly orderBy: readonly OrderTerm[];
}

async function askList(
  world: RelationWorld,
  hops: readonly WorldHop[],
  dice: Dice,
  { from, filter, orderBy }: AskedList,
): Promise<number> {
  const objects = world.objects.filter(({ key }) => key === from.key);
  const relatedTo = relatedIn(hops);
  const expected = objects.filter((object) => matches(filter, object, relatedTo)).sort(byOrder(orderBy, hops));
  const kinds = [{ key: from.key, tree: { root: 'root', shapes: {} } }];
  await world.read(async (lease, view) => {
    const page = { direction: 'forward', limit: 100, after: null } as const;
    const { rows } = await listPage([{ lease, view }], { kinds, filter, orderBy, page, projection: {} });
    same(`the list of ${JSON.stringify(filter)}`, from, rows.map(named), expected.map(named));
    const limit = 1 + dice.below(4);
    same('its pages forward', from, await walk(lease, view, { kinds, filter, orderBy, limit }), expected.map(named));
    const backward = await walk(lease, view, { kinds, filter, orderBy, limit, backward: true });
    same('its pages backward', from, backward, expected.map(named));
    const count = await countMatches(lease, view, { kinds, filter }, null, boundless());
    same(`the count of ${JSON.stringify(filter)}`, from, count, expected.length);
  });
  return expected.length > 0 && expected.length < objects.length ? 1 : 0;
}

interface Walk extends Pick<ListPlan, 'kinds' | 'filter' | 'orderBy'> {
  readonly limit: number;
  readonly backward?: true;
}

/** More rows than a world has objects. */
const mostWalked = 1000;

/** All rows of a list, page by page, in the order of the list. */
async function walk(lease: Lease, view: View, { limit, backward, ...plan }: Walk): Promise<readonly string[]> {
  const found: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: Page =
      backward === true
        ? { direction: 'backward', limit, before: cursor }
        : { direction: 'forward', limit, after: cursor };
    const { rows, hasNextPage, hasPreviousPage } = await listPage([{ lease, view }], { ...plan, page, projection: {} });
    if (backward === true) found.unshift(...rows.map(named));
    else found.push(...rows.map(named));
    if (!(backward === true ? hasPreviousPage : hasNextPage)) return found;
    if (found.length > mostWalked) throw new Difference(`a walk does not end: ${found.slice(0, 20).join(', ')}`);
    cursor = (backward === true ? rows[0] : rows.at(-1))?.cursor ?? null;
  }
}

function same(what: string, of: unknown, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  const shown = (value: unknown): string => JSON.stringify(value);
  throw new Difference(`${what} of ${shown(of)}: found ${shown(found)}, expected ${shown(expected)}`);
}

function named({ cluster, namespace, name }: Pick<WorldObject, 'cluster' | 'namespace' | 'name'>): string {
  return `${cluster}/${namespace ?? ''}/${name}`;
}

const all: Filter = { kind: 'and', of: [] };

function relatedIn(hops: readonly WorldHop[]): RelatedTo {
  return (hop, object) => hops.find((each) => isDeepStrictEqual(each.hop, hop))?.related(object as WorldObject) ?? [];
}

/** A filter on objects of a kind, through at most `depth` relations one after another. */
function randomFilter(key: string, hops: readonly WorldHop[], dice: Dice, depth: number): Filter {
  const own = hops.filter(({ from }) => from.key === key);
  const leaf = (): Filter =>
    dice.choose<Filter>([
      [
        1,
        () => ({
          kind: 'compare',
          path: parsePath('metadata.name'),
          type: 'String',
          operator: 'in',
          values: dice.sample(['x', 'y', 'z', 'w'], 2),
          ignoreCase: false,
        }),
      ],
      [1, () => ({ kind: 'labels', requirements: [{ key: 'app', operator: 'In', values: ['web'] }] })],
      [1, () => all],
    ]);
  if (depth === 0 || own.length === 0) return leaf();
  const through = (): Filter => {
    const { hop, to } = dice.pick(own);
    return { kind: 'related', hop, of: randomFilter(to.key, hops, dice, depth - 1) };
  };
  const counted = (): Filter => {
    const { hop } = dice.pick(own);
    return {
      kind: 'relatedCount',
      hop,
      operator: dice.pick(['eq', 'lt', 'gte', 'in']),
      values: dice.sample([0, 1, 2, 3], 2),
    };
  };
  return dice.choose<Filter>([
    [1, counted],
    [4, through],
    [2, () => ({ kind: 'not', of: through() })],
    [1, () => ({ kind: 'and', of: [through(), leaf()] })],
    [1, () => ({ kind: 'or', of: [through(), leaf()] })],
    [1, leaf],
  ]);
}

function orderTerm(dice: Dice, path: string, type: OrderTerm['type']): OrderTerm {
  return {
    path: path === '' ? pathOf([]) : parsePath(path),
    type,
    direction: dice.pick(['ASC', 'DESC']),
    nulls: dice.pick(['FIRST', 'LAST']),
  };
}

function randomOrder(key: string, hops: readonly WorldHop[], dice: Dice): readonly OrderTerm[] {
  const term = (path: string, type: OrderTerm['type'], through?: Through): OrderTerm => ({
    ...orderTerm(dice, path, type),
    ...(through === undefined ? {} : { through }),
  });
  const through = (): readonly OrderTerm[] => {
    const path: Hop[] = [];
    for (let at = key; path.length < 2; ) {
      const own = hops.filter(({ from }) => from.key === at);
      if (own.length === 0 || (path.length > 0 && dice.chance(0.5))) break;
      const { hop } = dice.pick(own);
      path.push(hop);
      at = hop.to.key;
    }
    if (path.length === 0) return [];
    if (dice.chance(0.4)) return [term('', 'Int', { hops: path.slice(0, -1), counted: path.at(-1) ?? null })];
    const leaf = term(dice.pick(['metadata.name', 'metadata.labels["app"]']), 'String', { hops: path, counted: null });
    return dice.chance(0.3) ? [leaf, term('metadata.name', 'String')] : [leaf];
  };
  return dice.choose<readonly OrderTerm[]>([
    [2, () => []],
    [1, () => [term('metadata.name', 'String')]],
    [1, () => [term('metadata.labels["app"]', 'String'), term('metadata.name', 'String')]],
    [4, through],
  ]);
}

/** Compares objects by an order, whose values may be those of related objects. */
function byOrder(orderBy: readonly OrderTerm[], hops: readonly WorldHop[]): (a: WorldObject, b: WorldObject) => number {
  const relatedTo = relatedIn(hops);
  const keyOf = ({ through, ...term }: OrderTerm, object: WorldObject): OrderKey | null => {
    let at: MatchedObjectLike | undefined = object;
    for (const hop of through?.hops ?? []) {
      at = at === undefined ? undefined : relatedTo(hop, at).toSorted(compareIdentity)[0];
    }
    if (at === undefined) return null;
    const counted = through?.counted ?? null;
    return counted === null ? (orderKeysOf([term], at)[0] ?? null) : BigInt(relatedTo(counted, at).length);
  };
  const position = (object: WorldObject) => ({ keys: orderBy.map((term) => keyOf(term, object)), identity: object });
  return (a, b) => comparePositions(orderBy, position(a), position(b));
}
