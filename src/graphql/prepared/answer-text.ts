/** The text of an answer's data: the plan's constant texts, with the page texts that a reader has written between them. */
import { must } from '../../base/must.ts';
import { encodeLiveCursor } from '../../live/log/live-cursor.ts';
import { neighboursOf } from '../../query/plan/plan.ts';
import type { KindView } from '../../query/sql/view.ts';
import type { PagesRead, PageText } from '../../store/types/page-reader.ts';
import type { AnswerPlan, PlannedList } from './answer-plan.ts';
import type { AnswerPiece } from './connection-pieces.ts';

interface ReadLists {
  readonly read: PagesRead;
  readonly kinds: readonly KindView[];
  /** The total counts, null where they are not selected. */
  readonly totals: readonly (number | null)[];
}

export function dataText({ data }: AnswerPlan, { read, kinds, totals }: ReadLists): string {
  let text = '';
  let at = 0;
  for (const piece of data) {
    if (typeof piece === 'string') {
      text += piece;
      continue;
    }
    const page = must(read.pages[at], 'a page for each list');
    const total = totals[at] ?? null;
    const kind = must(kinds[at], 'each list has its kind');
    at += 1;
    for (const each of piece.pieces) text += pieceText(each, piece, { page, total, read, kind });
  }
  return text;
}

interface ReadList {
  readonly page: PageText;
  readonly total: number | null;
  readonly read: PagesRead;
  readonly kind: KindView;
}

function pieceText(piece: AnswerPiece, { list }: PlannedList, { page, total, read, kind }: ReadList): string {
  if (typeof piece === 'object') {
    if ('list' in piece) return page.lists[piece.list] ?? '[]';
    return String(total === null || piece.count === null ? total : Math.min(total, piece.count));
  }
  switch (piece) {
    case 'next':
      return String(neighboursOf(list.plan.page, page.found).hasNextPage);
    case 'previous':
      return String(neighboursOf(list.plan.page, page.found).hasPreviousPage);
    case 'start':
      return page.first ?? 'null';
    case 'end':
      return page.last ?? 'null';
    case 'changes':
      return JSON.stringify(encodeLiveCursor({ epoch: read.epoch, sequence: read.revision }, kind.visible));
    default:
      return piece;
  }
}
