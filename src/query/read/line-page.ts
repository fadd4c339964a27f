/**
 * A page of one kind's list as text: the same plan, route and statements as listPage (list.ts), with rows that the reader thread
 * writes. Cursors, ids and what is on which page are therefore the same.
 */

import { firstKeyColumn } from '../../store/pages/page-columns.ts';
import type { PageProjection } from '../../store/pages/page-select.ts';
import type { PageTemplate, RowPart } from '../../store/pages/page-template.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { PageRequest } from '../../store/types/page-reader.ts';
import { cursorParts } from '../plan/cursor.ts';
import { fingerprintOf } from '../plan/fingerprint.ts';
import type { ListPlan, Position } from '../plan/plan.ts';
import { chooseRoute } from '../route/route.ts';
import type { Route } from '../sql/access-path.ts';
import { isWide } from '../sql/leaf-key.ts';
import { linePageStatements } from '../sql/sql-list.ts';
import type { KindView } from '../sql/view.ts';
import { positionOf } from './list.ts';

export type LinePlan = Omit<ListPlan, 'projection'>;

/** A plan over one kind, with its cursor read. */
export interface LineList {
  readonly key: string;
  readonly plan: LinePlan;
  readonly fingerprint: string;
  readonly position: Position | null;
}

/** Throws BAD_USER_INPUT for a cursor of another list. */
export function lineList(key: string, plan: LinePlan): LineList {
  const fingerprint = fingerprintOf(plan);
  return { key, plan, fingerprint, position: positionOf(plan, fingerprint) };
}

/** The parts that write a row's cursor. */
export function rowCursor({ key, plan, fingerprint }: LineList): readonly RowPart[] {
  const keys = plan.orderBy.map(
    ({ type }, index): RowPart => ({ is: 'key', at: firstKeyColumn + index, wide: isWide(type) }),
  );
  return cursorParts(key, keys, fingerprint);
}

/** How the page's rows are found. Holds for as long as the layout does and the same clusters are synced. */
export function lineRoute(lease: Lease, kind: KindView, { plan }: LineList): Promise<Route> {
  return chooseRoute(lease, kind, plan.filter, plan.orderBy, plan.page.limit + 1);
}

/** Pages of more rows are not short, however they are found. */
const mostShort = 100;

/** Does the page look at few rows, as far as its plan tells? Where the filter matches few rows of the order, it may turn out otherwise. */
export function isShort({ plan }: LineList, route: Route): boolean {
  return plan.page.limit <= mostShort && (route.kind === 'order' || route.kind === 'identity');
}

/** What a reader is asked for; one row beyond the page tells whether there is more. */
export function lineRequest(
  { plan, position }: LineList,
  kind: KindView,
  route: Route,
  projection: PageProjection,
  template: string,
): PageRequest {
  const { filter, orderBy, page } = plan;
  const backward = page.direction === 'backward';
  const limit = page.limit + 1;
  const list = { kind, filter, orderBy, route, backward, position, limit, counted: true };
  return {
    statements: linePageStatements(list, projection, false),
    fullStatements: linePageStatements(list, projection, true),
    limit,
    shown: page.limit,
    reversed: backward,
    template,
  };
}

/** A template as it travels to the reader threads. */
export function templateText(template: PageTemplate): string {
  return JSON.stringify(template);
}
