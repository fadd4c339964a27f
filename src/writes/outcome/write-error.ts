/**
 * Why a write failed, as data: one code for what a caller can do about it, with the words of the API server.
 *
 *   409, causes FieldManagerConflict      FIELD_CONFLICT, with managers and paths
 *   409, or 422 with metadata.uid,
 *   or of a test in a JSON patch          STALE_OBJECT
 *   404 of the path of a subresource      UNSUPPORTED
 *   403 by RBAC, quota, policy, webhook   DENIED, by whom
 *   422 "field is immutable"              IMMUTABLE
 *   422, 400, 500 of a wrong manifest     INVALID_FIELD, with the path where the server names it
 *   429 with the cause DisruptionBudget   DISRUPTION_BUDGET
 *   no answer after the request was sent,
 *   or 5xx but 503                        UNKNOWN: it may have been done
 *
 * Status, reason and causes decide where they can. Who denied a request stands only in the message, so its fixed words are read.
 */
import type { ApiError } from '../../kube/http/api-error.ts';

export const writeErrorCodes = {
  FIELD_CONFLICT: 'Another manager owns a field. `force` takes it.',
  STALE_OBJECT: 'The object is not the one, or not in the state, that the request names.',
  INVALID_FIELD: 'The API server refuses a value, or does not know a field.',
  IMMUTABLE: 'The field cannot be changed. Delete the object and create it again.',
  DENIED: 'RBAC, a quota, a policy or an admission webhook refuses the request.',
  NOT_FOUND: 'The object, its namespace or its kind does not exist.',
  ALREADY_EXISTS: 'An object of this name exists.',
  DISRUPTION_BUDGET: 'A PodDisruptionBudget does not allow the eviction now.',
  PLAN_CHANGED: 'What would change is not what was planned. Nothing was written to this object.',
  SKIPPED: 'The object no longer matches the filter, or an earlier item failed. Nothing was written to this object.',
  DATA_WITHHELD:
    'Portolan does not hold the values that the object had, such as the data of a Secret. Nothing was written to it.',
  TOO_LARGE: 'The objects of the mutation are too large together. Nothing was written to this object.',
  UNSUPPORTED: 'The kind does not have this verb, subresource or patch type.',
  UNAUTHENTICATED: "The API server does not accept the caller's credentials.",
  TOO_MANY_REQUESTS: 'The API server asks to try again later.',
  AUDIT_UNAVAILABLE: 'The audit log cannot be written. So nothing was written to the API server.',
  UNAVAILABLE: 'The API server cannot be reached, or failed. Nothing was written.',
  UNKNOWN: 'The request was sent, and no answer came. Look whether it was done.',
} as const;

export type WriteErrorCode = keyof typeof writeErrorCodes;

/** Who refused a request. */
type DeniedBy = 'RBAC' | 'ADMISSION' | 'QUOTA' | 'POLICY' | 'GATEWAY';

/** Another manager's claim on a field. */
interface ConflictingField {
  readonly manager: string;
  /** As the API server writes it, such as `.spec.replicas`. */
  readonly path: string;
}

/** A field that an edit and others have changed. Undefined: no value. */
interface EditConflict {
  readonly path: string;
  readonly base: unknown;
  readonly edited: unknown;
  readonly live: unknown;
  /** Something of the live value is not shown. */
  readonly isWithheld: boolean;
}

export interface WriteError {
  readonly code: WriteErrorCode;
  readonly message: string;
  /** The field, as the API server writes it; null where it names none. */
  readonly path: string | null;
  /** Of DENIED. */
  readonly by?: DeniedBy;
  /** Of FIELD_CONFLICT. */
  readonly conflicts?: readonly ConflictingField[];
  /** Of STALE_OBJECT, if an edit and others have changed the same fields. */
  readonly edits?: readonly EditConflict[];
  /** Of TOO_MANY_REQUESTS and DISRUPTION_BUDGET, if the API server says it. */
  readonly retryAfterSeconds?: number;
  /** The Status of the API server: code, reason, message, causes; null without one. */
  readonly status: Readonly<Record<string, unknown>> | null;
}

/** An error that Portolan itself found. */
export function writeError(code: WriteErrorCode, message: string, path: string | null = null): WriteError {
  return { code, message, path, status: null };
}

interface Sent {
  /** Was the uid of the object a precondition? */
  readonly holdsUid: boolean;
  /** Were there tests of the state of the object? Default: false. */
  readonly holdsTests?: boolean;
  readonly dryRun: boolean;
  /** That the request wrote; absent or null for the object itself. */
  readonly subresource?: string | null;
}

/** The error for the failure of a request. */
export function writeErrorOf(error: ApiError, sent: Sent): WriteError {
  const { httpStatus, reason, causes, details, retryAfterSeconds } = error;
  const status = (details['status'] ?? null) as WriteError['status'];
  const words = typeof status?.['message'] === 'string' ? status['message'] : error.message;
  const base = { message: words, path: causes.find(({ field }) => field !== '')?.field ?? null, status };
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const hasCause = (name: string): boolean => causes.some((cause) => cause.reason === name);
  switch (httpStatus) {
    case 0:
      return sent.dryRun || isUnsent(reason)
        ? { ...base, code: 'UNAVAILABLE', message: error.message }
        : { ...base, code: 'UNKNOWN', message: `${error.message} It may have been done: look at the object.` };
    case 401:
      return { ...base, code: 'UNAUTHENTICATED' };
    case 403:
      return { ...base, code: 'DENIED', by: denier(words) };
    case 404:
      return { ...base, ...absent(words, sent) };
    case 405:
    case 415:
      return { ...base, code: 'UNSUPPORTED' };
    case 409:
      if (hasCause('FieldManagerConflict')) return { ...base, code: 'FIELD_CONFLICT', conflicts: conflictsOf(causes) };
      return { ...base, code: reason === 'AlreadyExists' ? 'ALREADY_EXISTS' : 'STALE_OBJECT' };
    case 422:
      return { ...base, ...invalid(words, causes, sent) };
    case 429:
      return { ...base, ...wait, code: hasCause('DisruptionBudget') ? 'DISRUPTION_BUDGET' : 'TOO_MANY_REQUESTS' };
    default:
      return { ...base, ...other(httpStatus, words, sent) };
  }
}

