/**
 * The messages between a reader pool and its threads.
 *
 *   begin -> begun | failed      all, fill -> rows | failed      end (no answer)      close (the thread ends)
 *   pages -> pages | failed      a lease that begins, reads and ends in one message
 *
 * A thread answers calls in their order. It reads no messages while it runs a statement, so a lease is cancelled through shared
 * memory. The pool stores the lease's number there, and `tick()` reads it.
 */
import { type ErrorCode, PortolanError } from '../../base/errors.ts';
import type { SealMemory } from '../file/file-seal.ts';
import type { PageRequest, PagesRead } from '../types/page-reader.ts';
import type { Row, Statement } from '../types/statement.ts';
import type { FileDamage } from '../types/store-fault.ts';

export type ReaderRequest =
  | { readonly op: 'begin'; readonly call: number; readonly lease: number; readonly timeoutMs: number }
  | { readonly op: 'all'; readonly call: number; readonly lease: number; readonly statement: Statement }
  | {
      readonly op: 'fill';
      readonly call: number;
      readonly lease: number;
      readonly statements: readonly Statement[];
      readonly limit: number;
    }
  | {
      readonly op: 'pages';
      readonly call: number;
      readonly lease: number;
      readonly timeoutMs: number;
      readonly statements: readonly Statement[];
      readonly pages: readonly PageRequest[];
    }
  | { readonly op: 'end'; readonly lease: number }
  | { readonly op: 'close' };

export interface Snapshot {
  readonly revision: number;
  readonly epoch: string;
  readonly layoutVersion: number;
}

export type ReaderReply =
  | { readonly kind: 'begun'; readonly call: number; readonly snapshot: Snapshot }
  | { readonly kind: 'rows'; readonly call: number; readonly rows: readonly Row[] }
  | { readonly kind: 'pages'; readonly call: number; readonly read: PagesRead }
  | {
      readonly kind: 'failed';
      readonly call: number;
      readonly code: ErrorCode;
      readonly message: string;
      /** Present if the file is damaged. */
      readonly damage?: FileDamage;
    };

/** Indexes into the memory shared with a thread (32-bit integers). */
export const flags = {
  /** Number of the lease that must end. */
  cancelled: 0,
  /** 1 when the thread must end. */
  closing: 1,
  length: 2,
} as const;

export interface ReaderWorkerData {
  readonly file: string;
  readonly flags: Int32Array<SharedArrayBuffer>;
  readonly cacheKib: number;
  /** A statement that returns more rows than this fails. */
  readonly maxRows: number;
  /** Shared with the writer of the file. */
  readonly seal: SealMemory | undefined;
}

/** The error of a read that took longer than its lease. */
export function timeIsUp(): PortolanError {
  return new PortolanError('TIMEOUT', 'The read took longer than it may; narrow the filter or ask for less.');
}
