/**
 * The pieces of a connection's text, from the fields selected from it.
 *
 *   { nodes { metadata { name } } pageInfo { hasNextPage } }
 *     pieces  ['{"nodes":', { list: 0 }, ',"pageInfo":{"hasNextPage":', 'next', '}}']
 *     lists   [the parts of a node]
 */
import type { GraphQLObjectType, SelectionSetNode } from 'graphql';
import { must } from '../../base/must.ts';
import type { PagePiece, RowPart } from '../../store/pages/page-template.ts';
import { type DocumentFields, objectText, objectTypeOf, setsOf } from './document-fields.ts';
import { constant, rowParts } from './object-parts.ts';
import { NotPlain } from './row-template.ts';

/**
 * A piece of a connection's text: a piece of the page, the total count, or a fact about the list. `count` is the limit of the total
 * count. The facts are: whether there is a previous page (`previous`), and the cursor of changes (`changes`).
 */
export type AnswerPiece = PagePiece | { readonly count: number | null } | 'previous' | 'changes';

interface ConnectionPieces {
  readonly pieces: readonly AnswerPiece[];
  readonly lists: readonly (readonly RowPart[])[];
  /** The cursor at the start and at the end, where they are selected. */
  readonly first: readonly RowPart[] | null;
  readonly last: readonly RowPart[] | null;
  /** Is anything selected that needs the page? */
  readonly readsPage: boolean;
  readonly counts: boolean;
}

interface ConnectionRows {
  /** The parts of an object. */
  readonly node: (type: GraphQLObjectType, sets: readonly SelectionSetNode[]) => readonly RowPart[];
  readonly cursor: readonly RowPart[];
}

/** @throws NotPlain for a field that only its resolver can answer. */
export function connectionPieces(
  document: DocumentFields,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  { node, cursor }: ConnectionRows,
): ConnectionPieces {
  const lists: (readonly RowPart[])[] = [];
  const list = (parts: readonly RowPart[]): readonly AnswerPiece[] => [{ list: lists.push(parts) - 1 }];
  const ends = new Set<string>();
  let readsPage = false;
  let counts = false;
  const edge = (of: GraphQLObjectType, inner: readonly SelectionSetNode[]): readonly RowPart[] =>
    rowParts(document.fields(of, inner), (name, nodes) => {
      switch (name) {
        case '__typename':
          return [constant(of.name)];
        case 'cursor':
          return cursor;
        case 'node':
          return node(objectTypeOf(of, name), setsOf(nodes));
        default:
          throw new NotPlain();
      }
    });
  const pieces = objectText<AnswerPiece>(document.fields(type, sets), (name, nodes) => {
    readsPage ||= name === 'nodes' || name === 'edges' || name === 'pageInfo';
    switch (name) {
      case '__typename':
        return [JSON.stringify(type.name)];
      case 'nodes':
        return list(node(objectTypeOf(type, name), setsOf(nodes)));
      case 'edges':
        return list(edge(objectTypeOf(type, name), setsOf(nodes)));
      case 'pageInfo': {
        const of = objectTypeOf(type, name);
        return objectText<AnswerPiece>(document.fields(of, setsOf(nodes)), (fact) => {
          ends.add(fact);
          return [pageInfoPiece(fact, of)];
        });
      }
      case 'totalCount': {
        const { limit } = document.argumentsOf(must(type.getFields()[name], 'totalCount'), nodes);
        if (typeof limit === 'number' && limit < 0) throw new NotPlain();
        counts = true;
        return [{ count: typeof limit === 'number' ? limit : null }];
      }
      case 'changesCursor':
        return ['changes'];
      default:
        throw new NotPlain();
    }
  });
  const first = ends.has('startCursor') ? cursor : null;
  const last = ends.has('endCursor') ? cursor : null;
  return { pieces, lists, first, last, readsPage, counts };
}

function pageInfoPiece(name: string, type: GraphQLObjectType): AnswerPiece {
  switch (name) {
    case '__typename':
      return JSON.stringify(type.name);
    case 'hasNextPage':
      return 'next';
    case 'hasPreviousPage':
      return 'previous';
    case 'startCursor':
      return 'start';
    case 'endCursor':
      return 'end';
    default:
      throw new NotPlain();
  }
}
