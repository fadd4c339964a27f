import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { localUser } from '../../access/caller.ts';
import type { ValueChange } from '../diff/field-changes.ts';
import { withhold } from '../diff/withheld-values.ts';
import type { WriteTarget } from '../request/write-intent.ts';
import { openPlan, type PlanScope, sealPlan, tagOf } from './plan-id.ts';

const user = (name: string, uid = '') => ({ name, user: { user: name, uid, groups: [], extra: {} }, validUntil: null });
const scope: PlanScope = { key: randomBytes(32), caller: localUser, verb: 'scale', args: { replicas: 3 } };
const resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };
const target: WriteTarget = { cluster: 'east', resource, namespace: 'shop', name: 'web', place: null };
const change = (before: unknown, after: unknown): ValueChange => ({
  steps: [{ kind: 'member', name: 'data' }],
  before,
  after,
});

const bytesOf = (id: string) => JSON.stringify(id.split('.').map((part) => [...Buffer.from(part, 'base64url')]));

test('a plan comes back as it was sealed', () => {
  const tag = tagOf(scope, target, 'u', [change(2, 3)]);
  const planned = { target, uid: 'u', resourceVersion: '7', tag, chosen: [['spec', 'clusterIP']], isUnchecked: false };
  const absent = { target: { ...target, name: 'other' }, uid: null, resourceVersion: null, chosen: [] };
  const failed = { ...absent, tag: null, isUnchecked: false };
  const unchecked = { ...absent, tag: tagOf(scope, absent.target, null, []), isUnchecked: true };
  const plan = { at: 1_700_000_000_000, targets: [planned, failed, unchecked] };
  expect(openPlan(scope, sealPlan(scope, plan))).toEqual(plan);
});

test('a plan is bound to its key, its caller, its verb and its arguments, and to every character', () => {
  const planId = sealPlan(scope, { at: 0, targets: [] });
  const others: readonly PlanScope[] = [
    { ...scope, key: randomBytes(32) },
    { ...scope, caller: user('mallory') },
    { ...scope, verb: 'delete' },
    { ...scope, args: { replicas: 4 } },
  ];
  for (const other of others) {
    expect(() => openPlan(other, planId)).toThrow(expect.objectContaining({ code: 'BAD_USER_INPUT' }));
  }
  const jane = { ...scope, caller: user('jane', '1') };
  expect(() => openPlan({ ...scope, caller: user('jane', '2') }, sealPlan(jane, { at: 0, targets: [] }))).toThrow();
  for (let at = 0; at < planId.length; at += 1) {
    const forged = `${planId.slice(0, at)}${planId[at] === 'A' ? 'B' : 'A'}${planId.slice(at + 1)}`;
    if (forged === planId) continue;
    // The last character of a part in base64url has bits that mean nothing.
    if (bytesOf(forged) !== bytesOf(planId)) expect(() => openPlan(scope, forged)).toThrow();
  }
  for (const text of ['', '.', 'x', '..', '💥.💥', 'A'.repeat(100_000)]) expect(() => openPlan(scope, text)).toThrow();
});

test('a tag changes with each value, and tells nothing without the key', () => {
  const secret = (pin: number) => withhold({ data: Buffer.from(String(pin)).toString('base64') }, ['data'])?.['data'];
  const tag = tagOf(scope, target, 'u', [change(null, secret(4711))]);
  expect(tagOf(scope, target, 'u', [change(null, secret(4711))])).toBe(tag);
  expect(tagOf(scope, target, 'v', [change(null, secret(4711))])).not.toBe(tag);
  const foreign = { ...scope, key: randomBytes(32) };
  for (let pin = 0; pin < 10_000; pin += 1) {
    if (pin !== 4711) expect(tagOf(scope, target, 'u', [change(null, secret(pin))])).not.toBe(tag);
    expect(tagOf(foreign, target, 'u', [change(null, secret(pin))])).not.toBe(tag);
  }
});
