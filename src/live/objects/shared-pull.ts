/**
 * One pull for all live lists of several kinds that ask the same at the same position.
 *
 * Example: two lists ask at the same position. The first one pulls. Both take the changes, and lists with equal counts take one message. If
 * the caller of the second list may see other rows, the second list pulls by itself.
 *
 * Invariant: a list gets changes only as its own caller's rights at the revision of the pull show them.
 */
import type { Lease } from '../../store/types/lease.ts';
import type { LiveMessage } from '../cohort/cohort-batch.ts';
import { orStopped } from '../feed/running-list.ts';
import { isSameVisible, type ObjectsPosition, type Pulled, pull, textOfVisible, visibleIn } from './objects-pull.ts';
import { message, type Run } from './objects-run.ts';

/**
 * The changes after the position, whose count is that from the position on. Null when the list was stopped.
 * @param wakes those of the feed before the position was read: a pull before a later commit is another one
 */
export async function sharedPull(run: Run, position: ObjectsPosition, wakes: number): Promise<Pulled | 'gap' | null> {
  const { feed, request, question } = run;
  const from: ObjectsPosition = position.count === null ? position : { ...position, count: 0 };
  const work = (lease: Lease): Promise<Pulled | 'gap'> => pull(lease, request, from);
  const own = (): Promise<Pulled | 'gap' | null> => orStopped(run, feed.lease(work, request.signal));
  const { epoch, sequence, visibleKinds, empty, count } = from;
  const key = [
    'pull',
    question,
    epoch,
    sequence,
    wakes,
    textOfVisible(visibleKinds),
    [...empty].sort().join(),
    count,
  ].join(' ');
  // A change that no signal has told yet ended the wait. The kept pull does not have it.
  if (run.lastPull === key) return own();
  run.lastPull = key;
  const pulled = await orStopped(
    run,
    feed.shared(key, () => feed.lease(work)),
  );
  if (pulled === null) return null;
  // The rights of another caller may have decided.
  if (pulled === 'gap') return own();
  const visible = visibleIn(request, await request.rights.after({ epoch, sequence: pulled.revision }));
  return isSameVisible(visible, pulled.position.visibleKinds) ? pulled : own();
}

/** @param count that of the list before the pull */
export function positionAfter({ position }: Pulled, count: number | null): ObjectsPosition {
  return { ...position, count: count === null ? null : count + (position.count ?? 0) };
}

const messages = new WeakMap<Pulled, Map<number | null, LiveMessage>>();

/** The message of the changes; the same object for lists with equal counts. @param count as in `positionAfter` */
export function messageOf(pulled: Pulled, count: number | null): LiveMessage {
  const known = messages.get(pulled) ?? new Map<number | null, LiveMessage>();
  messages.set(pulled, known);
  const position = positionAfter(pulled, count);
  const made =
    known.get(position.count) ?? message('LIVE', position, { totalCount: position.count, changes: pulled.changes });
  known.set(position.count, made);
  return made;
}
