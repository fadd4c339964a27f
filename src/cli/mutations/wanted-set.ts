/**
 * A set that a command line names with `--set`.
 *
 *   apply -f app/ --set shop -n default     the manifests are the members     {set: {…}, docs: […]}
 *   delete --set shop -n default            the set with its members          {set: {…}}
 */
import { PortolanError } from '../../base/errors.ts';

export interface SetFlags {
  /** The name of a set. */
  readonly set?: string;
  /** Takes objects that exist. */
  readonly adopt?: boolean;
  /** False: members stay that no manifest has. Default: true. */
  readonly prune?: boolean;
}

interface SetObjects extends SetFlags {
  readonly words: readonly string[];
  readonly filename?: readonly string[];
  readonly filter?: string;
  readonly selector?: string;
  readonly namespace?: string;
  readonly cluster?: string;
  readonly force?: boolean;
  readonly fieldManager?: string;
  readonly onError?: string;
}

/** The arguments of applySet or deleteSet. @throws PortolanError CONFIGURATION for flags that name no set, or other objects. */
export function setArguments(
  verb: 'applySet' | 'deleteSet',
  { set: name, words, filename, filter, selector, namespace, cluster, adopt, prune, force, ...run }: SetObjects,
  docs: readonly object[],
): Readonly<Record<string, unknown>> {
  if (run.fieldManager !== undefined) {
    throw new PortolanError('CONFIGURATION', 'A set has a field manager of its own: leave out --field-manager.');
  }
  if (verb === 'deleteSet' && run.onError === 'revert') {
    throw new PortolanError('CONFIGURATION', 'The deletion of a set cannot be undone: leave out --on-error revert.');
  }
  if (namespace === undefined) {
    throw new PortolanError('CONFIGURATION', 'Say with --namespace where the set is.');
  }
  const set = { namespace, name, ...(cluster === undefined ? {} : { cluster }) };
  if (verb === 'deleteSet') {
    if (words.length === 0 && [filename, filter, selector].every((each) => each === undefined)) return { set };
    throw new PortolanError('CONFIGURATION', '--set names the objects: leave out ids, kinds, filters and manifests.');
  }
  if (filename === undefined) {
    throw new PortolanError('CONFIGURATION', 'Name the manifests of the members with --filename.');
  }
  return { set, docs, prune: prune !== false, adopt: adopt === true, force: force === true };
}

/** @throws PortolanError CONFIGURATION for flags of sets without `--set`. */
export function refuseSetFlags({ adopt, prune }: SetFlags): void {
  if (adopt !== true && prune !== false) return;
  throw new PortolanError('CONFIGURATION', '--adopt and --no-prune are for sets: name one with --set.');
}
