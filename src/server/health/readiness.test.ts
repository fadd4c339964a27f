import { expect, test } from 'vitest';
import { readinessOf } from './readiness.ts';

test('each failing resource has its phase and its error; what is no resource has no phase', () => {
  const failing = [
    { cluster: 'east', resource: 'widgets.example.com', phase: 'PARKED', error: 'widgets is forbidden' },
    { cluster: 'west', resource: 'everything', error: 'no route' },
  ] as const;
  expect(readinessOf({ ready: true, objects: 3, failing })).toEqual({
    ready: true,
    status: 'degraded',
    objects: 3,
    failing: [failing[0], { ...failing[1], phase: null }],
  });
  expect(readinessOf({ ready: false, failing }).status).toBe('starting');
});

test('a fault of the store is no state of being ready', () => {
  const fault = { kind: 'full', error: 'The disk is full.', since: 1 } as const;
  expect(readinessOf({ ready: true, failing: [], fault })).toMatchObject({ status: 'degraded', fault });
  expect(readinessOf({ ready: false, failing: [], fault: { ...fault, kind: 'lost' } }).status).toBe('starting');
  expect(readinessOf({ ready: true, failing: [], fault: null })).toMatchObject({ status: 'ready' });
});
