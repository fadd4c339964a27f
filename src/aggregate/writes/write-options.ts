/**
 * The options of a request that writes: CreateOptions, UpdateOptions and PatchOptions of meta/v1 stand in the query. DeleteOptions stand in
 * the body, or else in the query.
 */
import { isRecord, list, text } from '../../base/json.ts';
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import type { Propagation } from '../../writes/request/write-intent.ts';
import { statusError } from '../protocol/status.ts';

export interface SetWriteOptions {
  readonly dryRun: boolean;
  readonly validation: 'Ignore' | 'Warn' | 'Strict';
  /** Of a server-side apply: take fields from other managers. */
  readonly force: boolean;
}

export interface SetDeleteOptions {
  readonly dryRun: boolean;
  readonly propagation: Propagation;
  /** Null: any. */
  readonly uid: string | null;
  /** Null: any. */
  readonly resourceVersion: string | null;
}

/** @throws PortolanError that means 400. */
export function setWriteOptions(query: URLSearchParams): SetWriteOptions {
  const validation = query.get('fieldValidation') || 'Warn';
  if (validation !== 'Ignore' && validation !== 'Warn' && validation !== 'Strict') {
    throw statusError('BadRequest', `fieldValidation is Ignore, Warn or Strict, not ${JSON.stringify(validation)}`);
  }
  const force = query.get('force');
  return { dryRun: isDryRun(query.getAll('dryRun')), validation, force: force !== null && isTrue(force) };
}

/** @param body null for a request without one. @throws PortolanError that means 400. */
export function setDeleteOptions(body: unknown, query: URLSearchParams): SetDeleteOptions {
  if (body !== null && !isRecord(body)) throw statusError('BadRequest', 'the body is no DeleteOptions');
  const options = body ?? {};
  const preconditions = recordOf(memberOf(options, 'preconditions')) ?? {};
  const ofBody = list(memberOf(options, 'dryRun'));
  return {
    dryRun: isDryRun(ofBody.length > 0 ? ofBody : query.getAll('dryRun')),
    propagation: propagationOf(options, query),
    uid: text(memberOf(preconditions, 'uid')) ?? null,
    resourceVersion: text(memberOf(preconditions, 'resourceVersion')) ?? null,
  };
}

function propagationOf(options: Readonly<Record<string, unknown>>, query: URLSearchParams): Propagation {
  const policy = text(memberOf(options, 'propagationPolicy')) ?? query.get('propagationPolicy');
  const orphan = memberOf(options, 'orphanDependents') ?? query.get('orphanDependents');
  switch (policy || null) {
    case 'Foreground':
      return 'FOREGROUND';
    case 'Background':
      return 'BACKGROUND';
    case 'Orphan':
      return 'ORPHAN';
    case null:
      return orphan === true || (typeof orphan === 'string' && isTrue(orphan)) ? 'ORPHAN' : 'BACKGROUND';
    default:
      throw statusError('BadRequest', `propagationPolicy is Foreground, Background or Orphan, not ${policy}`);
  }
}

function isDryRun(values: readonly unknown[]): boolean {
  const given = values.filter((value) => value !== '');
  if (given.some((value) => value !== 'All')) throw statusError('BadRequest', 'dryRun has one value: All');
  return given.length > 0;
}

function isTrue(text: string): boolean {
  return text !== '0' && text.toLowerCase() !== 'false';
}
