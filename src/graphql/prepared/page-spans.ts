/**
 * The spans of the pages of a prepared answer. A reader reads the pages in one step, so the lease and the statement of each list have the
 * same times.
 */
import type { Span } from '../../base/tracing.ts';
import { statementSpan } from '../../operation/parts/operation-trace.ts';
import type { PlanNote } from '../../query/route/plan-note.ts';
import type { PagesRead } from '../../store/types/page-reader.ts';
import type { AnswerPlan } from './answer-plan.ts';

const nothing = (): void => {};

/** @returns ends the spans. Null: nothing was read. */
export function beginPages(
  span: Span,
  { lists }: AnswerPlan,
  routes: readonly { readonly note: PlanNote | null }[],
): (read: PagesRead | null) => void {
  if (!span.isRecorded) return nothing;
  const lease = span.child('lease');
  const statements = lists.map(({ kind }, at) => statementSpan(lease, kind.names.list ?? '', routes[at]?.note ?? null));
  return (read) => {
    for (const [at, statement] of statements.entries()) {
      const found = read?.pages[at]?.found;
      if (found !== undefined) statement.set({ 'db.response.returned_rows': found });
      statement.end();
    }
    lease.end();
  };
}
