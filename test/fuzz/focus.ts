/**
 * A focus: the few places of a kind's field tree that one store is about. Objects have values there and questions ask about them;
 * over a whole tree of hundreds of leaves the two would hardly meet.
 */
import { must } from '../../src/base/must.ts';
import type { FieldTree, FieldType, LeafType } from '../../src/catalog/tree/field-tree.ts';
import type { PathStep } from '../../src/catalog/tree/path.ts';
import type { Dice } from './dice.ts';
import { freeNames, hostileKeys } from './hostile-values.ts';

export type Focus =
  | { readonly kind: 'leaf'; readonly type: LeafType }
  | { readonly kind: 'map'; readonly of: Focus }
  | { readonly kind: 'list'; readonly of: Focus }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, Focus> };

const leaf = (type: LeafType): Focus => ({ kind: 'leaf', type });
const object = (fields: Readonly<Record<string, Focus>>): Focus => ({
  kind: 'object',
  fields: new Map(Object.entries(fields)),
});

/** What every object has. */
const metadata = object({
  name: leaf('String'),
  namespace: leaf('String'),
  uid: leaf('String'),
  creationTimestamp: leaf('DateTime'),
  deletionTimestamp: leaf('DateTime'),
  generation: leaf('Int64'),
  labels: { kind: 'map', of: leaf('String') },
  annotations: { kind: 'map', of: leaf('String') },
  finalizers: { kind: 'list', of: leaf('String') },
  ownerReferences: {
    kind: 'list',
    of: object({ kind: leaf('String'), name: leaf('String'), uid: leaf('String'), controller: leaf('Boolean') }),
  },
});

const mostDepth = 7;

/** Some places of a tree, and the metadata of any object. */
export function focusOn(tree: FieldTree, dice: Dice): Extract<Focus, { kind: 'object' }> {
  const root = must(tree.shapes[tree.root], 'the root is in its tree');
  const own = root.fields.filter(({ name }) => !['metadata', 'apiVersion', 'kind'].includes(name));
  const fields = dice.sample(own, 4).map(({ name, type }) => [name, part(tree, type, dice, 1)] as const);
  return { kind: 'object', fields: new Map([['metadata', metadata], ...fields]) };
}

function part(tree: FieldTree, type: FieldType, dice: Dice, depth: number): Focus {
  switch (type.kind) {
    case 'leaf':
      return leaf(type.type);
    case 'stringMap':
      return { kind: 'map', of: leaf('String') };
    case 'map':
      return { kind: 'map', of: part(tree, type.of, dice, depth + 1) };
    case 'list':
      return { kind: 'list', of: part(tree, type.of, dice, depth + 1) };
    case 'object': {
      const shape = must(tree.shapes[type.shape], 'a shape is in its tree');
      // Deep down only leaves, so that recursive shapes come to an end.
      const open = shape.fields.filter((field) => depth < mostDepth || field.type.kind === 'leaf');
      const named = open.filter(({ name }) => name === 'conditions' || name === 'type' || name === 'name');
      const chosen = new Set([...dice.sample(named, 1), ...dice.sample(open, depth < 3 ? 5 : 3)]);
      const fields = [...chosen].map((field) => [field.name, part(tree, field.type, dice, depth + 1)] as const);
      return { kind: 'object', fields: new Map(fields) };
    }
  }
}

/** Where a walk came out: the steps to it and what stands there. */
export interface Place {
  readonly steps: readonly PathStep[];
  readonly focus: Focus;
}

/** Texts of `where` steps: what lists of objects hold under type, name and the like. */
export const whereValues = ['Ready', 'a', 'true', '5', '9007199254740993', '1.5', '', 'é'];

/**
 * A random place below `from`: a leaf, or for `container` also a list, map or object.
 * @param each may the walk go through every element of a list?
 */
export function placeIn(from: Focus, dice: Dice, { each, container }: { each: boolean; container: boolean }): Place {
  const steps: PathStep[] = [];
  let focus = from;
  for (;;) {
    if (container && steps.length > 0 && dice.chance(0.1)) return { steps, focus };
    const next = stepBelow(focus, dice, each, steps.length);
    if (next === null) return { steps, focus };
    steps.push(next.step);
    focus = next.focus;
  }
}

/** A random list below `from`, or null where the walk met none. */
export function listIn(from: Focus, dice: Dice): Place | null {
  const steps: PathStep[] = [];
  let focus = from;
  for (;;) {
    const isList = focus.kind === 'list' || (focus.kind === 'leaf' && focus.type === 'JSON');
    if (isList && dice.chance(0.7)) return { steps, focus };
    const next = stepBelow(focus, dice, false, steps.length);
    if (next === null) return isList ? { steps, focus } : null;
    steps.push(next.step);
    focus = next.focus;
  }
}

function stepBelow(focus: Focus, dice: Dice, each: boolean, depth: number): { step: PathStep; focus: Focus } | null {
  switch (focus.kind) {
    case 'leaf': {
      if (focus.type !== 'JSON' || depth > mostDepth + 3 || dice.chance(0.5)) return null;
      const name = dice.pick(freeNames);
      const step = dice.choose<PathStep>([
        [4, () => ({ kind: 'field', name })],
        [1, () => ({ kind: 'index', index: dice.below(3) })],
        [1, () => where(dice, name)],
        [each ? 2 : 0, () => ({ kind: 'each' })],
      ]);
      return { step, focus };
    }
    case 'map':
      return { step: { kind: 'key', key: dice.pick(hostileKeys) }, focus: focus.of };
    case 'list': {
      const members = focus.of.kind === 'object' ? [...focus.of.fields].filter(([, of]) => of.kind === 'leaf') : [];
      const step = dice.choose<PathStep>([
        [1, () => ({ kind: 'index', index: dice.below(3) })],
        [members.length > 0 ? 2 : 0, () => where(dice, dice.pick(members)[0])],
        [each ? 4 : 0, () => ({ kind: 'each' })],
      ]);
      return { step, focus: focus.of };
    }
    case 'object': {
      if (focus.fields.size === 0) return null;
      const [name, of] = dice.pick([...focus.fields]);
      return { step: { kind: 'field', name }, focus: of };
    }
  }
}

function where(dice: Dice, field: string): PathStep {
  return { kind: 'where', field, value: dice.pick(whereValues) };
}
