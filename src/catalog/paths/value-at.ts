/** Reads values at paths of a body in JavaScript. The store's SQL has the same semantics (docs/values.md). */
import type { LeafType } from '../tree/field-tree.ts';
import type { Path, PathStep } from '../tree/path.ts';
import { foldValues } from '../values/fold-values.ts';
import { isRawJson } from '../values/raw-json.ts';
import { scalarText } from '../values/values.ts';

/**
 * The value at a path without `each` steps; undefined when it is absent. A null at the end of the path is returned as null. A
 * null before the end counts as absent.
 */
export function valueAt(body: unknown, path: Pick<Path, 'steps'>): unknown {
  let value = body;
  for (const step of path.steps) {
    value = valueBelow(value, step);
    if (value === undefined) return undefined;
  }
  return value;
}

/** The one value at a path of a leaf of this type: at a plain path, or what the values of lists come to. */
export function leafValueAt(body: unknown, path: Path, type: LeafType): unknown {
  return path.fold === undefined ? valueAt(body, path) : foldValues(path.fold, type, valuesAt(body, path));
}

/** Every value at a path, in document order, without the absent ones. With no `each` step there is at most one. */
export function valuesAt(body: unknown, path: Pick<Path, 'steps'>): readonly unknown[] {
  let values: readonly unknown[] = body === undefined ? [] : [body];
  for (const step of path.steps) {
    const next: unknown[] = [];
    for (const value of values) {
      if (step.kind === 'several') {
        for (const each of step.of) next.push(...valuesAt(value, each));
        continue;
      }
      if (step.kind === 'each') {
        if (Array.isArray(value)) for (const member of value as unknown[]) next.push(member);
        continue;
      }
      const below = valueBelow(value, step);
      if (below !== undefined) next.push(below);
    }
    values = next;
  }
  return values;
}

function valueBelow(value: unknown, step: PathStep): unknown {
  switch (step.kind) {
    case 'field':
      return memberOf(value, step.name);
    case 'key':
      return memberOf(value, step.key);
    case 'index':
      return Array.isArray(value) ? (value as unknown[])[step.index] : undefined;
    case 'where':
      return Array.isArray(value)
        ? (value as unknown[]).find((element) => scalarText(memberOf(element, step.field)) === step.value)
        : undefined;
    case 'health':
    case 'rollUp':
      throw new Error('invariant broken: the health is computed by the rules of the kind');
    case 'each':
    case 'several':
    case 'identity':
      return undefined;
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawJson(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}
