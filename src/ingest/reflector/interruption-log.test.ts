import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { type Logger, silentLogger } from '../../base/log.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { type Failure, failureOf } from '../flow/failure.ts';
import { InterruptionLog } from './interruption-log.ts';

let clock: ManualClock;
let lines: string[];
let log: InterruptionLog;

beforeEach(() => {
  clock = new ManualClock();
  lines = [];
  const line = (level: string) => (fields: object, message: string) => {
    const { count, reason } = fields as { count: number; reason?: string };
    lines.push(`${level} ${message.includes('continues') ? 'continues' : reason} ${count}`);
  };
  const logger: Logger = { ...silentLogger, info: line('info'), warn: line('warn') };
  log = new InterruptionLog(clock, logger);
});

const failure = (httpStatus: number): Failure =>
  failureOf(new ApiError({ code: 'UPSTREAM_UNAVAILABLE', httpStatus, reason: '', message: 'no' }));
const [network, throttled, forbidden, expired] = [failure(0), failure(429), failure(403), failure(410)];

test('one failure of each of many collections is one entry without a warning', async () => {
  for (let index = 0; index < 700; index += 1) log.failed(`r${index}`, network);
  expect(lines).toEqual([]);
  await clock.advance(2000);
  expect(lines).toEqual(['info network 700']);
});

test('an outage is one warning, and its end is one entry', async () => {
  for (let turn = 0; turn < 20; turn += 1) {
    for (let index = 0; index < 50; index += 1) log.failed(`r${index}`, network);
    await clock.advance(3000);
  }
  expect(lines).toEqual(['info network 50', 'info network 50', 'warn network 50']);
  expect(log.warned).toBe(50);
  for (let index = 0; index < 50; index += 1) log.continues(`r${index}`);
  await clock.advance(2000);
  expect(lines.slice(3)).toEqual(['info continues 50']);
  expect(log.warned).toBe(0);
});

test('a collection that is throttled while its definition is being established is no warning', async () => {
  log.failed('foos.example.com', throttled);
  await clock.advance(2000);
  log.continues('foos.example.com');
  await clock.advance(600_000);
  log.failed('foos.example.com', throttled);
  log.failed('foos.example.com', throttled);
  await clock.advance(2000);
  expect(lines).toEqual(['info status 429 1', 'info status 429 1']);
  log.failed('foos.example.com', throttled);
  await clock.advance(2000);
  expect(lines.at(-1)).toBe('warn status 429 1');
});

test('refusals are warnings at once, in one entry, and are not repeated', async () => {
  for (let turn = 0; turn < 5; turn += 1) {
    log.failed('secrets', forbidden);
    log.failed('nodes', forbidden);
    log.failed('pods', expired);
    await clock.advance(10_000);
  }
  expect(lines).toEqual(['warn status 403 2']);
});

test('a collection that is removed leaves nothing, and a refused one is no outage', async () => {
  const missing = failure(404);
  for (let turn = 0; turn < 3; turn += 1) log.failed('foos.example.com', missing);
  log.failed('secrets', forbidden);
  log.forget('foos.example.com');
  expect(log.warned).toBe(0);
  await clock.advance(2000);
  expect(lines).toEqual(['warn status 403 1']);
});

test('one 404 is no warning: the definition of the collection is being removed', async () => {
  log.failed('foos.example.com', failure(404));
  await clock.advance(2000);
  expect(lines).toEqual(['info status 404 1']);
});

test('what is collected is written at the end', () => {
  log.failed('pods', network);
  log.close();
  expect(lines).toEqual(['info network 1']);
});
