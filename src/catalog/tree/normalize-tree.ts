/**
 * Builds a field tree from drafts: merges drafts of equal structure, and gives each shape its key and its first path.
 *
 * Life of the data:
 *   schemas -> drafts under any ids (walk-schema.ts), or several trees -> drafts (merge-trees.ts)
 *   -> one tree
 *
 * Invariant: equal drafts give equal trees, whatever their ids and their order.
 */
import { must } from '../../base/must.ts';
import { type Field, type FieldTree, type FieldType, leafText, type Shape } from './field-tree.ts';
import { fieldPath } from './path.ts';
import { requiredInAll, withRequired } from './required-fields.ts';

/** A shape that is not in a tree yet. Object types in its fields name drafts by their ids. */
export interface Draft {
  /** True: the id is the shape's key and it is never merged (definitions with a short name, recursive ones). */
  readonly fixed: boolean;
  readonly definition?: string;
  readonly description?: string;
  readonly open?: true;
  readonly fields: readonly Field[];
}

type Drafts = ReadonlyMap<string, Draft>;

/** The tree of all drafts that are reachable from `root`. Only `root` may have no fields. */
export function normalizeTree(root: string, drafts: Drafts): FieldTree {
  const classes = classify(root, drafts);
  const keys = new Map<string, string>();
  const queue: { readonly id: string; readonly path: readonly string[] }[] = [];
  const classOf = (id: string): string => must(classes.get(id), `draft ${id} is classified`);
  const enter = (id: string, path: readonly string[]): void => {
    const group = classOf(id);
    if (keys.has(group)) return;
    const text = fieldPath(path).text;
    const place = path.length === 0 ? '$' : text.startsWith('[') ? `$${text}` : `$.${text}`;
    keys.set(group, drafts.get(id)?.fixed === true && id !== root ? id : place);
    queue.push({ id, path });
  };
  enter(root, []);
  for (const { id, path } of queue) {
    for (const field of sorted(draftOf(drafts, id).fields)) {
      const below = objectIn(field.type);
      if (below !== null) enter(below, [...path, field.name]);
    }
  }
  const keyOf = (id: string): string => must(keys.get(classOf(id)), `draft ${id} is reached`);
  const members = Map.groupBy(classes.keys(), classOf);
  const shapes = queue.map(({ id, path }): [string, Shape] => {
    const { definition, description, open, fields } = draftOf(drafts, id);
    const key = keyOf(id);
    const required = requiredInAll((members.get(classOf(id)) ?? []).map((each) => draftOf(drafts, each).fields));
    const shape: Shape = {
      key,
      ...(definition === undefined ? {} : { definition }),
      path,
      ...(description === undefined ? {} : { description }),
      fields: withRequired(sorted(fields), required).map((field) => ({ ...field, type: renamed(field.type, keyOf) })),
      ...(open === undefined ? {} : { open }),
    };
    return [key, shape];
  });
  // fromEntries defines own properties, so a field named __proto__ is stored like any other.
  return { root: '$', shapes: Object.fromEntries(shapes) };
}

/** The object type that a field leads to, through lists and maps. */
export function objectIn(type: FieldType): string | null {
  switch (type.kind) {
    case 'leaf':
    case 'stringMap':
      return null;
    case 'map':
    case 'list':
      return objectIn(type.of);
    case 'object':
      return type.shape;
  }
}

/** The same type with its object's id replaced. */
export function renamed(type: FieldType, name: (id: string) => string): FieldType {
  switch (type.kind) {
    case 'leaf':
    case 'stringMap':
      return type;
    case 'map':
    case 'list':
      return { kind: type.kind, of: renamed(type.of, name) };
    case 'object':
      return { kind: 'object', shape: name(type.shape) };
  }
}

function sorted(fields: readonly Field[]): readonly Field[] {
  return fields.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function draftOf(drafts: Drafts, id: string): Draft {
  return must(drafts.get(id), `draft ${id} exists`);
}

/**
 * The coarsest partition of the reachable drafts in which members of a class have equal fields that lead to equal classes.
 * Partition refinement: starts from the local properties of each draft and splits classes until none changes. This handles
 * recursion too.
 */
function classify(root: string, drafts: Drafts): Map<string, string> {
  const reached: { readonly id: string; readonly below: readonly string[] }[] = [];
  const classes = new Map<string, string>();
  const queue = [root];
  for (const id of queue) {
    if (classes.has(id)) continue;
    const draft = draftOf(drafts, id);
    const fields = sorted(draft.fields);
    const below = fields.flatMap(({ type }) => objectIn(type) ?? []);
    const anonymous = `${draft.open === true ? '+' : ''}${fields.map(({ name, type }) => `${JSON.stringify(name)}:${outline(type)}`).join()}`;
    classes.set(id, id === root ? 'root' : draft.fixed ? `fixed ${id}` : anonymous);
    reached.push({ id, below });
    queue.push(...below);
  }
  let count = 0;
  for (;;) {
    const numbers = new Map<string, string>();
    const next = reached.map(({ id, below }) => {
      const text = `${classes.get(id)}|${below.map((each) => classes.get(each)).join()}`;
      const number = numbers.get(text) ?? String(numbers.size);
      numbers.set(text, number);
      return number;
    });
    for (const [i, { id }] of reached.entries()) classes.set(id, must(next[i], 'each draft has a class'));
    if (numbers.size === count) return classes;
    count = numbers.size;
  }
}

function outline(type: FieldType): string {
  switch (type.kind) {
    case 'leaf':
      return leafText(type);
    case 'stringMap':
      return '{}';
    case 'map':
      return `{${outline(type.of)}}`;
    case 'list':
      return `[${outline(type.of)}]`;
    case 'object':
      return '*';
  }
}
