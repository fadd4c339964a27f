/**
 * A request whose caller is known. Every entry point has one for each operation. It counts and charges the operation, and writes its denial
 * to the audit.
 *
 *   Admission.admit(arrival) -> enter (in flight until the answer is sent) -> charge (what it costs) -> … -> leave
 *                                                                                             error -> denied (audit)
 */
import type { Authenticate, Caller, Credentials } from '../access/caller.ts';
import { noSpan, type Span } from '../base/tracing.ts';
import { type AuditLog, type Denial, denialCodes } from './audit.ts';
import type { CallerLimits, Counted } from './caller-limits.ts';
import { keepValid } from './keep-valid.ts';

/** A request as an entry point gets it. */
export interface Arrival {
  readonly credentials: Credentials;
  /** The remote address; null where there is none. */
  readonly address: string | null;
  readonly span?: Span | undefined;
  /** The path of its URL, for the audit. Absent for GraphQL, whose denials name fields. */
  readonly path?: string | undefined;
  /** The door answers every caller, so no answer is a denial. Callers with rights get a longer answer. */
  readonly isPublic?: boolean;
}

/** Where an operation was denied. */
type DeniedAt = Pick<Denial, 'operation' | 'path'>;

interface Parts {
  readonly limits: CallerLimits;
  readonly audit: AuditLog;
  readonly authenticate: Authenticate;
}

export class AdmittedRequest {
  readonly caller: Caller;
  readonly credentials: Credentials;
  readonly span: Span;
  readonly #arrival: Arrival;
  readonly #parts: Parts;

  constructor(caller: Caller, arrival: Arrival, parts: Parts) {
    this.caller = caller;
    this.credentials = arrival.credentials;
    this.span = arrival.span ?? noSpan;
    this.#arrival = arrival;
    this.#parts = parts;
  }

  /** The same caller, for a message of a connection. */
  message(span: Span): AdmittedRequest {
    return new AdmittedRequest(this.caller, { ...this.#arrival, span }, this.#parts);
  }

  /** Counts one more for the caller until the returned function is called. @throws PortolanError TOO_MANY_REQUESTS */
  enter(what: Counted): () => void {
    return this.#parts.limits.enter(this.caller, what);
  }

  /** Counts values that the request asks for. @throws PortolanError TOO_MANY_REQUESTS */
  charge(values: number): void {
    this.#parts.limits.charge(this.caller, values);
  }

  /** Counts values that the answer turned out to cost. */
  add(values: number): void {
    this.#parts.limits.add(this.caller, values);
  }

  /** Tells the audit of an error, if it is a denial. */
  denied(error: Refusal, at: DeniedAt = {}): void {
    auditDenial(this.#parts.audit, error, this.caller, this.#arrival, at);
  }

  /**
   * Checks the credentials again and again, until the returned function is called.
   * @param onInvalid is called once, after the audit was told.
   */
  keepValid(onInvalid: (message: string) => void, what: string, everyMs?: number): () => void {
    const invalid = (): void => {
      const message = `The credentials of the ${what} are no longer valid.`;
      this.denied({ code: 'UNAUTHENTICATED', message });
      onInvalid(message);
    };
    return keepValid(this.#parts.authenticate, this.credentials, this.caller, invalid, everyMs);
  }
}

/** The error of a denial. */
interface Refusal {
  readonly code: string;
  readonly message: string;
  /** Of the error that the code comes from. `resources` are resourceKeys. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Tells the audit of an error, if it is a denial. @param caller null where the caller is not known */
export function auditDenial(
  audit: AuditLog,
  { code, message, details = {} }: Refusal,
  caller: Caller | null,
  { address, span = noSpan, path, isPublic = false }: Omit<Arrival, 'credentials'>,
  at: DeniedAt = {},
): void {
  if (isPublic || !denialCodes.has(code)) return;
  const { resources } = details as { readonly resources?: readonly string[] };
  audit.denied({
    caller,
    code,
    message,
    address,
    ...(path === undefined ? {} : { path: [path] }),
    ...at,
    ...(resources === undefined ? {} : { resources }),
    traceId: span.traceId,
  });
}
