/** Random objects of a focus: values that fit and values that do not, nulls, gaps. */
import { rawJson } from '../../src/catalog/values/raw-json.ts';
import type { Dice } from './dice.ts';
import { type Focus, whereValues } from './focus.ts';
import { hostileKeys, madeValue, strayValue } from './hostile-values.ts';

const names = [
  'a',
  'B',
  'b',
  'é',
  '\uffff',
  '😀',
  'web-1',
  'web-10',
  'web-2',
  'web',
  'x\0y',
  'o"d',
  '%',
  '_',
  '007',
  '7',
];
export const namespaces = ['default', 'kube-system', 'Ω', '😀', 'a"b'];
export const clusters = ['east', 'west'];

export interface MadeObject {
  readonly cluster: string;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  readonly name: string;
  /** As an API server would send it. */
  readonly text: string;
}

/** Different identities, in all clusters. */
export function identities(dice: Dice, count: number, namespaced: boolean): Omit<MadeObject, 'text'>[] {
  const found = new Map<string, Omit<MadeObject, 'text'>>();
  for (let tries = 0; tries < 2 * count; tries++) {
    const identity = {
      cluster: dice.pick(clusters),
      namespace: namespaced ? dice.pick(namespaces) : null,
      name: dice.chance(0.7) ? dice.pick(names) : `${dice.pick(names)}-${dice.below(30)}`,
    };
    found.set(JSON.stringify(identity), identity);
    if (found.size === count) break;
  }
  return [...found.values()];
}

let version = 0;

/** An object of this identity with a version newer than all before. */
export function objectOf(focus: Focus, identity: Omit<MadeObject, 'text'>, uid: string, dice: Dice): MadeObject {
  version += 1;
  const body = value(focus, dice, 0) as Record<string, unknown>;
  const { name, namespace } = identity;
  const given = body['metadata'] as Record<string, unknown>;
  const metadata = Object.fromEntries(
    Object.entries({
      ...given,
      name,
      namespace: namespace ?? undefined,
      uid,
      resourceVersion: String(version),
      creationTimestamp: dice.chance(0.9) ? madeValue('DateTime', dice) : strayValue(dice),
    }).filter(([, item]) => item !== undefined),
  );
  const status = dice.chance(0.4) ? { status: { ...(body['status'] as object | undefined), ...health(dice) } } : {};
  return { ...identity, text: JSON.stringify({ ...body, metadata, ...status }) };
}

/** Members of a status on which the health depends. */
function health(dice: Dice): object {
  const condition = () => ({
    type: dice.pick(['Ready', 'Ready', 'Reconciling', 'Stalled', 'Available', 'Progressing', 'Failed', 'Complete']),
    status: dice.pick<unknown>(['True', 'True', 'False', 'Unknown', 5]),
    reason: dice.pick<unknown>(['Odd', 'Waiting', '', 'x\0y', '\ud800', undefined, null]),
  });
  return { phase: dice.pick(['Running', 'Pending', 'Bound', 'Odd']), conditions: dice.times(dice.below(3), condition) };
}

/** Undefined where it is absent. */
function value(focus: Focus, dice: Dice, depth: number): unknown {
  if (depth > 1) {
    if (dice.chance(0.12)) return undefined;
    if (dice.chance(0.07)) return strayValue(dice);
  }
  switch (focus.kind) {
    case 'leaf':
      return madeValue(focus.type, dice);
    case 'map':
      return Object.fromEntries(
        dice.sample(hostileKeys, dice.below(5)).map((key) => [key, value(focus.of, dice, depth + 1)]),
      );
    case 'list':
      return dice.times(dice.below(4), () => value(focus.of, dice, depth + 1) ?? null);
    case 'object':
      return Object.fromEntries([...focus.fields].map(([name, of]) => [name, member(name, of, dice, depth + 1)]));
  }
}

/** Members by which elements of lists are chosen have values that `where` steps ask for. */
function member(name: string, focus: Focus, dice: Dice, depth: number): unknown {
  if (depth > 2 && focus.kind === 'leaf' && (name === 'type' || name === 'name') && dice.chance(0.7)) {
    return dice.pick<unknown>([...whereValues, 5, true, rawJson('9007199254740993')]);
  }
  return value(focus, dice, depth);
}
