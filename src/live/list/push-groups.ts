/** The messages that are pushed to live lists while they wait. Lists of one caller with equal results share it. */
import { isSameScope, scopeText } from '../../access/scope.ts';
import type { PushGroup, Pushing } from '../cohort/cohorts.ts';
import type { Run } from './list-run.ts';
import type { LiveGroup, LivePosition } from './live-request.ts';

/** The push group for a list of this caller, by the group of its results and the visible rows. */
const groups = new WeakMap<LiveGroup, Map<string, PushGroup>>();
/** A caller's rights seldom change while lists of the same group wait. */
const mostOfGroup = 10;

/** How the feed gives messages to the list while it waits at this position. */
export function pushingOf(run: Run, { epoch, visible }: LivePosition): Pushing | null {
  const { pushing, kind, rights } = run.request;
  if (pushing === undefined) return null;
  const { group, receiver } = pushing;
  const known = groups.get(group) ?? new Map<string, PushGroup>();
  groups.set(group, known);
  const id = `${epoch} ${scopeText(visible)}`;
  const found = known.get(id) ?? {
    prepare(message, upTo) {
      let scopes: ReturnType<typeof rights.after>;
      try {
        group.check();
        scopes = rights.after({ epoch, sequence: upTo });
      } catch {
        // It throws again in the generator.
        return null;
      }
      if (scopes instanceof Promise) {
        // The generator asks again, and gets the error of a read that fails.
        scopes.catch(() => {});
        return null;
      }
      if (!isSameScope(visible, scopes.of(kind.key, 'watch'))) return null;
      return group.prepare(message);
    },
  };
  if (!known.has(id) && known.size >= mostOfGroup) known.clear();
  known.set(id, found);
  return { group: found, receiver };
}
