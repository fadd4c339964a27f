/**
 * The Status of a write that was refused, or that did not end: the first error decides the status, and each error is a cause.
 *
 *   item of flowList[1]  DENIED          403 Forbidden   cause: spec.flowList[1], in the words of the API server
 *   item of flowList[0]  FIELD_CONFLICT  409 Conflict    a cause for each field: spec.flowList[0].data.a
 *   the record           its own errors, in terms of the set
 *
 * Items that were skipped because of others are no causes.
 */
import { PortolanError } from '../../base/errors.ts';
import { records, text } from '../../base/json.ts';
import { must } from '../../base/must.ts';
import { recordResource } from '../../sets/record/set-record.ts';
import { lastAppliedAnnotation } from '../../writes/diff/withheld-values.ts';
import type { WriteError, WriteErrorCode } from '../../writes/outcome/write-error.ts';
import type { WriteReport } from '../../writes/session/session-report.ts';
import { kind, plural, resourceOf, type ServedApi } from '../protocol/served-api.ts';
import { type StatusCause, type StatusReason, statusError } from '../protocol/status.ts';
import { adoptAnnotation, invalidSet } from './submitted-set.ts';

const statuses: Readonly<Record<WriteErrorCode, StatusReason>> = {
  FIELD_CONFLICT: 'Conflict',
  STALE_OBJECT: 'Conflict',
  INVALID_FIELD: 'Invalid',
  IMMUTABLE: 'Invalid',
  DENIED: 'Forbidden',
  NOT_FOUND: 'Invalid',
  ALREADY_EXISTS: 'AlreadyExists',
  DISRUPTION_BUDGET: 'TooManyRequests',
  PLAN_CHANGED: 'Conflict',
  DATA_WITHHELD: 'Conflict',
  SKIPPED: 'Timeout',
  TOO_LARGE: 'RequestEntityTooLarge',
  UNSUPPORTED: 'Invalid',
  UNAUTHENTICATED: 'Forbidden',
  TOO_MANY_REQUESTS: 'TooManyRequests',
  AUDIT_UNAVAILABLE: 'ServiceUnavailable',
  UNAVAILABLE: 'ServiceUnavailable',
  UNKNOWN: 'Timeout',
};

/** An error of one item, and where the client has it. */
interface Placed {
  readonly error: WriteError;
  /** `spec.flowList[1]`; null for a member that leaves, and for the record. */
  readonly field: string | null;
  /** `ConfigMap settings`; null for the record. */
  readonly member: string | null;
}

interface Submitted {
  readonly name: string;
  /** The places in flowList of the first items; the others are members that leave, and the record at the end. */
  readonly places: readonly number[];
}

/** Null if everything was done. */
export function refusalOf(api: ServedApi, { name, places }: Submitted, report: WriteReport): Error | null {
  const last = report.items.length - 1;
  const all = report.items.flatMap(({ errors, intent: { target } }, index): readonly Placed[] => {
    const place = index === last ? undefined : places[index];
    const field = place === undefined ? null : `spec.flowList[${place}]`;
    const member = index === last ? null : `${target.resource.kind} ${target.name}`;
    return errors.map((error) => ({ error, field, member }));
  });
  const own = all.filter(({ error }) => error.code !== 'SKIPPED');
  const errors = own.length > 0 ? own : all;
  const [first] = errors;
  if (first === undefined) return null;
  const reason = statuses[first.error.code];
  const written = report.items.filter(
    ({ written: at, result }, index) => index < last && at !== null && result !== 'REVERTED',
  );
  const begun = written.length === 0 ? '' : ` ${written.length} members were written: send it again to go on.`;
  if (first.member === null) return refusalOfRecord(api, name, first.error);
  const causes = errors.flatMap(causesOf);
  if (reason === 'Invalid') return invalidSet(api, name, causes);
  const details = { name, group: api.group, kind: plural, causes, ...waitOf(first.error) };
  if (first.error.code === 'FIELD_CONFLICT') {
    return statusError('Conflict', `${conflictWords(errors)}${begun}`, { ...details, kind });
  }
  const words = errors.map(({ error, field, member }) => {
    const hint = error.message.includes('`adopt: true`')
      ? ` Here, that is the annotation ${adoptAnnotation}: "true" of the set.`
      : '';
    const where = member === null ? 'the record of the set' : `${field === null ? '' : `${field}, `}${member}`;
    return `${where}: ${error.message}${hint}`;
  });
  return statusError(reason, `${words.join('; ')}${begun}`, details);
}

/** The error of a document that is no manifest, as one of its place in flowList. */
export function placedError(api: ServedApi, { name, places }: Submitted, error: unknown): unknown {
  if (!(error instanceof PortolanError) || error.code !== 'BAD_USER_INPUT') return error;
  const [, index, message] = /^docs\[(\d+)\]:? (.*)$/s.exec(error.message) ?? [];
  const place = places[Number(index)];
  if (place === undefined || message === undefined) return error;
  return invalidSet(api, name, [{ reason: 'FieldValueInvalid', field: `spec.flowList[${place}]`, message }]);
}

