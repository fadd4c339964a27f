/** The audit log of an API server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiServerOptions } from './control-plane-flags.ts';

export interface AuditEvent {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  /** The owner of the credentials. */
  readonly user: { readonly username: string };
  /** Absent without impersonation, and if impersonation was refused. */
  readonly impersonatedUser?: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
  };
  /** At the levels `Request` and `RequestResponse`. */
  readonly requestObject?: { readonly dryRun?: readonly string[] };
  /** At the level `RequestResponse`. */
  readonly responseObject?: object;
  readonly responseStatus?: { readonly code?: number };
}

/** The options of an API server that audits by this policy, into `audit.log` in the folder of its plane. */
export function auditedBy(policy: object): (dir: string) => ApiServerOptions {
  return (dir) => {
    const policyFile = join(dir, 'audit-policy.json');
    writeFileSync(policyFile, JSON.stringify(policy));
    return { audit: { policyFile, logFile: join(dir, 'audit.log') } };
  };
}

/** The events of a log with one JSON object in each line. The last line may be incomplete while the server writes. */
export function auditEvents(file: string): readonly AuditEvent[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AuditEvent);
}