/** A server answers 404 both for an object that is not there and for a path that it does not have. */
function absent(words: string, { subresource }: Sent): Pick<WriteError, 'code'> & { message?: string } {
  const isPath = words === 'the server could not find the requested resource';
  if (!isPath || typeof subresource !== 'string') return { code: 'NOT_FOUND' };
  return { code: 'UNSUPPORTED', message: `The kind has no subresource ${subresource}.` };
}

/** The system's errors before anything was sent. */
function isUnsent(reason: string): boolean {
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(
    reason,
  );
}

const byPolicy =
  /ValidatingAdmissionPolicy '|violates PodSecurity|(maximum|minimum) .* per (Container|Pod|PersistentVolumeClaim)/;

/** The words of RBAC about a request, about what an apply would create, and about a grant of rights. */
const byRbac = / cannot \S+ (resource|path) | is forbidden: (RBAC: .*)?$| is attempting to grant RBAC permissions /;

function denier(message: string): DeniedBy {
  if (/exceeded quota|insufficient quota/.test(message)) return 'QUOTA';
  if (byPolicy.test(message)) return 'POLICY';
  if (byRbac.test(message)) return 'RBAC';
  return 'ADMISSION';
}

function invalid(
  message: string,
  causes: ApiError['causes'],
  { holdsUid, holdsTests = false }: Sent,
): Pick<WriteError, 'code' | 'by'> & { path?: string } {
  // The API server does not tell the fault of a JSON patch.
  if (holdsTests && causes.length === 0 && /due to an error in our request/.test(message))
    return { code: 'STALE_OBJECT' };
  if (holdsUid && causes.some(({ field }) => field === 'metadata.uid')) return { code: 'STALE_OBJECT' };
  if (byPolicy.test(message)) return { code: 'DENIED', by: 'POLICY' };
  const fixed = causes.find((cause) =>
    /field is immutable|may not be (changed|updated)|updates to .* are forbidden/i.test(cause.message),
  );
  return fixed === undefined ? { code: 'INVALID_FIELD' } : { code: 'IMMUTABLE', path: fixed.field };
}

const refusedUser =
  /^[\w./-]+(?: "(?:[^"\\]|\\.)*")? is forbidden: User "(?:[^"\\]|\\.)*" cannot \S+ (?:resource|path) "/;

/** Was the request refused before the API server looked at any object, so that the words quote none? */
export function isUnauthorized({ code, message }: WriteError): boolean {
  return code === 'DENIED' && refusedUser.test(message);
}

/** Statuses whose reason is only in the text. */
function other(
  httpStatus: number,
  message: string,
  { dryRun }: Sent,
): Pick<WriteError, 'code' | 'by'> & { path?: string; message?: string } {
  // A resourceVersion that is no number is read before anything is written, and the object has another one.
  const version = /^strconv\.ParseUint: parsing (".*"): [a-z ]+$/.exec(message)?.[1];
  if (version !== undefined) {
    return { code: 'STALE_OBJECT', message: `The object has another resourceVersion than ${version}.` };
  }
  if (/admission webhook "[^"]*" denied the request/.test(message)) return { code: 'DENIED', by: 'ADMISSION' };
  const undeclared = /(?:unknown|duplicate) field "([^"]+)"|(\.[^\s:]+): field not declared in schema/.exec(message);
  if (undeclared !== null) return { code: 'INVALID_FIELD', path: undeclared[1] ?? undeclared[2] ?? '' };
  // Server-side apply answers 500 for a manifest that does not fit the types of the kind.
  const untyped = /failed to create typed patch object(?: \([^)]*\))?: (?:(\.\S+): )?/.exec(message);
  if (untyped !== null) return { code: 'INVALID_FIELD', ...(untyped[1] === undefined ? {} : { path: untyped[1] }) };
  if (/more than one PodDisruptionBudget/.test(message)) return { code: 'DISRUPTION_BUDGET' };
  if (/does not match the name on the URL/.test(message)) return { code: 'INVALID_FIELD', path: 'metadata.name' };
  if (/does not match the namespace/.test(message)) return { code: 'INVALID_FIELD', path: 'metadata.namespace' };
  if (httpStatus >= 400 && httpStatus < 500) return { code: 'INVALID_FIELD' };
  // 503 is sent before a request is handled. After another failure, or an answer that is none, the object may have been written.
  return { code: dryRun || httpStatus === 503 ? 'UNAVAILABLE' : 'UNKNOWN' };
}

/** `conflict with "kubectl" using apps/v1 at 2026-…`; older servers write the same without a time. Quotes in a name are escaped. */
function conflictsOf(causes: ApiError['causes']): readonly ConflictingField[] {
  return causes
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ message, field }) => ({
      manager: (/conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? '').replace(/\\(.)/g, '$1'),
      path: field,
    }));
}
