/**
 * A page of one kind's list as text. The reader thread writes the rows (lines). Plan, route and inner statements are those of
 * listPage (list.ts). So cursors, ids and the objects of each page are the same.
 */

import { firstKeyColumn } from '../../store/pages/page-columns.ts';
import type { PageProjection } from '../../store/pages/page-select.ts';
import type { PageTemplate, RowPart } from '../../store/pages/page-template.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { PageRequest } from '../../store/types/page-reader.ts';
import { cursorParts } from '../plan/cursor.ts';
import { fingerprintOf } from '../plan/fingerprint.ts';
import type { ListPlan } from '../plan/plan.ts';
import { type ChosenPaths, choosePaths } from '../route/route.ts';
import type { Route } from '../sql/access-path.ts';
import { isWide } from '../sql/leaf-key.ts';
import { linePageStatements } from '../sql/sql-list.ts';
import type { PagePositions } from '../sql/sql-order.ts';
import type { KindView } from '../sql/view.ts';
import { positionsOf } from './list.ts';

type LinePlan = Omit<ListPlan, 'projection'>;

/** A plan over one kind, with its cursor decoded. */
export interface LineList extends PagePositions {
  /** resourceKey. */
  readonly key: string;
  readonly plan: LinePlan;
  readonly fingerprint: string;
}

/** The parts of a list that its cursors depend on. */
interface CursorList extends Pick<LineList, 'key' | 'fingerprint'> {
  readonly plan: Pick<LinePlan, 'orderBy'>;
}

/** @throws PortolanError BAD_USER_INPUT for a cursor of another list. */
export function lineList(key: string, plan: LinePlan): LineList {
  const fingerprint = fingerprintOf(plan);
  return { key, plan, fingerprint, ...positionsOf(plan, fingerprint) };
}

/** The parts that write a row's cursor into a page template. */
export function rowCursor({ key, plan, fingerprint }: CursorList): readonly RowPart[] {
  const keys = plan.orderBy.map(
    ({ type }, index): RowPart => ({ is: 'key', at: firstKeyColumn + index, wide: isWide(type) }),
  );
  return cursorParts(key, keys, fingerprint);
}

/** The route of the page. It stays valid while the layout and the set of synced clusters do not change. */
export function linePaths(lease: Lease, kind: KindView, { plan }: LineList): Promise<ChosenPaths> {
  return choosePaths(lease, kind, plan.filter, plan.orderBy, plan.page.limit + 1);
}

/** The most rows of a short page. */
const mostShort = 100;
/** The most rows of a path that a short page sorts. */
const mostSorted = 400;

/**
 * True for a page of at most `mostShort` rows that usually scans few rows: its route is `order`, `identity` or a path with few rows. An
 * order can still scan many rows if the filter matches few.
 */
export function isShort({ plan }: LineList, route: Route): boolean {
  const isBrief = route.kind === 'path' ? route.rows <= mostSorted : route.kind !== 'scan';
  return plan.page.limit <= mostShort && isBrief;
}

/**
 * The request to a reader. It reads one row more than the page holds, which shows whether there is a next page.
 * @param written how the rows are written.
 */
export function lineRequest(
  { plan, position, until }: LineList,
  kind: KindView,
  route: Route,
  projection: PageProjection,
  written: Pick<PageRequest, 'template' | 'related' | 'mostCharacters'>,
): PageRequest {
  const { filter, orderBy, page } = plan;
  const backward = page.direction === 'backward';
  const limit = page.limit + 1;
  const list = { kind, filter, orderBy, route, backward, position, until, limit, counted: true };
  return {
    statements: linePageStatements(list, projection, false),
    fullStatements: linePageStatements(list, projection, true),
    limit,
    shown: page.limit,
    reversed: backward,
    ...written,
  };
}

/** The serialized template that the reader threads receive. */
export function templateText(template: PageTemplate): string {
  return JSON.stringify(template);
}
