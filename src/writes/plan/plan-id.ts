/**
 * The id of a plan: what was planned, sealed with an HMAC. Nothing is stored, so every replica with the key can carry it out.
 *
 *   base64url(deflated JSON { at, targets, tags }) "." base64url(HMAC-SHA-256)
 *
 *   at        the time of the plan, which a restart writes
 *   targets   for each object: cluster, resource, namespace, name, uid and resourceVersion at the time
 *   tags      for each object: HMAC of its uid and of its changes with their values, 16 bytes; null for one that the plan cannot do
 *   chosen    for each new object: the places of values that the API server chooses anew for each request
 *
 * Both HMACs include the caller, the verb and the arguments. So a plan of another caller, of other arguments or of another installation
 * is refused. Without the key, guesses of redacted values cannot be tested against a tag.
 *
 * The resourceVersion is a hint: an object that still has it is written without a second dry run. It is no part of a tag, because the status
 * of some object always changes between review and apply.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Caller } from '../../access/caller.ts';
import { PortolanError } from '../../base/errors.ts';
import { list, parsedJson, record } from '../../base/json.ts';
import type { Place } from '../../catalog/paths/places-at.ts';
import { pathOfChange, type ValueChange } from '../diff/field-changes.ts';
import { sealedText } from '../diff/withheld-values.ts';
import type { TargetResource, WriteTarget } from '../request/write-intent.ts';

/** The scope to which a plan is bound. */
export interface PlanScope {
  readonly key: Uint8Array;
  readonly caller: Caller;
  readonly verb: string;
  /** The arguments of the mutation, without arguments that only say how it is carried out. */
  readonly args: unknown;
}

/** One object of a plan. */
export interface PlannedTarget {
  readonly target: WriteTarget;
  readonly uid: string | null;
  readonly resourceVersion: string | null;
  /** Null: the plan cannot be carried out for this object. */
  readonly tag: string | null;
  /** The object is to be created, and no API server has checked it (made-before.ts). */
  readonly isUnchecked: boolean;
  /** Where a new object has values that the API server chooses; the tag is without them. */
  readonly chosen: readonly Place[];
}

export interface Plan {
  /** Milliseconds since the epoch, in whole seconds. */
  readonly at: number;
  readonly targets: readonly PlannedTarget[];
}

const tagBytes = 16;
/** Bytes of an inflated plan. A thousand objects with long names take a third of it. */
const mostBytes = 4 * 1024 * 1024;

export function sealPlan(scope: PlanScope, { at, targets }: Plan): string {
  const payload = deflateRawSync(
    JSON.stringify({
      at,
      targets: targets.map(({ target, uid, resourceVersion, tag, chosen, isUnchecked }) => {
        const { cluster, resource, namespace, name, place } = target;
        const { group, version, plural, kind, namespaced } = resource;
        const kindParts = [cluster, group, version, plural, kind, namespaced];
        return [...kindParts, namespace, name, place, uid, resourceVersion, tag, chosen, isUnchecked];
      }),
    }),
  );
  return `${payload.toString('base64url')}.${sealOf(scope, payload).toString('base64url')}`;
}

/** @throws PortolanError BAD_USER_INPUT for an id that is not a plan of this caller, verb and arguments. */
export function openPlan(scope: PlanScope, planId: string): Plan {
  const [text = '', seal = ''] = planId.split('.', 2);
  const payload = Buffer.from(text, 'base64url');
  const given = Buffer.from(seal, 'base64url');
  const expected = sealOf(scope, payload);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      '`plan` is not the id of a plan of yours with these arguments. Give the arguments of the dry run unchanged, or plan again. Replicas need the same --plan-key-file.',
    );
  }
  const plan = record(parsedJson(inflateRawSync(payload, { maxOutputLength: mostBytes }).toString()));
  return { at: Number(plan?.['at']), targets: list(plan?.['targets']).map(targetOf) };
}

/** The tag of the changes of one object. */
export function tagOf(
  scope: PlanScope,
  { cluster, resource, namespace, name, place }: WriteTarget,
  uid: string | null,
  changes: readonly ValueChange[],
): string {
  const { group, plural } = resource;
  const fields = changes.map(({ steps, before, after }) => [pathOfChange(steps), before ?? null, after ?? null]);
  const text = sealedText(['target', boundTo(scope), cluster, group, plural, namespace, name ?? place, uid, fields]);
  return createHmac('sha256', scope.key).update(text).digest().subarray(0, tagBytes).toString('base64url');
}

function sealOf(scope: PlanScope, payload: Uint8Array): Buffer {
  return createHmac('sha256', scope.key)
    .update(sealedText(['plan', boundTo(scope)]))
    .update(payload)
    .digest();
}

/** A user is the same with another token: extra and groups may have changed, and the API server decides by them. */
function boundTo({ caller: { user }, verb, args }: PlanScope): readonly unknown[] {
  const who = user === null ? [] : [user.user, user.uid];
  return [who, verb, createHash('sha256').update(sealedText(args)).digest('base64url')];
}

function targetOf(entry: unknown): PlannedTarget {
  const [cluster, group, version, plural, kind, namespaced, ...others] = list(entry);
  const [namespace, name, place, uid, resourceVersion, tag, chosen, isUnchecked] = others;
  const resource = { group, version, plural, kind, namespaced } as TargetResource;
  const target = { cluster, resource, namespace, name, place } as WriteTarget;
  return { target, uid, resourceVersion, tag, chosen: list(chosen), isUnchecked } as PlannedTarget;
}
