/** Five users and a service account who write in tests, and the lines that they leave in the audit log of an API server. */
import { readFileSync } from 'node:fs';

export interface WritingUser {
  readonly user: string;
  /** Without those that the API server adds by itself. */
  readonly groups: readonly string[];
}

export const writingUsers: readonly WritingUser[] = [
  { user: 'alice', groups: [] },
  { user: 'bob', groups: ['devs'] },
  { user: 'carol', groups: ['team a', 'oidc:team-b'] },
  { user: 'dörte', groups: ['devs'] },
  { user: 'mallory', groups: ['guests'] },
];

/** The service account `robot` of the namespace `shop`. */
export const robot = 'system:serviceaccount:shop:robot';

export interface AuditedUser {
  readonly username: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A request in the audit log. */
export interface AuditedRequest {
  /** Whose credentials the request had. */
  readonly user: AuditedUser;
  /** In whose name it was sent; absent without impersonation, and if that was refused. */
  readonly impersonatedUser?: AuditedUser;
  readonly verb: string;
  readonly objectRef: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus: { readonly code: number; readonly message?: string };
}

/** The requests in the audit log, in the order of their ends. */
export function auditedRequests(logFile: string): readonly AuditedRequest[] {
  const lines = readFileSync(logFile, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as AuditedRequest);
}
