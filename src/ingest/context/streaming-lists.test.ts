import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { must } from '../../base/must.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import { StreamingLists, type StreamTurn } from './streaming-lists.ts';

function refusal(httpStatus: number): ApiError {
  return new ApiError({ code: 'UPSTREAM_UNAVAILABLE', httpStatus, reason: 'No', message: 'no' });
}
const broken = new ProtocolError('truncated', 'it ended');
const hour = 3_600_000;

function setUp(enabled = true): { clock: ManualClock; lists: StreamingLists; turn: (key: string) => StreamTurn } {
  const clock = new ManualClock();
  const lists = new StreamingLists(clock, { streamingLists: enabled, streamSilenceMs: 30_000 });
  return { clock, lists, turn: (key) => must(lists.begin(key), 'a turn') };
}

test('nothing is streamed where it is switched off', () => {
  expect(setUp(false).lists.begin('pods')).toBeNull();
});

test('until one has worked only one tries at a time; then all do', () => {
  const { lists, turn } = setUp();
  const first = turn('pods');
  expect(lists.begin('nodes')).toBeNull();
  first.worked();
  turn('nodes');
  turn('services');
});

test('a try that came to no end, or to an outage, leaves the next one to others', () => {
  const { turn } = setUp();
  turn('pods').left();
  expect(turn('nodes').failed(refusal(503), false)).toBe(false);
  expect(turn('nodes').failed(refusal(429), false)).toBe(false);
  expect(turn('nodes').failed(new Error('connect ECONNREFUSED'), false)).toBe(false);
  turn('pods');
});

test.each([400, 405, 406, 422])(
  'F18: a cluster that answers %i is not asked again for an hour, by anybody',
  async (code) => {
    const { clock, lists, turn } = setUp();
    expect(turn('pods').failed(refusal(code), false)).toBe(true);
    expect(lists.begin('pods')).toBeNull();
    expect(lists.begin('nodes')).toBeNull();
    await clock.advance(hour - 1);
    expect(lists.begin('nodes')).toBeNull();
    await clock.advance(1);
    turn('nodes').worked();
    turn('pods');
  },
);

test('F17: a cluster where the first two tries fail is not asked again for an hour, whoever tried', () => {
  const { lists, turn } = setUp();
  const [first, second] = [turn('pods'), () => turn('nodes')];
  first.opened();
  expect(first.failed(broken, false)).toBe(false);
  const another = second();
  another.opened();
  expect(another.failed(broken, false)).toBe(true);
  expect(lists.begin('services')).toBeNull();
});

test('R15: where it has worked, a failure is that of its resource alone', async () => {
  const { clock, lists, turn } = setUp();
  turn('pods').worked();
  for (const expected of [false, true]) {
    const metrics = turn('metrics');
    metrics.opened();
    expect(metrics.failed(broken, false)).toBe(expected);
  }
  expect(lists.begin('metrics')).toBeNull();
  turn('pods');
  expect(turn('secrets').failed(refusal(403), false)).toBe(true);
  expect(lists.begin('secrets')).toBeNull();
  await clock.advance(hour);
  turn('metrics');
  turn('secrets');
});

test('a server that has unlearnt it is not asked for each resource: three refusals in a row are enough', () => {
  const { lists, turn } = setUp();
  turn('pods').worked();
  for (const key of ['a', 'b']) turn(key).failed(refusal(422), false);
  turn('pods').worked();
  for (const key of ['c', 'd', 'e']) turn(key).failed(refusal(422), false);
  expect(lists.begin('pods')).toBeNull();
});
