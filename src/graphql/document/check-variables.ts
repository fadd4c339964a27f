/** Limits the depth of variables. Coercing variables and reading filters are recursive, so deep variables would overflow the stack. */
import { PortolanError } from '../../base/errors.ts';

/** Far deeper than real filters, and than the free JSON that a filter compares. */
const deepestVariables = 100;

/** @throws PortolanError QUERY_TOO_COSTLY for variables that nest deeper than {@link deepestVariables}. */
export function checkVariables(variables: unknown): void {
  const depth = depthOf(variables);
  if (depth <= deepestVariables) return;
  throw new PortolanError(
    'QUERY_TOO_COSTLY',
    `The variables nest ${depth} deep; at most ${deepestVariables} levels are allowed.`,
    { details: { limit: 'variables', asked: depth, allowed: deepestVariables } },
  );
}

/** Breadth first: a recursive walk would itself overflow the stack. */
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
