/**
 * `kubectl apply` of a set of members, beside `kubectl apply` of the same members, in turns, as the same user:
 *
 *   set      one ShadowResource with the members in its flowList
 *   plain    a file with the members
 *
 * The first turn makes the members. Each later turn changes every member. Both commands pay kubectl's start. kubectl holds its requests back
 * to 50 a second after the first 300, so no turn has more.
 */
import { timed } from './support/times.ts';

/** A member without its namespace. */
interface Member {
  readonly metadata: { readonly name: string };
}

interface Applies {
  /** Runs kubectl as the user. */
  readonly kubectl: (args: readonly string[], stdin: string) => Promise<unknown>;
  /** Two namespaces, which are there. */
  readonly namespaces: { readonly set: string; readonly plain: string };
  readonly turns: number;
  /** The apiVersion of ShadowResource. */
  readonly apiVersion: string;
  readonly serverSide: boolean;
}

/** Milliseconds of each turn. */
export async function appliesOf(
  members: readonly Member[],
  { kubectl, namespaces, turns, apiVersion, serverSide }: Applies,
): Promise<{ readonly set: readonly number[]; readonly plain: readonly number[] }> {
  const [set, plain]: [number[], number[]] = [[], []];
  const args = ['apply', ...(serverSide ? ['--server-side'] : []), '-f', '-'];
  const changed = (namespace: string, turn: number) =>
    members.map((member) => ({
      ...member,
      metadata: { ...member.metadata, namespace, annotations: { turn: String(turn) } },
    }));
  for (let turn = 0; turn < turns; turn += 1) {
    const shadow = {
      apiVersion,
      kind: 'ShadowResource',
      metadata: { namespace: namespaces.set, name: 'applied' },
      spec: { flowList: changed(namespaces.set, turn) },
    };
    const list = { apiVersion: 'v1', kind: 'List', items: changed(namespaces.plain, turn) };
    plain.push(await timed(() => kubectl(args, JSON.stringify(list))));
    set.push(await timed(() => kubectl(args, JSON.stringify(shadow))));
  }
  return { set, plain };
}
