/** The depth of variables: coercing them and reading filters out of them call themselves for each level, and would run out of stack. */
import { PortolanError } from '../../base/errors.ts';

/** Wide of any filter that somebody writes, and of free JSON that is compared. */
export const deepestVariables = 100;

/** @throws PortolanError QUERY_TOO_COSTLY */
export function checkVariables(variables: unknown): void {
  const depth = depthOf(variables);
  if (depth <= deepestVariables) return;
  throw new PortolanError(
    'QUERY_TOO_COSTLY',
    `The variables nest ${depth} deep; at most ${deepestVariables} levels are allowed.`,
    { details: { limit: 'variables', asked: depth, allowed: deepestVariables } },
  );
}

/** Level by level, since a walk that calls itself is what this is to prevent. */
function depthOf(value: unknown): number {
  let depth = 0;
  let level = [value].filter(isContainer);
  while (level.length > 0) {
    depth += 1;
    const next: object[] = [];
    for (const each of level) for (const item of Object.values(each)) if (isContainer(item)) next.push(item);
    level = next;
  }
  return depth;
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
