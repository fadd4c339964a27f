import { beforeEach, expect, test } from 'vitest';
import { type Logger, silentLogger } from '../base/log.ts';
import type { IngestProgress } from '../ingest/context/progress.ts';
import { ProgressLine } from './progress-line.ts';

let written: string[];
let logged: [string, object, string][];
let now: number;

beforeEach(() => {
  written = [];
  logged = [];
  now = 1000;
});

const log: Logger = {
  ...silentLogger,
  info: (fields, message) => logged.push(['info', fields, message]),
  warn: (fields, message) => logged.push(['warn', fields, message]),
};

function line(isTerminal: boolean): ProgressLine {
  return new ProgressLine({ rewrite: (text) => written.push(text) > 0, isTerminal }, log, () => now);
}

function progress(resourcesSynced: number, failing: IngestProgress['failing'] = []): IngestProgress {
  return {
    ready: false,
    catalogKnown: true,
    resourcesDone: resourcesSynced + failing.length,
    resourcesSynced,
    resourcesTotal: 3,
    objects: 10,
    failing,
    clusters: [],
    fault: null,
    rebuilds: 0,
    hasStore: true,
    disk: null,
  };
}

const refused = (resource: string, cluster = 'c') => ({ cluster, resource, error: 'Forbidden', refusal: 403 });

test('on a terminal one line is written over', () => {
  const shown = line(true);
  shown.show(progress(1));
  now += 100;
  shown.show(progress(2));
  now += 1400;
  shown.finish();
  expect(written).toEqual([
    '1 of 3 resources; 10 objects, 0.0 s',
    '2 of 3 resources; 10 objects, 0.1 s',
    'Synced: 2 of 3 resources; 10 objects, 1.5 s\n',
  ]);
  expect(logged).toEqual([]);
});

test('elsewhere there is an entry of the log now and then, and no text', () => {
  const shown = line(false);
  for (let step = 0; step < 50; step += 1) {
    shown.show(progress(1));
    now += 100;
  }
  shown.show(progress(3));
  shown.finish();
  const facts = (synced: number, seconds: number) => ({ synced, resources: 3, failing: 0, objects: 10, seconds });
  expect(logged).toEqual([
    ['info', facts(1, 0), 'the first sync is running'],
    ['info', facts(1, 2), 'the first sync is running'],
    ['info', facts(1, 4), 'the first sync is running'],
    ['info', facts(3, 5), 'the first sync is complete'],
  ]);
  expect(written).toEqual([]);
});

test('what did not sync is named at the end, once, and does not count as synced', () => {
  const failing = [{ cluster: 'c', resource: 'foos.example.com', error: 'no schema' }, refused('pods')];
  const shown = line(true);
  shown.show(progress(1, failing));
  shown.finish();
  shown.finish();
  shown.show(progress(3));
  expect(written).toEqual([
    '1 of 3 resources, 1 failing, 1 refused; 10 objects, 0.0 s',
    [
      'Synced: 1 of 3 resources, 1 failing, 1 refused (403): pods; 10 objects, 0.0 s',
      '  Grant Portolan list and watch on the refused resources, or leave them out with --exclude.',
      '  not synced: foos.example.com of c: no schema',
      '',
    ].join('\n'),
  ]);
  const piped = line(false);
  piped.show(progress(1, failing));
  piped.finish();
  expect(logged.slice(1).map(([level, fields]) => [level, fields])).toEqual([
    ['info', { cluster: 'c', status: 403, resources: ['pods'] }],
    ['info', { synced: 1, resources: 3, failing: 2, objects: 10, seconds: 0 }],
  ]);
});

test('many refused resources are one line, for each cluster where there are several', () => {
  const shown = line(true);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  shown.show(progress(0, [...names.map((name) => refused(name)), refused('a', 'west')]));
  shown.finish();
  expect(written.at(-1)).toContain('6 refused (403) by c: a, b, c, d, e, …, 1 refused (403) by west: a; 10 objects');
});

test('when nothing was ever shown there is nothing to finish', () => {
  line(false).finish();
  expect([written, logged]).toEqual([[], []]);
});

test('no resource at all is said, and why', () => {
  for (const isTTY of [true, false]) {
    const shown = line(isTTY);
    shown.show({ ...progress(0), resourcesTotal: 0 });
    shown.finish();
  }
  const text = 'Nothing is served: no resource matches --kinds and --exclude.';
  expect(written.at(-1)).toBe(`${text}\n`);
  expect(logged.at(-1)).toEqual(['warn', {}, text]);
});
