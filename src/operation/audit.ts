/**
 * Denials for an audit: who was refused what, and when. A later release adds writes.
 *
 *   {"time":"2026-01-31T12:00:00.000Z","event":"denied","code":"FORBIDDEN","user":"jane","groups":["devs"],"resources":["secrets"],…}
 *
 * Never: writes a token, a header, the values of a filter or the content of an object.
 */
import type { Caller } from '../access/caller.ts';

/** A request or a part of one that was refused. */
export interface Denial {
  /** Null where the caller is not known. */
  readonly caller: Caller | null;
  readonly code: string;
  readonly message: string;
  /** The remote address; null where there is none. */
  readonly address: string | null;
  /** The operation's name in its document. */
  readonly operation?: string | null;
  /** The response path of the field. */
  readonly path?: readonly (string | number)[];
  /** resourceKeys */
  readonly resources?: readonly string[];
  /** That of the request; null without tracing. */
  readonly traceId?: string | null;
}

export interface AuditLog {
  denied(denial: Denial): void;
}

/** Codes of errors that are denials. */
export const denialCodes: ReadonlySet<string> = new Set(['FORBIDDEN', 'UNAUTHENTICATED']);

export const noAudit: AuditLog = { denied() {} };

/** Lines of denials in a second. Anybody can cause them, so more are counted in one line. */
const mostPerSecond = 100;

/** Lines of JSON for `write`, each with its line break. @param now milliseconds since the epoch */
export function auditLines(write: (line: string) => void, now: () => number): AuditLog {
  let second = 0;
  let lines = 0;
  let left = 0;
  const put = (entry: object): void => write(`${JSON.stringify({ time: new Date(now()).toISOString(), ...entry })}\n`);
  return {
    denied({ caller, code, message, address, operation, path, resources, traceId }) {
      const current = Math.floor(now() / 1000);
      if (current !== second) {
        if (left > 0) put({ event: 'left out', denials: left });
        [second, lines, left] = [current, 0, 0];
      }
      if (lines >= mostPerSecond) {
        left += 1;
        return;
      }
      lines += 1;
      put({
        event: 'denied',
        code,
        user: caller?.user?.user ?? null,
        groups: caller?.user?.groups ?? [],
        address,
        ...(operation == null ? {} : { operation }),
        ...(path === undefined ? {} : { path: path.join('.') }),
        ...(resources === undefined ? {} : { resources }),
        ...(traceId == null ? {} : { traceId }),
        message,
      });
    },
  };
}
