/**
 * An object with a user's edits. It is the three-way merge (merge/three-way-merge.ts) of the text for the editor, the text that came back,
 * and the object as it is.
 *
 * Not edited: the status, and members of metadata that the API server sets. An editor may leave them out.
 *
 * A value at a redacted path was never shown. Where the editor has none, the object keeps its own. Where the editor has one, that is meant.
 */
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { pathOfChange } from '../diff/field-changes.ts';
import { serverFieldsOfDeleted } from '../diff/server-fields.ts';
import { isWithheld, revealed, visible, withholdLeaves } from '../diff/withheld-values.ts';
import type { MergeSchema } from '../merge/merge-schema.ts';
import { type MergeConflict, threeWayMerge } from '../merge/three-way-merge.ts';
import { type WriteError, writeError } from '../outcome/write-error.ts';
import type { Json } from '../request/write-intent.ts';
import type { Answer } from '../send/send-write.ts';

interface EditSides {
  readonly base: Json;
  readonly edited: Json;
  readonly live: Json;
}

/** @param redacted paths of the kind whose values are never shown */
export function editedObject(
  { base, edited, live }: EditSides,
  schema: MergeSchema | null,
  redacted: readonly string[],
): Answer<{ readonly wanted: Json; readonly warnings: readonly string[] }> {
  const renamed = named.find((names) => {
    const [was, is, now] = [base, edited, live].map((object) => memberAt(object, names));
    return is !== undefined && is !== (was ?? now);
  });
  if (renamed !== undefined) {
    const path = renamed.join('.');
    return { error: writeError('IMMUTABLE', `An edit cannot change ${path}: create another object.`, path) };
  }
  const other = named.find((names) => {
    const [is, was] = [live, base].map((object) => memberAt(object, names));
    return was !== undefined && was !== is;
  });
  if (other !== undefined) {
    const path = other.join('.');
    return { error: writeError('STALE_OBJECT', `\`base\` is another object: its ${path} differs.`, path) };
  }
  const shown = withholdLeaves(live, redacted);
  const { merged, conflicts } = threeWayMerge(
    { base: withLiveParts(base, shown), edited: withLiveParts(edited, shown), live: shown },
    schema,
  );
  if (conflicts.length > 0) return { error: conflictError(conflicts) };
  const [before, after] = [base, edited].map((object) => JSON.stringify(object['status']));
  const isStatusEdited = after !== undefined && after !== before;
  const warnings = isStatusEdited ? ['The status was left as it is: the mutation `patch` writes subresources.'] : [];
  return { error: null, wanted: revealed(merged) as Json, warnings };
}

/** The fields that name an object. */
const named: readonly (readonly string[])[] = [
  ['apiVersion'],
  ['kind'],
  ['metadata', 'name'],
  ['metadata', 'namespace'],
  ['metadata', 'uid'],
];

function memberAt(object: Json, names: readonly string[]): unknown {
  return names.reduce<unknown>((value, name) => memberOf(recordOf(value) ?? {}, name), object);
}

const notEdited = new Set([...serverFieldsOfDeleted, 'name', 'namespace']);

/** The object with those parts of the live one that are not edited. */
function withLiveParts(object: Json, live: Json): Json {
  const { status, apiVersion, kind } = live;
  const own = Object.entries(recordOf(object['metadata']) ?? {}).filter(([name]) => !notEdited.has(name));
  const kept = Object.entries(recordOf(live['metadata']) ?? {}).filter(([name]) => notEdited.has(name));
  const { status: _status, ...rest } = object;
  return {
    ...rest,
    apiVersion,
    kind,
    ...(status === undefined ? {} : { status }),
    metadata: Object.fromEntries([...kept, ...own]),
  };
}

function conflictError(conflicts: readonly MergeConflict[]): WriteError {
  const edits = conflicts.map(({ steps, base, edited, live }) => ({
    path: pathOfChange(steps),
    base,
    edited,
    live: visible(live),
    isWithheld: isWithheld(live),
  }));
  const paths = edits.map(({ path }) => path);
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : '';
  return {
    ...writeError(
      'STALE_OBJECT',
      `${paths.slice(0, 3).join(', ')}${more} changed since the object was read: look at \`conflicts\`, and edit the object as it is now.`,
      paths[0] ?? null,
    ),
    edits,
  };
}
