/**
 * Makes a set what it was at a time: an apply of the documents that history gives (reads/set-at.ts).
 *
 *   at 10:05   web 2 replicas, api             now   web 5 replicas, worker
 *     -> web: 5 -> 2        api: made again        worker: deleted
 *
 * So the promises of apply-set.ts hold: the caller's rights, all dry runs first, plans. A member whose values are not held is refused with
 * DATA_WITHHELD, and nothing is written.
 */
import type { Operation } from '../operation/operation.ts';
import { readTime } from '../reads/paths/leaf-conditions.ts';
import type { WriteOptions } from '../writes/run/write-options.ts';
import type { WriteReport } from '../writes/session/session-report.ts';
import type { Follower } from '../writes/session/write-session.ts';
import { clusterOf } from '../writes/targets/wanted-targets.ts';
import { applySet, checkSetOptions, type GivenSet } from './apply-set.ts';
import { setAt } from './reads/set-at.ts';
import { checkSetName } from './record/set-names.ts';

interface RevertedSet {
  readonly set: GivenSet;
  /** A time, or one relative to now such as `-10m`. */
  readonly to: string;
  /** Take fields from other managers? */
  readonly force: boolean;
  readonly operationName: string | null;
  readonly options: WriteOptions;
  /** Absent: nobody. */
  readonly follower?: Follower | undefined;
}

/**
 * The items are those of `applySet`.
 * @throws PortolanError as `applySet` and `setAt`; BAD_USER_INPUT for a text that is no time
 */
export async function revertSet(
  operation: Operation,
  { set: given, to, force, ...rest }: RevertedSet,
): Promise<WriteReport> {
  checkSetOptions(rest.options);
  checkSetName(given);
  const set = { ...given, cluster: clusterOf(operation, given.cluster) };
  const at = Math.floor(readTime(to, 'to', { now: () => operation.now }));
  const { documents, errors } = await setAt(operation, set, at);
  return applySet(operation, { ...rest, set, documents, errors, prune: true, adopt: false, force });
}
