/**
 * Proves that the objects of some kinds are the same in two snapshots. Kept counts and kept answers rely on it.
 *
 *   first snapshot    stateStatement -> storedIn(row), remembered with the snapshot's revision
 *   later snapshot    stateStatement since that revision -> isUnchanged
 *
 * The objects are the same under these conditions:
 *   - both snapshots are of one epoch, and the later one is not older than the first
 *   - the change log has no entry of the kinds after the revision
 *   - no entry of the kinds after that revision has been removed from the log
 *   - the collections of the kinds have the same rowsets, numbers of rows and states of their first sync
 *
 * The last condition concerns a list that is published without an entry for each of its objects.
 */
import { join, raw, sql } from '../../store/types/sql.ts';
import type { Row, Statement } from '../../store/types/statement.ts';

/** Ids of kinds; `any` for all of them. */
type StateKinds = readonly number[] | 'any';

export interface Snapshot {
  readonly epoch: string;
  readonly revision: number;
}

/** The state of some kinds in a snapshot. */
export interface KindState {
  readonly epoch: string;
  readonly kinds: StateKinds;
  /** The content of the kinds' collections. */
  readonly stored: string;
  /** The snapshot in which the state was read. An older one may have had another state. */
  readonly madeAt: number;
  /** The newest snapshot that is known to have the same state. */
  revision: number;
  /** The states in the cells, if it is that of several. Then `kinds` has ids by `kindInCell`. */
  readonly cells?: readonly { readonly index: number; readonly state: KindState }[];
}

/** The id of a kind of a cell, among the ids of the kinds of all cells. In the first cell it is the id itself. */
export function kindInCell(index: number, kindId: number): number {
  return index * 2 ** 32 + kindId;
}

/** The state of kinds in several cells: it is compared with other states of the same cells, and proved cell by cell. */
export function stateOfCells(cells: NonNullable<KindState['cells']>): KindState {
  const states = cells.map(({ state }) => state);
  const isAny = states.some(({ kinds }) => kinds === 'any');
  const revision = states.reduce((sum, state) => sum + state.revision, 0);
  return {
    epoch: states.map(({ epoch }) => epoch).join(),
    kinds: isAny
      ? 'any'
      : cells.flatMap(({ index, state: { kinds } }) =>
          kinds === 'any' ? [] : kinds.map((id) => kindInCell(index, id)),
        ),
    stored: '',
    madeAt: revision,
    revision,
    cells,
  };
}

/** One row: is the log whole since the revision and without an entry of these kinds after it, and what their collections hold. */
export function stateStatement(kinds: StateKinds, since: number): Statement {
  const after = BigInt(since);
  const changed =
    kinds === 'any'
      ? sql`EXISTS (SELECT 1 FROM change WHERE seq > ${after})`
      : join(
          kinds.map((id) => sql`EXISTS (SELECT 1 FROM change WHERE kind = ${BigInt(id)} AND seq > ${after})`),
          ' OR ',
        );
  const among =
    kinds === 'any'
      ? raw('1')
      : sql`kind IN (${join(
          kinds.map((id) => sql`${BigInt(id)}`),
          ', ',
        )})`;
  return sql`SELECT NOT EXISTS (SELECT 1 FROM kind_log WHERE ${among} AND floor > ${after}) AND NOT (${changed}),
    (SELECT json_group_array(json_array(id, rowset, objects, synced)) FROM resource WHERE ${among})`;
}

/** The state that the statement's row shows. */
export function kindState(kinds: StateKinds, { epoch, revision }: Snapshot, row: Row | undefined): KindState {
  return { epoch, kinds, stored: String(row?.[1]), madeAt: revision, revision };
}

/**
 * Do the kinds have this state in the snapshot too? If so, its revision becomes that of the state.
 * @param row of `stateStatement` since the revision of the state.
 */
export function isUnchanged(state: KindState, { epoch, revision }: Snapshot, row: Row | undefined): boolean {
  if (epoch !== state.epoch || revision < state.madeAt) return false;
  if (Number(row?.[0]) !== 1 || String(row?.[1]) !== state.stored) return false;
  state.revision = Math.max(state.revision, revision);
  return true;
}
