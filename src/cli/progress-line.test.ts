import { beforeEach, expect, test } from 'vitest';
import type { IngestProgress } from '../ingest/context/progress.ts';
import { ProgressLine } from './progress-line.ts';

let written: string[];
let now: number;

beforeEach(() => {
  written = [];
  now = 1000;
});

function line(isTTY: boolean): ProgressLine {
  return new ProgressLine({ write: (text) => written.push(text), isTTY }, () => now);
}

function progress(resourcesDone: number, failing: IngestProgress['failing'] = []): IngestProgress {
  const clusters: IngestProgress['clusters'] = [];
  return {
    ready: false,
    catalogKnown: true,
    resourcesDone,
    resourcesTotal: 3,
    objects: 10,
    failing,
    clusters,
    disk: null,
  };
}

test('on a terminal one line is written over', () => {
  const shown = line(true);
  shown.show(progress(1));
  now += 100;
  shown.show(progress(2));
  now += 1400;
  shown.finish();
  expect(written).toEqual([
    '\r\u001b[K1 of 3 resources, 10 objects, 0.0 s',
    '\r\u001b[K2 of 3 resources, 10 objects, 0.1 s',
    '\r\u001b[KSynced: 2 of 3 resources, 10 objects, 1.5 s\n',
  ]);
});

test('elsewhere there is a line now and then', () => {
  const shown = line(false);
  for (let step = 0; step < 50; step += 1) {
    shown.show(progress(1));
    now += 100;
  }
  shown.show(progress(3));
  shown.finish();
  expect(written).toEqual([
    '1 of 3 resources, 10 objects, 0.0 s\n',
    '1 of 3 resources, 10 objects, 2.0 s\n',
    '1 of 3 resources, 10 objects, 4.0 s\n',
    'Synced: 3 of 3 resources, 10 objects, 5.0 s\n',
  ]);
});

test('what did not sync is named at the end, once', () => {
  const shown = line(false);
  shown.show(progress(3, [{ cluster: 'c', resource: 'foos.example.com', error: 'Forbidden' }]));
  shown.finish();
  shown.finish();
  shown.show(progress(3));
  expect(written.slice(1)).toEqual([
    'Synced: 3 of 3 resources, 10 objects, 0.0 s\n',
    '  not synced: foos.example.com of c: Forbidden\n',
  ]);
});

test('when nothing was ever shown there is nothing to finish', () => {
  line(false).finish();
  expect(written).toEqual([]);
});

test('no resource at all is said, and why', () => {
  const shown = line(false);
  shown.show({ ...progress(0), resourcesTotal: 0 });
  shown.finish();
  expect(written.at(-1)).toBe('Nothing is served: no resource matches --kinds and --exclude.\n');
});