/** Has somebody else written the record, so that nothing was written? */
export function isOvertaken(report: WriteReport): boolean {
  const record = must(report.items.at(-1), 'the item of the record');
  return record.errors[0]?.code === 'STALE_OBJECT' && report.items.every(({ written }) => written === null);
}

/** One line for all warnings. Null without any. */
export function warningLine(warnings: readonly string[]): string | null {
  const all = [...new Set(warnings)];
  const [only] = all;
  if (only === undefined) return null;
  const shown = all.length === 1 ? only : `${all.length} warnings: ${all.slice(0, 5).join('; ')}`;
  return `299 - "${shown.replace(/[^\x20-\x7e]+/g, ' ').replace(/["\\]/g, '\\$&')}"`;
}

/** The error of the record in terms of the set. */
function refusalOfRecord(api: ServedApi, name: string, error: WriteError): Error {
  const details = { name, group: api.group, kind: plural, ...waitOf(error) };
  if (error.code === 'STALE_OBJECT' && error.status === null) {
    return statusError(
      'Conflict',
      `Operation cannot be fulfilled on ${resourceOf(api)} ${JSON.stringify(name)}: ${error.message}`,
      details,
    );
  }
  if (error.code === 'ALREADY_EXISTS') {
    return statusError('AlreadyExists', `${resourceOf(api)} ${JSON.stringify(name)} already exists`, details);
  }
  const ofRecords = `${recordResource.plural}.${recordResource.group}`;
  const message = error.message
    .replaceAll(ofRecords, resourceOf(api))
    .replaceAll(`${recordResource.kind}.${recordResource.group}`, `${kind}.${api.group}`);
  const reason = error.code === 'NOT_FOUND' ? 'NotFound' : statuses[error.code];
  // kubectl shows the causes of an invalid object, and not its message.
  if (reason === 'Invalid') {
    // The beginning of the message of an API server. `invalidSet` writes it again.
    const beginning = `${kind}.${api.group} ${JSON.stringify(name)} is invalid: `;
    const why = message.startsWith(beginning) ? message.slice(beginning.length) : message;
    return invalidSet(api, name, recordCauses(error, why));
  }
  return statusError(reason, message, details);
}

/** @param message in terms of the set, for an error without causes */
function recordCauses({ code, path, status }: WriteError, message: string): readonly StatusCause[] {
  const causes = records(status?.['causes']).map((cause): StatusCause => {
    const [reason, field, words] = [text(cause['reason']), text(cause['field']), text(cause['message'])];
    return { reason: reason ?? 'FieldValueInvalid', field: field ?? '', message: words ?? message };
  });
  const field = path ?? (code === 'UNSUPPORTED' ? '' : 'metadata');
  const all = causes.length > 0 ? causes : [{ reason: 'FieldValueInvalid', field, message }];
  return all.map((cause) =>
    cause.field === 'spec.lastApplied'
      ? {
          ...cause,
          field: `metadata.annotations[${lastAppliedAnnotation}]`,
          message: `${cause.message}: use \`kubectl apply --server-side\``,
        }
      : cause,
  );
}

function waitOf({ retryAfterSeconds }: WriteError): { readonly retryAfterSeconds?: number } {
  return retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
}

function causesOf({ error, field, member }: Placed): readonly StatusCause[] {
  const at = field ?? member ?? '';
  if (error.conflicts !== undefined) {
    return error.conflicts.map(({ manager, path }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${JSON.stringify(manager)}`,
      field: fieldAt(at, path),
    }));
  }
  return [
    { reason: causeReasons[error.code] ?? 'FieldValueInvalid', message: error.message, field: fieldAt(at, error.path) },
  ];
}

const causeReasons: Readonly<Partial<Record<WriteErrorCode, string>>> = {
  DENIED: 'FieldValueForbidden',
  ALREADY_EXISTS: 'FieldValueDuplicate',
  NOT_FOUND: 'FieldValueNotFound',
  UNSUPPORTED: 'FieldValueNotSupported',
};

function fieldAt(at: string, path: string | null): string {
  if (path === null || path === '') return at;
  return path.startsWith('.') || path.startsWith('[') ? `${at}${path}` : `${at}.${path}`;
}

/** As an API server says it, with the fields of the set. */
function conflictWords(errors: readonly Placed[]): string {
  const conflicts = errors.flatMap(causesOf).filter(({ reason }) => reason === 'FieldManagerConflict');
  const [first] = conflicts;
  if (conflicts.length === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: ${first.message}: ${first.field}`;
  }
  const lines = conflicts.map(({ message, field }) => `- ${message}: ${field}`);
  return `Apply failed with ${conflicts.length} conflicts:\n${lines.join('\n')}`;
}
