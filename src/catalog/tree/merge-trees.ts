/**
 * The union of a kind's field trees over clusters.
 *
 * A field with different types in several trees becomes free JSON and is reported, because one cluster's values may not fit the
 * other cluster's type. Definitions are merged by name wherever they occur, so each stays one shape.
 */
import { must } from '../../base/must.ts';
import type { Field, FieldTree, FieldType, Shape } from './field-tree.ts';
import { type Draft, normalizeTree, renamed } from './normalize-tree.ts';
import { requiredInAll, withRequired } from './required-fields.ts';

/** The union of two trees; the first tree if both are equal. `conflict` receives the path of each field that became JSON. */
export function mergeTrees(a: FieldTree, b: FieldTree, conflict: (path: string) => void): FieldTree {
  const drafts = new Map<string, Draft | null>();
  const root = merge(a.root, b.root);
  return normalizeTree(root, drafts as Map<string, Draft>);

  /**
   * The merged draft of two shapes. The arguments are the shapes' keys in their trees; a key is null if its tree lacks the shape.
   */
  function merge(left: string | null, right: string | null): string {
    const name = fixedName(left, right);
    const id = name ?? `${left ?? ''} | ${right ?? ''}`;
    if (drafts.has(id)) return id;
    // Registered before its fields are made, because they may refer back to this draft.
    drafts.set(id, null);
    const one = shapeIn(a, name === null || left !== null ? left : inTree(a, name));
    const other = shapeIn(b, name === null || right !== null ? right : inTree(b, name));
    const first = must(one ?? other, `${id} stands for a shape`);
    const definition = name === null ? undefined : first.definition;
    drafts.set(id, {
      fixed: name !== null,
      ...(definition === undefined ? {} : { definition }),
      ...(first.description === undefined ? {} : { description: first.description }),
      ...(one?.open === true || other?.open === true ? { open: true as const } : {}),
      // A shape of one tree alone is as it is there.
      fields: withRequired(
        mergeFields(first.path, one?.fields ?? [], other?.fields ?? []),
        requiredInAll([one, other].flatMap((shape) => (shape === null ? [] : [shape.fields]))),
      ),
    });
    return id;
  }

  function mergeFields(path: readonly string[], left: readonly Field[], right: readonly Field[]): Field[] {
    const others = new Map(right.map((field) => [field.name, field]));
    const merged = left.map((field): Field => {
      const other = others.get(field.name);
      others.delete(field.name);
      const at = [...path, field.name].join('.');
      const type =
        other === undefined ? renamed(field.type, (key) => merge(key, null)) : mergeTypes(field.type, other.type, at);
      return { ...other, ...field, type };
    });
    for (const field of others.values())
      merged.push({ ...field, type: renamed(field.type, (key) => merge(null, key)) });
    return merged;
  }

  function mergeTypes(left: FieldType, right: FieldType, at: string): FieldType {
    if (left.kind === 'leaf' && right.kind === 'leaf' && left.type === right.type) return mergeLeaves(left, right);
    if (left.kind === 'stringMap' && right.kind === 'stringMap') return left;
    if (left.kind === 'object' && right.kind === 'object')
      return { kind: 'object', shape: merge(left.shape, right.shape) };
    if (left.kind === 'list' && right.kind === 'list') return { kind: 'list', of: mergeTypes(left.of, right.of, at) };
    if (left.kind === 'map' && right.kind === 'map') return { kind: 'map', of: mergeTypes(left.of, right.of, at) };
    conflict(at);
    return { kind: 'leaf', type: 'JSON' };
  }
}

type Leaf = Extract<FieldType, { kind: 'leaf' }>;

/** Leaves of one type. The values are those of both; any, if one side may have any. */
function mergeLeaves(left: Leaf, right: Leaf): Leaf {
  const { type, values } = left;
  if (values === undefined || right.values === undefined) return { kind: 'leaf', type };
  return { kind: 'leaf', type, values: [...new Set([...values, ...right.values])] };
}

/** The key that both sides have in common when it is a definition's name. Keys of other shapes start with "$". */
function fixedName(left: string | null, right: string | null): string | null {
  const key = left ?? right;
  if (key === null || key.startsWith('$')) return null;
  return left === null || right === null || left === right ? key : null;
}

function inTree(tree: FieldTree, key: string): string | null {
  return Object.hasOwn(tree.shapes, key) ? key : null;
}

function shapeIn(tree: FieldTree, key: string | null): Shape | null {
  return key === null ? null : (tree.shapes[key] ?? null);
}
