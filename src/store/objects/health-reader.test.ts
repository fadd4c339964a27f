import fc from 'fast-check';
import { expect, test } from 'vitest';
import { healthCases } from '../../../test/kit/health-cases.ts';
import type { HealthRules } from '../../catalog/health/declared-health.ts';
import { healthOf } from '../../catalog/health/health.ts';
import { kindRules } from '../../catalog/health/kind-rules.ts';
import { healthRulesOf, readHealthRules } from '../../catalog/health/read-health-rules.ts';
import { Preparer } from './prepare.ts';

interface Named {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The health that is read from the JSONB of an object. */
function prepared(names: Named, object: object, health: HealthRules = []) {
  const preparer = new Preparer({ names, redacted: [], health, slots: [] });
  const metadata = { name: 'n', uid: 'u', resourceVersion: '1', ...(object as { metadata?: object }).metadata };
  const text = JSON.stringify({ ...object, metadata });
  const [found] = preparer.prepare([{ text, bytes: Buffer.from(text) }]);
  return found?.health;
}

test.each(healthCases.map(({ name, object }) => [name, object] as const))('%s', (_, object) => {
  const { apiVersion, kind, ...rest } = object;
  const names = { apiVersion: String(apiVersion), kind: String(kind) };
  const health = healthOf(object);
  expect(prepared(names, object)).toEqual(health);
  // Items of lists have no names of their own.
  expect(prepared(names, rest)).toEqual(health);
});

const replicas = fc.constantFrom(0, 1, 2, 3, 2 ** 31 - 1, null, '1', 1.5);
const truth = fc.constantFrom('True', 'False', 'Unknown', '', null, true);
const types = [
  'Ready Reconciling Stalled Available Progressing ReplicaFailure Complete Failed Suspended PodScheduled Established NamesAccepted',
].flatMap((text) => text.split(' '));
const reasons = fc.constantFrom(
  'Unschedulable',
  'ProgressDeadlineExceeded',
  'NewReplicaSetAvailable',
  'Installing',
  'é',
  '',
  null,
  5,
);
const condition = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      { type: fc.constantFrom(...types), status: truth, reason: reasons },
      { requiredKeys: ['type'] },
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(null, 'Ready', [], {}) },
);
const waiting = fc.constantFrom({ waiting: { reason: 'CrashLoopBackOff' } }, { running: {} }, null, 'x');
const members = fc.record(
  {
    phase: fc.constantFrom('Running', 'Pending', 'Succeeded', 'Failed', 'Bound', 'Odd', '', null),
    ...Object.fromEntries(
      [...kindRules.values()]
        .flatMap(({ paths }) => paths)
        .filter((path) => path[0] === 'status' && /replicas|number/i.test(String(path[1])))
        .map((path) => [String(path[1]), replicas]),
    ),
    observedGeneration: replicas,
    startTime: fc.constantFrom('2026-01-01T00:00:00Z', '', null),
    currentRevision: fc.constantFrom('a', 'b', null),
    updateRevision: fc.constantFrom('a', 'b', null),
    conditions: fc.oneof(fc.array(condition, { maxLength: 4 }), fc.constantFrom(null, {}, 'x')),
    containerStatuses: fc.oneof(
      fc.array(fc.record({ name: fc.constant('c'), state: waiting }, { requiredKeys: [] }), { maxLength: 2 }),
      fc.constant('x'),
    ),
  },
  { requiredKeys: [] },
);
const spec = fc.record(
  {
    replicas,
    progressDeadlineSeconds: replicas,
    suspend: fc.boolean(),
    type: fc.constantFrom('LoadBalancer', 'ClusterIP'),
    clusterIP: fc.constantFrom('', '10.0.0.1', null),
    updateStrategy: fc.constantFrom({ type: 'OnDelete' }, { rollingUpdate: { partition: 1 } }, 'x', {}),
  },
  { requiredKeys: [] },
);
const object = fc.record(
  {
    metadata: fc.record(
      { generation: replicas, deletionTimestamp: fc.constantFrom('', null, '2026-01-01T00:00:00Z') },
      { requiredKeys: [] },
    ),
    spec: fc.oneof(spec, fc.constantFrom(null, 'x')),
    status: fc.oneof({ weight: 9, arbitrary: members }, { weight: 1, arbitrary: fc.constantFrom(null, 'x', []) }),
  },
  { requiredKeys: ['metadata'] },
);
const kinds = [...kindRules.keys(), 'example.com/Widget'].map((key) => {
  const [kind = '', group] = key.split('/').reverse();
  return { apiVersion: group === undefined ? 'v1' : `${group}/v1`, kind };
});

const declared = readHealthRules(
  {
    rules: [
      {
        kind: '*',
        cases: [
          { status: 'Suspended', when: { 'spec.suspend': true, 'status.phase': { exists: true } } },
          { status: 'Failed', when: { 'status.conditions[type=Ready].status': 'False' } },
          { status: 'Failed', when: { 'status.containerStatuses[].name': 'c' }, message: 'status.currentRevision' },
          { status: 'Unknown', when: { 'status.replicas': { lessThan: 'spec.replicas' } }, reason: 'status.phase' },
          { status: 'InProgress', when: { 'status.containerStatuses[0]': { exists: true } }, reason: 'Odd' },
        ],
      },
    ],
  },
  'SHIPPED',
);

test('the health in JSONB is the health of the parsed object', () => {
  fc.assert(
    fc.property(fc.constantFrom(...kinds), object, fc.boolean(), (names, given, isDeclared) => {
      const rules = isDeclared ? healthRulesOf([declared], { group: 'any', kind: names.kind }) : [];
      expect(prepared(names, given, rules)).toEqual(healthOf({ ...names, ...given }, rules));
    }),
    { numRuns: 3000 },
  );
});
