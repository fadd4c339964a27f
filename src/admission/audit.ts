/**
 * Lines of an audit: who was refused what, and when; who writes what, before and after the request.
 *
 *   {"time":"2026-01-31T12:00:00.000Z","event":"denied","code":"FORBIDDEN","user":"jane","groups":["devs"],"resources":["secrets"],…}
 *   {"time":"…","event":"left out","since":"…","code":"UNAUTHENTICATED","user":null,"denials":19874}
 *   {"time":"…","event":"write","stage":"intended","verb":"apply","user":"jane",…,"resource":"deployments.apps","name":"web",…}
 *
 * Anybody can cause denials, so there are budgets of lines for each second, and a line has at most a few kilobytes. Known users and unknown
 * callers have budgets apart, so a caller without credentials takes no line from a user.
 *
 *   denial -> budget of the user, or of the address   -> within both: a line
 *          -> budget of all users, or of all unknown  -> else: counted by code and user, and told a second later
 *
 * Lines of writes have no budget: callers have a bound of writes (caller-limits.ts), and a write without its line must not be.
 *
 * Never: writes a token, a header, the values of a filter or the content of an object.
 */
import type { Caller, UserInfo } from '../access/caller.ts';
import type { WriteNote } from '../operation/write-access.ts';

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

/** How the audit log fares; see src/cli/serving/audit-file.ts. */
export interface AuditFacts {
  readonly isWritable: boolean;
  /** Lines since the start. */
  readonly written: number;
  readonly missing: number;
}

/** Codes of errors that are denials. */
export const denialCodes: ReadonlySet<string> = new Set(['FORBIDDEN', 'UNAUTHENTICATED']);

export const noAudit: AuditLog = { denied() {} };

/** Lines in a second: of one user and of all users; without a known user, of one address and of all addresses. */
const mostOfUser = 100;
const mostOfUsers = 1000;
const mostOfAddress = 20;
const mostOfAddresses = 100;
/** Combinations of code and user that are counted apart among the denials that were left out. */
const mostLeftOut = 1000;
const everyMs = 1000;
/** Characters of a text that a request chose, and resources of a line. */
const longestText = 300;
const mostResources = 50;
/** Changed paths of a line. */
const mostPaths = 100;

interface AuditLinesOptions {
  /** Gets lines of JSON, each with its line break. */
  readonly write: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls back after this many milliseconds. */
  readonly later: (ms: number, callback: () => void) => void;
}

interface LeftOut {
  readonly code: string;
  readonly user: string | null;
  /** Of users who are not told apart any more. */
  readonly ofOthers: boolean;
  denials: number;
}

/** The audit as lines of JSON. `flush` tells what was left out until now. */
export function auditLines(options: AuditLinesOptions): AuditLog & { flush(): void } {
  const { write, now, later } = options;
  let began = Number.NEGATIVE_INFINITY;
  const lines = new Map<string, number>();
  const leftOut = new Map<string, LeftOut>();
  let leftOutSince = 0;

  const put = (entry: object): void => write(`${JSON.stringify({ time: timeOf(now()), ...entry })}\n`);
  const flush = (): void => {
    const since = timeOf(leftOutSince);
    const found = [...leftOut.values()];
    leftOut.clear();
    for (const { code, user, ofOthers, denials } of found) {
      put({ event: 'left out', since, code, user, ...(ofOthers ? { users: 'others' } : {}), denials });
    }
  };
  const leaveOut = ({ caller, code }: Denial): void => {
    if (leftOut.size === 0) {
      leftOutSince = now();
      later(everyMs, flush);
    }
    const user = caller?.user?.user ?? null;
    const own = JSON.stringify([code, user]);
    const isTold = leftOut.has(own) || leftOut.size < mostLeftOut || user === null;
    const key = isTold ? own : JSON.stringify([code, null, 'others']);
    const known = leftOut.get(key) ?? { code, user: isTold ? user : null, ofOthers: !isTold, denials: 0 };
    known.denials += 1;
    leftOut.set(key, known);
  };
  /** Takes a line of both budgets, unless one of them is used up. */
  const isWithin = (own: string, mostOfOwn: number, all: string, mostOfAll: number): boolean => {
    const at = now();
    if (at < began || at >= began + everyMs) {
      began = at;
      lines.clear();
    }
    const [ofOwn, ofAll] = [lines.get(own) ?? 0, lines.get(all) ?? 0];
    if (ofOwn >= mostOfOwn || ofAll >= mostOfAll) return false;
    lines.set(own, ofOwn + 1);
    lines.set(all, ofAll + 1);
    return true;
  };

  return {
    flush,
    denied(denial) {
      const { caller, code, message, address, operation, path, resources, traceId } = denial;
      const user = caller?.user ?? null;
      const hasLine =
        user === null
          ? isWithin(`address ${networkOf(address)}`, mostOfAddress, 'addresses', mostOfAddresses)
          : isWithin(`user ${user.user}`, mostOfUser, 'users', mostOfUsers);
      if (!hasLine) return leaveOut(denial);
      put({
        event: 'denied',
        code,
        ...userMembers(user),
        address,
        ...(operation == null ? {} : { operation: shortened(operation) }),
        ...(path === undefined ? {} : { path: shortened(path.join('.')) }),
        ...(resources === undefined ? {} : { resources: resources.slice(0, mostResources).map(shortened) }),
        ...(traceId == null ? {} : { traceId }),
        message: shortened(message),
      });
    },
  };
}

/** The line of a write. */
export function writeLine(note: WriteNote, now: number): string {
  const { stage, caller, operation, verb, dryRun, planId, requestId, outcome, changedPaths = [] } = note;
  const { cluster, resource, namespace, name, subresource } = note;
  const entry = {
    time: timeOf(now),
    event: 'write',
    stage,
    ...userMembers(caller.user),
    ...(caller.user === null || caller.user.uid === '' ? {} : { uid: caller.user.uid }),
    ...(operation === null ? {} : { operation: shortened(operation) }),
    verb,
    dryRun,
    ...(planId === null ? {} : { planId: shortened(planId) }),
    ...(requestId === null ? {} : { requestId: shortened(requestId) }),
    cluster,
    resource: shortened(resource),
    namespace,
    name,
    ...(subresource === null ? {} : { subresource: shortened(subresource) }),
    ...(outcome === undefined ? {} : { outcome: shortened(outcome) }),
    ...(changedPaths.length === 0 ? {} : { changedPaths: changedPaths.slice(0, mostPaths).map(shortened) }),
    ...(changedPaths.length <= mostPaths ? {} : { morePaths: changedPaths.length - mostPaths }),
  };
  return `${JSON.stringify(entry)}\n`;
}

/** Null is the local user of a gateway without authentication, or a caller who is not known. */
function userMembers(user: UserInfo | null): object {
  return {
    user: user?.user ?? null,
    groups: user?.groups ?? [],
    ...(user === null || Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }),
  };
}

function shortened(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}…`;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** One machine has all addresses of an IPv6 network of 64 bits. */
function networkOf(address: string | null): string {
  if (address === null || !address.includes(':') || address.startsWith('::ffff:')) return address ?? '';
  const [before = '', after = ''] = address.split('::', 2);
  const parts = before === '' ? [] : before.split(':');
  const rest = after === '' ? [] : after.split(':');
  const zeros = address.includes('::') ? Array<string>(Math.max(0, 8 - parts.length - rest.length)).fill('0') : [];
  return [...parts, ...zeros, ...rest].slice(0, 4).join(':');
}
