/**
 * Members whose manifest the tables do not have whole: Secrets, kinds with redacted paths, and kinds that the record has in another version.
 * They are read from the API server as the caller. A member that cannot be read so stands as its reference.
 *
 * No member is left out because there are many: a reference in place of a member could be written back. A read that takes too long ends by its
 * signal, and the answer is refused.
 *
 * Never: reads as the gateway. So a caller gets only values that a request of the caller's own would have got.
 */
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { text } from '../../base/json.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import { projectMember } from '../../sets/projection/project.ts';
import type { CallerClient } from '../../upstream/caller-clients.ts';
import { readObject } from '../../upstream/read-object.ts';
import type { ShownMember } from './member-states.ts';

const mostAtOnce = 8;

/** The states with the manifests of live members. @param client acts as the caller; it may reject. Never rejects itself but by the signal. */
export async function withLiveMembers(
  states: readonly (readonly ShownMember[])[],
  client: () => Promise<CallerClient>,
  signal: AbortSignal | undefined,
): Promise<readonly (readonly ShownMember[])[]> {
  const wanted = states.flat().filter(({ live }) => live);
  if (wanted.length === 0) return states;
  const caller = await client().catch(() => null);
  if (caller === null) return states;
  const places = new Semaphore(mostAtOnce);
  const read = await Promise.all(
    wanted.map(async (state): Promise<readonly [ShownMember, ShownMember]> => {
      const leave = await places.enter(signal);
      try {
        return [state, await liveMember(state, caller, signal)];
      } finally {
        leave();
      }
    }),
  );
  const found = new Map(read);
  return states.map((some) => some.map((state) => found.get(state) ?? state));
}

async function liveMember(
  state: ShownMember,
  client: CallerClient,
  signal: AbortSignal | undefined,
): Promise<ShownMember> {
  const { member } = state;
  const { group, version, resource: plural } = member;
  try {
    const found = recordOf(await readObject(client, { group, version, plural, namespaced: true }, member, signal));
    const metadata = recordOf(found?.['metadata']) ?? {};
    // The object with this uid is the member. Another may have its name by now.
    if (found === null || metadata['uid'] !== member.uid) return state;
    return {
      ...state,
      manifest: projectMember(found, member.fields),
      resourceVersion: text(metadata['resourceVersion']) ?? state.resourceVersion,
    };
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return state;
  }
}
