/**
 * The paths of a kind whose values never reach the disk: those of every gateway (the data of Secrets), and those of --redact.
 *
 *   --redact 'pods=spec.containers[].env'     the resource is named as in --kinds; its path is one of its field tree
 *   --redact '*=metadata.annotations["x"]'    each kind that has the path
 *
 * A path that identifies or orders objects cannot be redacted. An index of a list cannot be in the path: when one element is removed, the
 * others move.
 */
import { codeOf, messageOf } from '../../base/errors.ts';
import { resolvePath } from '../paths/resolve-path.ts';
import type { DescribedResource } from '../resources/catalog.ts';
import { isNamed, type Resource, resourceKey } from '../resources/resource.ts';
import type { FieldTree } from '../tree/field-tree.ts';
import { isDerived, parsePath } from '../tree/path.ts';

interface RedactedPaths {
  /** In canonical spelling, each once. */
  readonly paths: readonly string[];
  /** Reasons why other configured paths of the resource cannot be redacted, one sentence each. */
  readonly problems: readonly string[];
}

/** An entry of --redact. */
interface ConfiguredPath {
  /** As in --kinds. */
  readonly resource: string;
  readonly path: string;
}

/** Every object needs these. */
const needed: readonly string[] = [
  'apiVersion',
  'kind',
  'metadata',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'metadata.resourceVersion',
  'metadata.creationTimestamp',
  'metadata.deletionTimestamp',
];

/** The resource and the path of `resource=path`. */
export function configuredPath(entry: string): ConfiguredPath {
  const at = entry.indexOf('=');
  return { resource: entry.slice(0, at).trim(), path: entry.slice(at + 1).trim() };
}

/** @param configured the values of --redact. */
export function redactedPaths(configured: readonly string[], resource: Resource, tree: FieldTree): RedactedPaths {
  const paths = new Set(resourceKey(resource) === 'secrets' ? ['data', 'stringData'] : []);
  const problems: string[] = [];
  for (const entry of configured) {
    const { resource: name, path } = configuredPath(entry);
    if (!isNamed(resource, name)) continue;
    const found = resolved(tree, path);
    if (found.path !== null) paths.add(found.path);
    // A name for many kinds cannot fit all of them.
    else if (!found.isUnknown || !name.includes('*')) problems.push(`--redact ${entry} cannot be done: ${found.why}`);
  }
  return { paths: [...paths], problems };
}

/** The description of a stored kind, with the paths of --redact too. The same description if it has them all. */
export function redactStored(described: DescribedResource, configured: readonly string[]): DescribedResource {
  const { paths } = redactedPaths(configured, described.resource, described.tree);
  const redacted = [...new Set([...described.redacted, ...paths])];
  return redacted.length === described.redacted.length ? described : { ...described, redacted };
}

type Resolved =
  | { readonly path: string }
  | { readonly path: null; readonly why: string /** The kind does not have the path. */; readonly isUnknown: boolean };

function resolved(tree: FieldTree, text: string): Resolved {
  const refused = (why: string): Resolved => ({ path: null, why, isUnknown: false });
  try {
    const { path } = resolvePath(tree, parsePath(text));
    if (path.fold !== undefined || isDerived(path)) return refused('it is computed from other paths; redact those.');
    if (path.steps.some(({ kind }) => kind === 'index')) {
      return refused('it names one element by its place; write [] for all, or [name=value].');
    }
    if (needed.includes(path.text)) return refused('every object needs it.');
    return { path: path.text };
  } catch (error) {
    if (codeOf(error) === 'BAD_USER_INPUT') return { path: null, why: messageOf(error), isUnknown: true };
    throw error;
  }
}
