/** Refuses names of --kinds that a cluster does not serve. */
import { PortolanError } from '../../base/errors.ts';
import type { Resource } from '../../catalog/resources/resource.ts';
import type { Config } from '../../config/options.ts';
import { unmatchedNames } from '../../ingest/context/selection.ts';

/**
 * For commands whose output would lack a kind that was asked for: that would be found out only much later.
 * @throws PortolanError NOT_FOUND with the most similar names.
 */
export function refuseUnmatched(resources: readonly Resource[], { kinds }: Pick<Config, 'kinds'>): void {
  const unmatched = unmatchedNames(resources, { include: kinds }).map(({ name, similar }) =>
    similar === null ? name : `${name} (did you mean ${similar}?)`,
  );
  if (unmatched.length === 0) return;
  const message = `--kinds names ${unmatched.join(', ')}, which the cluster does not serve; name kinds as kubectl api-resources does.`;
  throw new PortolanError('NOT_FOUND', message);
}
