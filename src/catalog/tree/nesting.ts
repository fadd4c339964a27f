/**
 * How deep a JSON value may nest to be shown. The API server takes 10,000 levels. The writers of JSON and YAML recurse once for each level.
 * A deep value would overflow the stack and lose the whole answer. SQLite reads 1,000 levels, so deeper objects are stored as text.
 */
import { PortolanError } from '../../base/errors.ts';

/** Levels of lists and objects. */
export const mostLevels = 1000;
/** The writer of YAML needs several calls for each level. */
export const mostYamlLevels = 300;

/** @throws PortolanError QUERY_TOO_COSTLY for a value that nests deeper. */
export function requireShallow(value: unknown, allowed = mostLevels): void {
  if (!isDeeper(value, allowed)) return;
  const form = allowed === mostYamlLevels ? ' as YAML' : '';
  throw new PortolanError(
    'QUERY_TOO_COSTLY',
    `The value nests deeper than ${allowed} levels, the most that are shown${form}; ask for a part of it by value(path:).`,
    { details: { limit: 'levels', allowed } },
  );
}

/** It stops at the limit, so the recursion is bounded. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) if (isDeeper(item, levels - 1)) return true;
    return false;
  }
  for (const name in value) if (isDeeper((value as Record<string, unknown>)[name], levels - 1)) return true;
  return false;
}
