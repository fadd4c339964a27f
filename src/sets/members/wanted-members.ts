/**
 * The members that a caller submits: which documents may be members, and the manifests that are sent.
 *
 *   document   Deployment web, namespace shop     -> the manifest, with the label and the ownerReference of the set
 *   Secret     stringData: { pin: "1234" }        -> data: server-side apply would never remove a key that came as stringData
 *
 * Refused: the kinds that member-kinds.ts refuses, and other namespaces. A document without a name and the same object twice
 * are refused too.
 */
import { isRecord, list, records } from '../../base/json.ts';
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { type WriteError, writeError } from '../../writes/outcome/write-error.ts';
import type { Json, Preconditions, TargetResource, WriteTarget } from '../../writes/request/write-intent.ts';
import type { ResolvedTarget } from '../../writes/targets/wanted-targets.ts';
import { applySetId, applySetLabels, ownerReferenceTo, type SetName } from '../record/set-names.ts';
import { memberKey, type SetRecord } from '../record/set-record.ts';
import { refusalOfKind } from './member-kinds.ts';

export interface WantedMember {
  /** Tells the members of a set apart. */
  readonly key: string;
  readonly target: WriteTarget;
  /** As it was submitted, without the marks of the set. */
  readonly manifest: Json;
  readonly preconditions: Preconditions;
  /** Why it cannot be a member. */
  readonly error: WriteError | null;
}

/** In the order of the documents. @param allowed names of kinds; empty for all that sets allow */
export function wantedMembers(
  { namespace }: SetName,
  found: readonly ResolvedTarget[],
  allowed: readonly string[],
): readonly WantedMember[] {
  const seen = new Set<string>();
  return found.map(({ target, document: manifest = null, preconditions, error }) => {
    const key = keyOf(target);
    const isTwice = target.name !== null && seen.has(key);
    seen.add(key);
    const twice = isTwice ? writeError('INVALID_FIELD', 'The object is in the set twice: submit it once.') : null;
    const why =
      error ?? refusalOf(target, namespace, allowed) ?? twice ?? (manifest === null ? null : shapeOf(manifest));
    return { key, target, manifest: withData(target.resource, manifest ?? {}), preconditions, error: why };
  });
}

/** As `memberKey`. */
export function keyOf({ resource, name }: Pick<WriteTarget, 'resource' | 'name'>): string {
  return memberKey({ group: resource.group, resource: resource.plural, name: name ?? '' });
}

function refusalOf(
  { resource, namespace, name }: WriteTarget,
  own: string,
  allowed: readonly string[],
): WriteError | null {
  const refusedKind = refusalOfKind(resource, allowed);
  if (refusedKind !== null) return writeError('UNSUPPORTED', refusedKind, 'kind');
  if (namespace !== own) {
    return writeError(
      'INVALID_FIELD',
      `The set is in the namespace ${own}, and so are its members.`,
      'metadata.namespace',
    );
  }
  if (name !== null) return null;
  return writeError('INVALID_FIELD', 'A member needs a name: write metadata.name.', 'metadata.name');
}

function shapeOf({ metadata }: Json): WriteError | null {
  const labels = isRecord(metadata) ? (memberOf(metadata, 'labels') ?? {}) : {};
  const owners = isRecord(metadata) ? (memberOf(metadata, 'ownerReferences') ?? []) : [];
  if (!isRecord(labels)) return writeError('INVALID_FIELD', 'metadata.labels is no object.', 'metadata.labels');
  if (Array.isArray(owners)) return null;
  return writeError('INVALID_FIELD', 'metadata.ownerReferences is no list.', 'metadata.ownerReferences');
}

/** A Secret with its `stringData` as `data`. */
function withData({ group, kind }: TargetResource, manifest: Json): Json {
  const given = memberOf(manifest, 'stringData');
  if (group !== '' || kind !== 'Secret' || !isRecord(given)) return manifest;
  const { stringData: _given, ...rest } = manifest;
  const encoded = Object.entries(given).map(([name, value]) => [
    name,
    typeof value === 'string' ? Buffer.from(value).toString('base64') : value,
  ]);
  return { ...rest, data: { ...recordOf(manifest['data']), ...Object.fromEntries(encoded) } };
}

/** The manifest with the label and the ownerReference of the set. */
export function markedManifest(manifest: Json, set: SetName, record: Pick<SetRecord, 'name' | 'uid'>): Json {
  const metadata = recordOf(manifest['metadata']) ?? {};
  const labels = { ...recordOf(metadata['labels']), [applySetLabels.partOf]: applySetId(set) };
  const others = list(metadata['ownerReferences']).filter((each) => recordOf(each)?.['uid'] !== record.uid);
  return {
    ...manifest,
    metadata: { ...metadata, labels, ownerReferences: [...others, ownerReferenceTo(record)] },
  };
}

/** The merge patch that takes the marks of the set off a member. @param live the member as it is */
export function unmarked(live: Json, { uid }: Pick<SetRecord, 'uid'>): Json {
  const owners = records(recordOf(live['metadata'])?.['ownerReferences']).filter((each) => each['uid'] !== uid);
  return {
    metadata: {
      labels: { [applySetLabels.partOf]: null },
      ownerReferences: owners.length === 0 ? null : owners,
    },
  };
}
