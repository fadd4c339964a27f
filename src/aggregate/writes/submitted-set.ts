/**
 * A set as a client submits it: the body of a POST or PUT, or the result of a patch.
 *
 *   metadata.name, labels, annotations, finalizers   those of the record
 *   metadata.uid, resourceVersion                    the state that the client has seen
 *   spec.flowList                                    the members: each an object with apiVersion, kind and a name of its own
 *   status, and what else the server writes          left out
 *
 * An unknown field of the set is an error with fieldValidation=Strict, else a warning. The API server checks the fields of the members.
 */
import { isRecord, list, strings, text } from '../../base/json.ts';
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { type SubmittedMetadata, withoutMarks } from '../../sets/record/record-keeper.ts';
import { nameProblem } from '../../sets/record/set-names.ts';
import { lastAppliedAnnotation } from '../../writes/diff/withheld-values.ts';
import { apiVersionOf, kind, plural, type ServedApi } from '../protocol/served-api.ts';
import { type StatusCause, statusError } from '../protocol/status.ts';
import type { SetWriteOptions } from './write-options.ts';

type Json = Readonly<Record<string, unknown>>;

export interface SubmittedSet {
  /** Null where the body has none. */
  readonly name: string | null;
  readonly generateName: string | null;
  readonly uid: string | null;
  readonly resourceVersion: string | null;
  readonly metadata: SubmittedMetadata;
  /** Null where the body has none. `kept` of a patch that changes nothing of it. */
  readonly flowList: readonly Json[] | 'kept' | null;
  /** Of fields that are left out. */
  readonly warnings: readonly string[];
}

/** Take objects that exist and are members of no set? An annotation of the set says so. */
export const adoptAnnotation = 'shadow.portolan.dev/adopt';

