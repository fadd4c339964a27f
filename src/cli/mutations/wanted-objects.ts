/**
 * The objects that a command line names.
 *
 *   -f web.yaml                    the manifests                        {docs: […]}
 *   ID ID                          the ids                              {objects: […]}
 *   Deployment web, deploy/web     a kind with names or a filter        asks how many match -> {query: {…, expect: 1}}
 */
import { PortolanError } from '../../base/errors.ts';
import { decodeObjectId } from '../../query/plan/object-id.ts';
import { filterOf, placeFilter } from '../remote/object-filter.ts';
import { kindAndNames } from './kind-and-names.ts';
import type { ManifestFile } from './manifest-files.ts';
import type { WriteGateway } from './written-items.ts';

export interface ObjectFlags {
  /** Of objects by a kind; of manifests that name none. */
  readonly namespace?: string;
  readonly cluster?: string;
  /** JSON. */
  readonly filter?: string;
  /** A label selector. */
  readonly selector?: string;
}

/** Names that are looked for one by one. */
const mostNames = 20;

/** The argument `docs`. */
export function documentsOf(files: readonly ManifestFile[], { namespace, cluster }: ObjectFlags): readonly object[] {
  return files.map(({ text: yaml }) => ({
    yaml,
    ...(namespace === undefined ? {} : { namespace }),
    ...(cluster === undefined ? {} : { cluster }),
  }));
}

/**
 * The argument `targets` for ids, or for a kind.
 * @param say is told how many objects a filter finds.
 * @throws PortolanError CONFIGURATION for words that name no objects.
 */
export async function targetsOf(
  gateway: WriteGateway,
  given: readonly string[],
  flags: ObjectFlags,
  say: (line: string) => void,
): Promise<object> {
  const words = kindAndNames(given);
  const ids = words.filter(isObjectId);
  const [kind, ...names] = words;
  if (kind === undefined) {
    throw new PortolanError(
      'CONFIGURATION',
      'Name the objects: by --filename, by their ids, or by a kind with --filter, --selector, --namespace or names.',
    );
  }
  const { namespace, cluster, selector } = flags;
  const isNarrow = [namespace, cluster, selector, flags.filter].some((each) => each !== undefined);
  if (ids.length === words.length && !isNarrow) return { objects: ids.map((id) => ({ id })) };
  if (ids.length > 0) {
    throw new PortolanError(
      'CONFIGURATION',
      'An id names its object by itself: give ids without a kind and without a filter.',
    );
  }
  if (!isNarrow && names.length === 0) {
    throw new PortolanError(
      'CONFIGURATION',
      `${kind} alone would mean every object of the kind: add names, --filter, --selector, --namespace or --cluster.`,
    );
  }
  const filterBy = (some: readonly string[]): object => ({
    ...placeFilter(flags),
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(some.length === 0 ? {} : { metadata: { name: { in: some } } }),
    ...(flags.filter === undefined ? {} : { and: [filterOf('--filter', flags.filter)] }),
  });
  const filter = filterBy(names);
  const expect = await gateway.count(kind, filter);
  if (expect < names.length) {
    const given = names.length === 1 ? 'One name is' : `${names.length} names are`;
    const counts = await Promise.all(names.slice(0, mostNames).map((name) => gateway.count(kind, filterBy([name]))));
    const missing = names.filter((_, at) => counts[at] === 0);
    const which = names.length === 1 || missing.length === 0 ? '' : `; none has the name ${missing.join(', ')}`;
    throw new PortolanError('NOT_FOUND', `${given} given, and ${counted(expect)}${which}.`);
  }
  say(`${counted(expect)}.`);
  return { query: { kinds: [kind], filter, expect } };
}

function counted(count: number): string {
  if (count === 0) return 'no object matches';
  return count === 1 ? '1 object matches' : `${count} objects match`;
}

/** Is the word the id of an object? */
export function isObjectId(word: string): boolean {
  try {
    decodeObjectId(word);
    return true;
  } catch {
    return false;
  }
}
