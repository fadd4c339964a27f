/** The paths that a request names, for the audit of a write that was not planned. Values are never among them. */

import { type PathStep, pathOf } from '../../catalog/tree/path.ts';
import { isObject } from '../../catalog/values/displayed-value.ts';
import type { WriteAction } from '../request/write-intent.ts';

/** More paths are left out. */
const most = 100;
/** Of every manifest. */
const always = new Set(['apiVersion', 'kind', 'metadata.name', 'metadata.namespace', 'metadata.generateName']);

/** Sorted. Empty for a removal. A JSON patch has JSON pointers (RFC 6901). */
export function requestedPaths(action: WriteAction): readonly string[] {
  switch (action.verb) {
    case 'apply':
    case 'create':
      return pathsIn(action.manifest);
    case 'patch': {
      if (!Array.isArray(action.patch)) return pathsIn(action.patch);
      return action.patch.slice(0, most).flatMap((operation: unknown) => {
        const path = isObject(operation) ? operation['path'] : null;
        return typeof path === 'string' ? [path] : [];
      });
    }
    case 'scale':
      return ['spec.replicas'];
    case 'restart':
      return ['spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]'];
    case 'cordon':
      return ['spec.unschedulable'];
    // The request names them (undo/concrete-write.ts).
    case 'edit':
    case 'revert':
    case 'rollback':
    case 'delete':
    case 'evict':
      return [];
  }
}

/** A list counts as one field. */
function pathsIn(document: unknown): readonly string[] {
  const found: string[] = [];
  const visit = (value: unknown, steps: readonly PathStep[]): void => {
    if (found.length >= most) return;
    if (isObject(value) && Object.keys(value).length > 0) {
      for (const [name, inner] of Object.entries(value)) visit(inner, [...steps, { kind: 'field', name }]);
      return;
    }
    const { text } = pathOf(steps);
    if (steps.length > 0 && !always.has(text)) found.push(text);
  };
  visit(document, []);
  return found.toSorted();
}
