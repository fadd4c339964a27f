/**
 * Makes each core/v1 and meta/v1 definition one structure in all kinds, because it is one GraphQL type in all of them.
 *
 * For kube-apiserver's own kinds, the structure of a definition is the union of its structures in all kinds and clusters. Aggregated
 * API servers bring their own copies. A kind of another group uses the unions if its copies do not contradict them. Otherwise all
 * shapes of that kind are named by their paths. A field is required if all copies that share the definition require it.
 */
import { must } from '../../base/must.ts';
import type { Steps } from '../../base/steps.ts';
import type { Field, FieldTree, FieldType, Shape } from './field-tree.ts';
import { type Draft, normalizeTree, objectIn } from './normalize-tree.ts';
import { requiredInAll, withRequired } from './required-fields.ts';
import { sharedShapes } from './shared-shapes.ts';

interface KindTree {
  readonly key: string;
  /** The kind's group is one of kube-apiserver itself. */
  readonly own: boolean;
  readonly tree: FieldTree;
}

/**
 * The kinds' trees in input order, with definitions made equal. A tree that needs no change is returned as the same object. One
 * step per kind.
 */
export function* shareDefinitions(
  kinds: readonly KindTree[],
  report: (key: string, message: string) => void,
): Steps<readonly FieldTree[]> {
  const shared = new Map<string, Shape>();
  for (const { key, own, tree } of kinds) {
    if (!own) continue;
    yield;
    for (const shape of definitionsOf(tree)) {
      const known = shared.get(shape.key);
      shared.set(
        shape.key,
        known === undefined ? shape : unite(known, shape, (name) => report(key, conflict(shape, name))),
      );
    }
  }
  const contrary = new Set<string>();
  for (const { key, own, tree } of kinds) {
    if (own) continue;
    yield;
    const definitions = definitionsOf(tree);
    if (definitions.every((shape) => fits(shape, shared.get(shape.key)))) {
      for (const shape of definitions) shared.set(shape.key, narrowed(shared.get(shape.key), shape));
    } else {
      report(key, 'its definitions differ from those of kube-apiserver; its types are named by their paths');
      contrary.add(key);
    }
  }
  const trees: FieldTree[] = [];
  for (const { key, tree } of kinds) {
    yield;
    trees.push(contrary.has(key) ? stripped(tree) : rebuilt(tree, shared));
  }
  return trees;
}

function conflict(shape: Shape, field: string): string {
  return `${shape.definition}.${field} has another type than in other kinds; it is free JSON`;
}

const knownDefinitions = new WeakMap<FieldTree, readonly Shape[]>();

/** The definitions in a tree whose structure comes from a cluster: not those of shared-shapes.ts. */
export function definitionsOf(tree: FieldTree): readonly Shape[] {
  const known = knownDefinitions.get(tree);
  if (known !== undefined) return known;
  const found = Object.values(tree.shapes).filter(
    ({ key, definition }) => definition !== undefined && !sharedShapes.has(key),
  );
  knownDefinitions.set(tree, found);
  return found;
}

/** The known definition, in which only those fields are required that the other copy requires too. */
function narrowed(known: Shape | undefined, shape: Shape): Shape {
  if (known === undefined || structure(known) === structure(shape)) return known ?? shape;
  return { ...known, fields: withRequired(known.fields, requiredInAll([known.fields, shape.fields])) };
}

function unite(known: Shape, shape: Shape, report: (field: string) => void): Shape {
  if (structure(known) === structure(shape)) return known;
  const fields = new Map<string, Field>(known.fields.map((field) => [field.name, field]));
  for (const field of shape.fields) {
    const before = fields.get(field.name);
    if (before === undefined) fields.set(field.name, field);
    else if (JSON.stringify(before.type) !== JSON.stringify(field.type)) {
      if (before.type.kind !== 'leaf' || before.type.type !== 'JSON') report(field.name);
      fields.set(field.name, { ...before, type: { kind: 'leaf', type: 'JSON' } });
    }
  }
  return {
    ...known,
    fields: withRequired(
      [...fields.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      requiredInAll([known.fields, shape.fields]),
    ),
    ...(known.open === true || shape.open === true ? { open: true } : {}),
  };
}

function fits(shape: Shape, known: Shape | undefined): boolean {
  if (known === undefined) return true;
  const types = new Map(known.fields.map(({ name, type }) => [name, JSON.stringify(type)]));
  return (
    (shape.open !== true || known.open === true) &&
    shape.fields.every(({ name, type }) => types.get(name) === JSON.stringify(type))
  );
}

const knownStructures = new WeakMap<Shape, string>();

/** The parts of a definition that determine its GraphQL type, as it is printed. */
function structure(shape: Shape): string {
  const known = knownStructures.get(shape);
  if (known !== undefined) return known;
  const found = JSON.stringify([shape.open, shape.fields.map(({ name, type, required }) => [name, type, required])]);
  knownStructures.set(shape, found);
  return found;
}

/** The tree with the shared definitions in place of its own. */
function rebuilt(tree: FieldTree, shared: ReadonlyMap<string, Shape>): FieldTree {
  const differs = definitionsOf(tree).some((shape) => {
    const other = must(shared.get(shape.key), 'every definition is shared');
    return other !== shape && structure(other) !== structure(shape);
  });
  if (!differs) return tree;
  const drafts = new Map<string, Draft>();
  for (const shape of Object.values(tree.shapes)) drafts.set(shape.key, draftOf(shared.get(shape.key) ?? shape));
  // The union may refer to definitions that this kind lacked.
  for (const draft of drafts.values()) {
    for (const { type } of draft.fields) add(type);
  }
  return normalizeTree(tree.root, drafts);

  function add(type: FieldType): void {
    const key = objectIn(type);
    if (key === null || drafts.has(key)) return;
    drafts.set(key, draftOf(must(shared.get(key) ?? sharedShapes.get(key), `the definition ${key} is shared`)));
  }
}

function stripped(tree: FieldTree): FieldTree {
  const drafts = new Map<string, Draft>();
  for (const shape of Object.values(tree.shapes)) {
    const { definition, ...rest } = draftOf(shape);
    drafts.set(shape.key, definition !== undefined && sharedShapes.has(shape.key) ? { ...rest, definition } : rest);
  }
  return normalizeTree(tree.root, drafts);
}

function draftOf(shape: Shape): Draft {
  const { key, definition, description, open, fields } = shape;
  return {
    fixed: !key.startsWith('$'),
    ...(definition === undefined ? {} : { definition }),
    ...(description === undefined ? {} : { description }),
    ...(open === undefined ? {} : { open }),
    fields,
  };
}
