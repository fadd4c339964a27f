/**
 * The plan of an object in a namespace that the same mutation creates.
 *
 * An API server does not dry-run a write into a namespace that is not there:
 *
 *   docs   Namespace shop           dry run: 201                                  CREATED
 *          ConfigMap shop/settings  dry run: 404, namespaces "shop" not found     CREATED as the manifest says, with a warning
 *   plan   the Namespace first, then the ConfigMap: GET 404, dry run 201 -> PATCH 201
 *
 * Invariant: the plan writes the object only if it is still absent, and only from the manifest to which the plan is bound.
 */
import { fieldChanges } from '../diff/field-changes.ts';
import { withhold } from '../diff/withheld-values.ts';
import type { WriteIntent } from '../request/write-intent.ts';
import type { PlannedWrite } from './plan-one.ts';

/** The namespaces that these plans create, each as `cluster/name`. @param plan null: not planned */
export function namespacesMade(
  items: readonly { readonly intent: WriteIntent; readonly plan: PlannedWrite | null }[],
): ReadonlySet<string> {
  return new Set(
    items.flatMap(({ intent: { target, action }, plan }) => {
      const { cluster, resource, name } = target;
      const isNamespace = resource.group === '' && resource.kind === 'Namespace';
      const isNew = plan !== null && plan.error === null && plan.live === null;
      const creates = action.verb === 'apply' || action.verb === 'create';
      return isNamespace && isNew && creates && name !== null ? [`${cluster}/${name}`] : [];
    }),
  );
}

/** The plan by the manifest alone; null if the failed plan has another reason. */
export function inNewNamespace(
  { target: { cluster, namespace }, action }: WriteIntent,
  { error }: PlannedWrite,
  made: ReadonlySet<string>,
  redacted: readonly string[],
): PlannedWrite | null {
  if (action.verb !== 'apply' && action.verb !== 'create') return null;
  if (namespace === null || error === null || !made.has(`${cluster}/${namespace}`)) return null;
  if (error.code !== 'NOT_FOUND' || error.message !== `namespaces "${namespace}" not found`) return null;
  const after = withhold(action.manifest, redacted);
  const changes = fieldChanges(null, after);
  return {
    error: null,
    live: null,
    before: null,
    after,
    changes,
    chosen: [],
    bound: changes,
    warnings: [`Not checked yet: the namespace ${namespace} is created first.`],
    tried: null,
  };
}
