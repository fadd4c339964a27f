/** The built-in kinds and their definitions, expanded once from the files in `tables`. */
import { readFileSync } from 'node:fs';
import { type BuiltinSchema, expandTables } from './notation.ts';

const folder = new URL('./tables/', import.meta.url);
/** The definitions of OpenAPI documents have this order. */
const names = ['meta', 'pod', 'core', 'workloads', 'other', 'scaling'] as const;

let expanded: BuiltinSchema | undefined;

/** The built-in kinds, read and expanded at the first call. Shared and immutable. */
export function builtinSchema(): BuiltinSchema {
  expanded ??= expandTables(names.map((name) => readFileSync(new URL(`${name}.k8s`, folder), 'utf8')));
  return expanded;
}