const known = {
  '': ['apiVersion', 'kind', 'metadata', 'spec', 'status'],
  'metadata.': [
    ...['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'labels', 'annotations', 'finalizers'],
    ...['generation', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'],
    ...['managedFields', 'ownerReferences'],
  ],
  'spec.': ['flowList'],
} as const;

interface Place {
  readonly api: ServedApi;
  readonly namespace: string;
  /** Null for a POST. */
  readonly name: string | null;
}

/** @throws PortolanError that means 400 or 422. */
export function submittedSet(
  body: unknown,
  place: Place,
  { validation }: Pick<SetWriteOptions, 'validation'>,
): SubmittedSet {
  if (!isRecord(body)) throw statusError('BadRequest', 'the body is no object');
  requireKind(body, place.api);
  for (const each of ['metadata', 'spec']) {
    if (!isRecord(body[each] ?? {})) throw statusError('BadRequest', `${each} of the body is no object`);
  }
  const metadata = recordOf(body['metadata']) ?? {};
  const spec = recordOf(body['spec']) ?? {};
  const unknown = [...unknownIn(body, ''), ...unknownIn(metadata, 'metadata.'), ...unknownIn(spec, 'spec.')];
  if (validation === 'Strict' && unknown.length > 0) {
    const fields = unknown.map((field) => `unknown field ${JSON.stringify(field)}`).join(', ');
    throw statusError('BadRequest', `strict decoding error: ${fields}`);
  }
  const name = text(metadata['name']) ?? null;
  if (place.name !== null && name !== null && name !== place.name) {
    const problem = 'does not match the name on the URL';
    throw statusError('BadRequest', `the name of the object (${name}) ${problem} (${place.name})`);
  }
  const namespace = text(metadata['namespace']) ?? place.namespace;
  if (namespace !== place.namespace) {
    throw statusError(
      'BadRequest',
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  const generateName = text(metadata['generateName']) ?? null;
  const causes = [
    ...nameProblems(place.name ?? name, generateName),
    ...textsIn(metadata, 'labels'),
    ...textsIn(metadata, 'annotations'),
    ...flowListProblems(memberOf(spec, 'flowList'), namespace),
  ];
  if (causes.length > 0) throw invalidSet(place.api, name ?? place.name ?? generateName ?? '', causes);
  const annotations = recordOf(metadata['annotations']) ?? {};
  const owners = list(metadata['ownerReferences']).length > 0 ? ['metadata.ownerReferences is left out'] : [];
  const leftOut = validation === 'Warn' ? unknown.map((field) => `unknown field ${JSON.stringify(field)}`) : [];
  return {
    name,
    generateName,
    uid: text(metadata['uid']) ?? null,
    resourceVersion: text(metadata['resourceVersion']) ?? null,
    metadata: {
      labels: withoutMarks(recordOf(metadata['labels']) ?? {}) as Readonly<Record<string, string>>,
      annotations: withoutMarks(annotations) as Readonly<Record<string, string>>,
      finalizers: strings(metadata['finalizers']),
      lastApplied: text(annotations[lastAppliedAnnotation]) ?? null,
    },
    flowList: (memberOf(spec, 'flowList') ?? null) as readonly Json[] | null,
    warnings: [...leftOut, ...owners],
  };
}

/** The 422 of a set. Clients show the causes with their fields. */
export function invalidSet(api: ServedApi, name: string, causes: readonly StatusCause[]): Error {
  const lines = causes.map(({ field = '', message }) => (field === '' ? message : `${field}: ${message}`));
  const words = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const details = { name, group: api.group, kind, causes };
  return statusError('Invalid', `${kind}.${api.group} ${JSON.stringify(name)} is invalid: ${words}`, details);
}

function requireKind({ apiVersion, kind: given }: Json, api: ServedApi): void {
  const wanted = apiVersionOf(api);
  if ((apiVersion ?? '') !== '' && apiVersion !== wanted) {
    throw statusError(
      'BadRequest',
      `the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`,
    );
  }
  if ((given ?? '') === '' || given === kind) return;
  throw statusError('BadRequest', `${given} in the data does not match the expected kind ${kind} of ${plural}`);
}

function unknownIn(object: Json, prefix: keyof typeof known): readonly string[] {
  const names: readonly string[] = known[prefix];
  return Object.keys(object).flatMap((name) => (names.includes(name) ? [] : [`${prefix}${name}`]));
}

function cause(field: string, message: string): StatusCause {
  return { reason: 'FieldValueInvalid', field, message };
}

function nameProblems(name: string | null, generateName: string | null): readonly StatusCause[] {
  if (name === null && generateName === null) return [cause('metadata.name', 'name or generateName is required')];
  // A generated name has more letters at its end.
  const problem = nameProblem(name ?? `${generateName}a`);
  return problem === null ? [] : [cause(name === null ? 'metadata.generateName' : 'metadata.name', problem)];
}

function textsIn(metadata: Json, name: 'labels' | 'annotations'): readonly StatusCause[] {
  const value = metadata[name] ?? {};
  const isMap = isRecord(value) && Object.values(value).every((each) => typeof each === 'string');
  return isMap ? [] : [cause(`metadata.${name}`, 'must be a map of strings')];
}

function flowListProblems(value: unknown, namespace: string): readonly StatusCause[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [cause('spec.flowList', 'must be a list of objects')];
  const seen = new Set<string>();
  return value.flatMap((entry: unknown, index) => {
    const field = `spec.flowList[${index}]`;
    if (!isRecord(entry)) return [cause(field, 'must be an object')];
    const metadata = recordOf(entry['metadata']) ?? {};
    const missing = ['apiVersion', 'kind'].filter((name) => text(entry[name]) === undefined);
    const problems = missing.map((name) => cause(`${field}.${name}`, 'Required value'));
    if (text(metadata['name']) === undefined) problems.push(cause(`${field}.metadata.name`, 'Required value'));
    const own = metadata['namespace'] ?? namespace;
    if (own !== '' && own !== namespace) {
      problems.push(cause(`${field}.metadata.namespace`, `must be ${namespace}, the namespace of the set`));
    }
    if (Array.isArray(entry['items']) && text(entry['kind'])?.endsWith('List') === true) {
      problems.push(cause(`${field}.kind`, 'a list is no member: submit its items'));
    }
    if (problems.length > 0) return problems;
    const key = entryKey(entry);
    if (seen.has(key)) return [cause(field, 'Duplicate value: the object is in the set already')];
    seen.add(key);
    return [];
  });
}

/** A text that tells the objects of one namespace apart. */
export function entryKey(entry: Json): string {
  const apiVersion = text(entry['apiVersion']) ?? '';
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return `${group}/${text(entry['kind'])}/${text(recordOf(entry['metadata'])?.['name'])}`;
}
