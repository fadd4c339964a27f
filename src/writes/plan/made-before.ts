/**
 * The plan of an object that needs what the same mutation creates before it.
 *
 * An API server does not dry-run a write into a namespace that is not there, nor that of a Pod whose ServiceAccount is not there:
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

const needed: readonly string[] = ['Namespace', 'ServiceAccount'];

/** The Namespaces and ServiceAccounts that these plans create. @param plan null: not planned */
export function madeBefore(
  items: readonly { readonly intent: WriteIntent; readonly plan: PlannedWrite | null }[],
): ReadonlySet<string> {
  return new Set(
    items.flatMap(({ intent: { target, action }, plan }) => {
      const { cluster, resource, namespace, name } = target;
      const isNeeded = resource.group === '' && needed.includes(resource.kind);
      const isNew = plan !== null && plan.error === null && plan.live === null;
      const creates = action.verb === 'apply' || action.verb === 'create';
      return isNeeded && isNew && creates && name !== null ? [keyOf(resource.kind, cluster, namespace, name)] : [];
    }),
  );
}

function keyOf(kind: string, cluster: string, namespace: string | null, name: string): string {
  return JSON.stringify([kind, cluster, namespace, name]);
}

/** The plan by the manifest alone; null if the failed plan has another reason. @param made as `madeBefore` has it */
export function plannedUnchecked(
  intent: WriteIntent,
  planned: PlannedWrite,
  made: ReadonlySet<string>,
  redacted: readonly string[],
): PlannedWrite | null {
  const { action } = intent;
  if (action.verb !== 'apply' && action.verb !== 'create') return null;
  const missing = missingIn(intent, planned);
  if (missing === null || !made.has(missing.key)) return null;
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
    warnings: [`Not checked yet: the ${missing.what} is created first.`],
    tried: null,
  };
}

/** The missing object, by the words of the API server; null for an error of another kind. */
function missingIn(
  { target: { cluster, resource, namespace } }: WriteIntent,
  { error, live }: PlannedWrite,
): { readonly key: string; readonly what: string } | null {
  if (error === null || namespace === null || live !== null) return null;
  if (error.code === 'NOT_FOUND' && error.message === `namespaces "${namespace}" not found`) {
    return { key: keyOf('Namespace', cluster, null, namespace), what: `namespace ${namespace}` };
  }
  if (error.code !== 'DENIED' || resource.group !== '' || resource.kind !== 'Pod') return null;
  const [, name] =
    /error looking up service account [^ ]+: serviceaccount "([^"]+)" not found$/.exec(error.message) ?? [];
  if (name === undefined) return null;
  return { key: keyOf('ServiceAccount', cluster, namespace, name), what: `ServiceAccount ${name}` };
}
