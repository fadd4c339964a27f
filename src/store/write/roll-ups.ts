/** Decides which kinds have stored roll-ups (src/store/relations/rolled-up-rows.ts). */
import { splitMemberCluster } from '../../catalog/abstract/abstract-kind.ts';
import { isAbstractKey } from '../../catalog/groups/api-group.ts';
import type { WriteContext } from '../rows/write-context.ts';
import type { PromotionOutcome } from '../types/kind-layout.ts';

/** Stores the roll-ups of a kind from now on; those of its members for an abstract kind. @param key resourceKey */
export function wantRollUps({ relations, resources, session }: WriteContext, key: string): PromotionOutcome {
  const keys = isAbstractKey(key)
    ? resources
        .all()
        .flatMap(({ kind, handle }) => (kind.key === key ? [splitMemberCluster(handle.cluster).member] : []))
    : [key];
  const kinds = resources.kinds().filter((kind) => keys.includes(kind.key));
  const wanted = session.run(() => kinds.filter(({ id }) => relations.rolledUp.want(id)));
  return wanted.length === 0 ? 'known' : 'promoted';
}
