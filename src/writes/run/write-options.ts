/** The options of mutations. */
import { PortolanError } from '../../base/errors.ts';
import { checkRequestId } from '../request/request-id.ts';
import type { OnError } from './run-writes.ts';
import type { WriteOrder } from './write-order.ts';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string | null;
  readonly order: WriteOrder;
  readonly onError: OnError;
  readonly plan: string | null;
  readonly requestId: string | null;
  /** Milliseconds to wait until the tables show the writes. */
  readonly waitMs: number;
}

/** As a caller gives them; null or absent for the defaults. */
export type GivenOptions = { readonly [K in keyof WriteOptions]?: WriteOptions[K] | null } | null | undefined;

/** Milliseconds until `seen` is false. */
export const defaultWait = 2000;
/** Milliseconds. */
export const longestWait = 30_000;

export function writeOptions(given: GivenOptions): WriteOptions {
  return {
    dryRun: given?.dryRun ?? false,
    fieldManager: given?.fieldManager ?? null,
    order: given?.order ?? 'BY_KIND',
    onError: given?.onError ?? 'STOP',
    plan: given?.plan ?? null,
    requestId: given?.requestId ?? null,
    waitMs: given?.waitMs ?? defaultWait,
  };
}

/** @throws PortolanError BAD_USER_INPUT for options that cannot be carried out. */
export function checkOptions({ dryRun, plan, requestId, waitMs, fieldManager }: WriteOptions): void {
  if (requestId !== null) checkRequestId(requestId);
  if (dryRun && plan !== null) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      '`plan` carries out what a dry run has planned: leave out one of `dryRun` and `plan`.',
    );
  }
  if (waitMs < 0 || waitMs > longestWait) {
    throw new PortolanError('BAD_USER_INPUT', `\`waitMs\` is ${waitMs}; it is 0 to ${longestWait}.`);
  }
  if (fieldManager !== null && !/^[\x20-\x7e]{1,128}$/.test(fieldManager)) {
    throw new PortolanError('BAD_USER_INPUT', '`fieldManager` has 1 to 128 printable ASCII characters.');
  }
}
