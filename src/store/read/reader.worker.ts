/**
 * A reader thread: one connection (read-connection.ts), used by one lease at a time.
 *
 *   begin, all, fill, pages  calls of the connection; `tick()` throws when the lease is cancelled or timed out, or the thread must end
 *   end, timeout             the snapshot ends at once, because it prevents the WAL from restarting
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorCode, messageOf, PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { exceedsLimits, sqliteCodeOf } from '../sqlite/database.ts';
import type { PagesRead } from '../types/page-reader.ts';
import { type FileDamage, faultOfCode } from '../types/store-fault.ts';
import { ReadConnection } from './read-connection.ts';
import {
  flags as places,
  type ReaderReply,
  type ReaderRequest,
  type ReaderWorkerData,
  type Snapshot,
  timeIsUp,
} from './reader-messages.ts';

const port = must(parentPort, 'the port of a worker thread');
const { flags, ...options } = workerData as ReaderWorkerData;
const connection = new ReadConnection({ ...options, tick });

/** Number of the running lease; 0 when there is none. */
let current = 0;
let deadline = 0;
let cut: NodeJS.Timeout | null = null;

port.on('message', (request: ReaderRequest) => {
  switch (request.op) {
    case 'begin':
      return answer(request.call, () => ({
        kind: 'begun',
        call: request.call,
        snapshot: begin(request.lease, request.timeoutMs),
      }));
    case 'all':
      return answer(request.call, () => {
        const { call, lease, statement } = request;
        return { kind: 'rows', call, rows: during(lease).all(statement) };
      });
    case 'fill':
      return answer(request.call, () => {
        const { call, lease, statements, limit } = request;
        return { kind: 'rows', call, rows: during(lease).fill(statements, limit) };
      });
    case 'pages':
      return answer(request.call, () => ({ kind: 'pages', call: request.call, read: readPages(request) }));
    case 'end':
      if (request.lease === current) end();
      return;
    case 'close':
      end();
      connection.close();
      port.close();
  }
});

function answer(call: number, work: () => ReaderReply): void {
  let reply: ReaderReply;
  try {
    reply = work();
  } catch (error) {
    const damage = connection.damageIn(error);
    reply = {
      kind: 'failed',
      call,
      code: codeFor(error),
      message: messageFor(error, damage),
      ...(damage === null ? {} : { damage }),
    };
  }
  port.postMessage(reply);
}

function codeFor(error: unknown): ErrorCode {
  if (error instanceof PortolanError) return error.code;
  if (exceedsLimits(error)) return 'QUERY_TOO_COSTLY';
  // Temporary errors: a fault of the file or its disk, which may cause a rebuild, or a table was created a moment ago.
  const isTemporary = faultIn(error) || sqliteCodeOf(error)?.startsWith('SQLITE_SCHEMA') === true;
  return isTemporary ? 'CACHE_NOT_READY' : 'INTERNAL_SERVER_ERROR';
}

/** Is it a fault of the file or its disk? A reader that writes is a defect, not a read-only file. */
function faultIn(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  const kind = code === null ? null : faultOfCode(code);
  return kind !== null && kind !== 'readonly';
}

/** The message of an unexpected error is for the log: it has the statement. `ReaderThread` gives it to no caller. */
function messageFor(error: unknown, damage: FileDamage | null): string {
  if (error instanceof PortolanError) return messageOf(error);
  if (exceedsLimits(error)) {
    return 'The read needs a larger statement than the store takes; use fewer conditions, orders and groups, or shorter paths.';
  }
  if (damage !== null) return 'The store is damaged and is being made anew; try again in a moment.';
  return faultIn(error)
    ? `The store cannot be read now (${sqliteCodeOf(error)}); try again in a moment.`
    : messageOf(error);
}

function begin(lease: number, timeoutMs: number): Snapshot {
  end();
  const snapshot = connection.begin();
  current = lease;
  deadline = performance.now() + timeoutMs;
  cut = setTimeout(end, timeoutMs);
  return snapshot;
}

function end(): void {
  current = 0;
  if (cut !== null) clearTimeout(cut);
  cut = null;
  connection.end();
}

/** The connection, for a lease that is running. */
function during(lease: number): ReadConnection {
  if (lease !== current) throw timeIsUp();
  return connection;
}

function tick(): void {
  if (Atomics.load(flags, places.cancelled) === current || Atomics.load(flags, places.closing) === 1) {
    throw new PortolanError('TIMEOUT', 'The read was cancelled.');
  }
  if (performance.now() > deadline) throw timeIsUp();
}

function readPages(request: Extract<ReaderRequest, { op: 'pages' }>): PagesRead {
  const snapshot = begin(request.lease, request.timeoutMs);
  try {
    return connection.pagesIn(snapshot, request.statements, request.pages);
  } finally {
    end();
  }
}
