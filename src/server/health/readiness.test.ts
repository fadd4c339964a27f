import { expect, onTestFinished, test } from 'vitest';
import { describedCrd, engineFixture } from '../../../test/kit/engine-fixture.ts';
import { storeFile } from '../../../test/kit/store-file.ts';
import { openReader } from '../../store/read/reader.ts';
import type { Reader } from '../../store/types/lease.ts';
import { idleStatus } from '../../store/types/progress.ts';
import { readinessOf } from './readiness.ts';

const widgets = 'widgets.example.com';
const failing = [
  { cluster: 'east', resource: widgets, error: 'widgets is forbidden' },
  { cluster: 'west', resource: widgets, error: 'the same name elsewhere' },
  { cluster: 'west', resource: 'everything', error: 'no route' },
];

test('each failing resource has its phase and its error; what the store does not know has none', async () => {
  const fixture = engineFixture();
  await fixture.declare(describedCrd({ plural: 'widgets', kind: 'Widget', properties: {} }));
  fixture.writer().setStatus(fixture.handle(widgets), { ...idleStatus, phase: 'PARKED', error: 'as ingest says' });
  expect(await readinessOf({ ready: true, objects: 3, failing }, fixture.reader)).toEqual({
    ready: true,
    status: 'degraded',
    objects: 3,
    failing: [
      { cluster: 'east', resource: widgets, phase: 'PARKED', error: 'widgets is forbidden' },
      { cluster: 'west', resource: widgets, phase: null, error: 'the same name elsewhere' },
      { cluster: 'west', resource: 'everything', phase: null, error: 'no route' },
    ],
  });
});

test('without a store there are no phases, but an answer', async () => {
  const reader = openReader(storeFile(), { readers: 1 });
  onTestFinished(() => reader.close());
  const { failing: found, status } = await readinessOf({ ready: false, failing }, reader);
  expect(status).toBe('starting');
  expect(found).toEqual(failing.map((each) => ({ ...each, phase: null })));
});

test('a fault of the store is no state of being ready', async () => {
  const { reader } = engineFixture();
  const fault = { kind: 'full', error: 'The disk is full.', since: 1 } as const;
  expect(await readinessOf({ ready: true, failing: [], fault }, reader)).toMatchObject({ status: 'degraded', fault });
  expect(await readinessOf({ ready: true, failing: [], fault: null }, reader)).toMatchObject({ status: 'ready' });
});

test('while all is well no reader is asked', async () => {
  const { reader } = engineFixture();
  let asked = 0;
  const counting: Reader = {
    open: (options) => reader.open(options),
    close: () => reader.close(),
    lease: (work, options) => {
      asked += 1;
      return reader.lease(work, options);
    },
  };
  expect(await readinessOf({ ready: true, failing: [] }, counting)).toEqual({
    ready: true,
    status: 'ready',
    failing: [],
  });
  expect(asked).toBe(0);
});
