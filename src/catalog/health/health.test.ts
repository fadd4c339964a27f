import { describe, expect, test } from 'vitest';
import { healthCases } from '../../../test/kit/health-cases.ts';
import { parseExact } from '../values/values.ts';
import { healthOf } from './health.ts';

const custom = { apiVersion: 'example.com/v1', kind: 'Widget' };

function conditions(...of: readonly unknown[]): object {
  return { ...custom, status: { conditions: of } };
}

describe("kstatus' own cases", () => {
  test.each(healthCases.map(({ name, object, health }) => [name, object, health] as const))(
    '%s',
    (_, object, health) => {
      expect(healthOf(object)).toMatchObject(health);
    },
  );
});

describe('every kind', () => {
  test.each([
    [
      'an object that is being deleted',
      {
        ...custom,
        metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', generation: 2 },
        status: { observedGeneration: 1 },
      },
      'Terminating',
      null,
    ],
    [
      'the first of Reconciling and Stalled',
      conditions(
        { type: 'Stalled', status: 'True', reason: 'A' },
        { type: 'Reconciling', status: 'True', reason: 'B' },
      ),
      'Failed',
      'A',
    ],
    [
      'Reconciling before Ready',
      conditions({ type: 'Ready', status: 'True' }, { type: 'Reconciling', status: 'True', reason: 'B' }),
      'InProgress',
      'B',
    ],
    ['Stalled that is false', conditions({ type: 'Stalled', status: 'False', reason: 'A' }), 'Current', null],
    ['Ready that is unknown, without a reason', conditions({ type: 'Ready', status: 'Unknown' }), 'InProgress', null],
    ['Ready with another status', conditions({ type: 'Ready', status: 'Perhaps' }), 'Current', null],
    ['conditions that are null', { ...custom, status: { conditions: null } }, 'Current', null],
    ['a condition that is null', conditions(null, { type: 'Ready', status: 'False', reason: 'A' }), 'InProgress', 'A'],
    ['a kind of another group', { apiVersion: 'example.com/v1', kind: 'Deployment' }, 'Current', null],
    ['an object without names', {}, 'Current', null],
    [
      'the old group of workloads',
      { apiVersion: 'extensions/v1beta1', kind: 'ReplicaSet' },
      'InProgress',
      'LessLabelled',
    ],
    ['an unknown phase', { apiVersion: 'v1', kind: 'Pod', status: { phase: 'Odd' } }, 'Unknown', 'UnknownPhase'],
    [
      'an exceeded deadline',
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        status: { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] },
      },
      'Failed',
      'ProgressDeadlineExceeded',
    ],
    [
      'a partition',
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        spec: { replicas: 3, updateStrategy: { rollingUpdate: { partition: 1 } } },
        status: { replicas: 3, readyReplicas: 3, updatedReplicas: 1 },
      },
      'InProgress',
      'PartitionRollout',
    ],
    [
      'a revision that differs',
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        status: { replicas: 1, readyReplicas: 1, currentReplicas: 1, currentRevision: 'a', updateRevision: 'b' },
      },
      'InProgress',
      'RevisionMismatch',
    ],
    [
      'updates by the user',
      { apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { updateStrategy: { type: 'OnDelete' } } },
      'Current',
      null,
    ],
  ] as const)('%s', (_, object, status, reason) => {
    expect(healthOf(object)).toMatchObject({ status, reason });
  });

  test.each([
    ['a generation that is a text', { ...custom, metadata: { generation: '1' } }],
    [
      'an observed generation that is a fraction',
      { ...custom, metadata: { generation: 1 }, status: { observedGeneration: 1.5 } },
    ],
    ['a status that is a text', { ...custom, status: 'Ready' }],
    ['conditions that are an object', { ...custom, status: { conditions: { Ready: 'True' } } }],
    ['a condition that is a text', conditions('Ready')],
    ['a reason that is a number', conditions({ type: 'Ready', status: 'False', reason: 5 })],
  ])('Unknown for %s', (_, object) => {
    expect(healthOf(object)).toEqual({ status: 'Unknown', reason: 'InvalidStatus', message: null, source: 'INVALID' });
  });

  test('generations beyond 2^53 are compared exactly', () => {
    const of = (observed: string) =>
      healthOf(parseExact(`{"metadata":{"generation":9007199254740993},"status":{"observedGeneration":${observed}}}`));
    expect(of('9007199254740993').status).toBe('Current');
    expect(of('9007199254740992').status).toBe('InProgress');
  });

  test.each([null, 5, 'text', [], undefined])('a value that is no object: %j', (value) => {
    expect(healthOf(value)).toEqual({ status: 'Current', reason: null, message: null, source: 'DEFAULT' });
  });
});
