/** The projection of objects of any kind at a place below a field. */
import { type GraphQLResolveInfo, isInterfaceType } from 'graphql';
import type { Projection } from '../../query/plan/plan.ts';
import { staticType } from '../types/collected-schema.ts';
import { projectionOf } from './projection.ts';
import { fragmentsOf, selectionsAt } from './walk.ts';

/** As projectionBelow; null where nothing is selected at `path`. */
export function projectionIfSelected(info: GraphQLResolveInfo, path: readonly string[]): Projection | null {
  const sets = info.fieldNodes.map((node) => node.selectionSet);
  return selectionsAt(fragmentsOf(info), sets, path).length === 0 ? null : projectionBelow(info, path);
}

/** The parts of objects of any kind that the selections at the paths (field names) below the resolved field read. */
export function projectionBelow(info: GraphQLResolveInfo, ...paths: readonly (readonly string[])[]): Projection {
  const fragments = fragmentsOf(info);
  const roots = info.fieldNodes.map((node) => node.selectionSet);
  const sets = paths.flatMap((path) => selectionsAt(fragments, roots, path));
  const object = staticType(info.schema, 'KubernetesObject');
  if (!isInterfaceType(object)) throw new Error('invariant broken: KubernetesObject is an interface');
  return projectionOf({ schema: info.schema, fragments }, sets, object);
}
