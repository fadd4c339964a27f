/** The built-in kinds and their definitions, expanded once. */
import { coreTable } from './core-table.ts';
import { metaTable } from './meta-table.ts';
import { type BuiltinSchema, expandTables } from './notation.ts';
import { otherTables } from './other-tables.ts';
import { podTable } from './pod-table.ts';
import { scalingTables } from './scaling-tables.ts';
import { workloadTables } from './workload-tables.ts';

let expanded: BuiltinSchema | undefined;

/** The built-in kinds, expanded at the first call. Shared and immutable. */
export function builtinSchema(): BuiltinSchema {
  expanded ??= expandTables([metaTable, podTable, coreTable, ...workloadTables, ...otherTables, ...scalingTables]);
  return expanded;
}
