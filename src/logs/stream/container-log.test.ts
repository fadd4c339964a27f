/** The log of one container from a server on loopback: what the lines that are kept hold in memory, and what is asked again. */
import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { heapBytes } from '../../../test/kit/heap-bytes.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { startLoopbackServer, writeOrClose } from '../../../test/kit/loopback-server.ts';
import { connect } from '../../kube/client/connection.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { lineCondition } from '../lines/line-condition.ts';
import { ResumePoint } from '../lines/resume-point.ts';
import type { LogOptions } from '../pods/log-request.ts';
import type { ContainerState } from '../pods/pod-containers.ts';
import { ContainerLog } from './container-log.ts';
import { LogMerge } from './log-merge.ts';
import type { LogLine } from './log-message.ts';

const place = { cluster: 'east', namespace: 'shop', pod: 'web', container: 'app' };
const time = '2026-11-28T07:00:00.000000000Z';
const later = '2026-11-28T07:00:01.000000000Z';
const other = `${time} ${'x'.repeat(70)}\n`;
const options = {
  ...{ containers: null, follow: false, previous: false, since: null, tail: null },
  ...{ grep: 'ERROR', contains: null, ignoreCase: false },
};
const mebibyte = 1024 * 1024;

test('lines that match keep nothing of the lines around them in memory', async () => {
  const chunks = 300;
  let read = 0;
  const { log, lines } = await logOf(
    async (_url, response) => {
      for (let at = 0; at < chunks; at += 1) {
        await writeOrClose(response, `${other.repeat(650)}${time} ERROR in line ${at} of a log\n`);
      }
      response.end();
    },
    options,
    (bytes) => {
      read += bytes;
    },
  );
  const before = heapBytes();
  await log.run();
  expect(heapBytes() - before).toBeLessThan(5 * mebibyte);
  expect(read).toBeGreaterThan(chunks * 650 * other.length);
  expect(lines()).toEqual(Array.from({ length: chunks }, (_, at) => `ERROR in line ${at} of a log`));
});

test('only new lines: a container that starts again before the first one loses none of the time between', async () => {
  const asked: string[] = [];
  const { log, lines, told, clock } = await logOf(
    async ({ searchParams }, response) => {
      searchParams.sort();
      asked.push(searchParams.toString());
      if (asked.length === 1) {
        log.update({ name: 'app', instance: 1, isRunning: true, end: null }, false);
        clock.now += 2001;
        response.destroy();
        return;
      }
      const isPrevious = searchParams.has('previous');
      if (!isPrevious) log.update({ name: 'app', instance: 1, isRunning: false, end: null }, true);
      response.end(`${isPrevious ? `${time} last of the first` : `${later} first of the next`}\n`);
    },
    { ...options, follow: true, tail: 0, grep: null },
  );
  await log.run();
  expect(lines()).toEqual(['last of the first', 'first of the next']);
  expect(asked).toEqual([
    'container=app&follow=true&tailLines=0&timestamps=true',
    'container=app&previous=true&sinceSeconds=13&timestamps=true',
    'container=app&follow=true&timestamps=true',
  ]);
  expect(told).toEqual(['INTERRUPTED', 'BEGAN', 'ENDED', 'RESTARTED', 'ENDED']);
});

test.each<[string, Partial<LogOptions>, readonly [string, string]]>([
  ['tail: 0', { tail: 0 }, ['tailLines=0', 'sinceSeconds=20']],
  ['since', { since: { seconds: 1 } }, ['sinceSeconds=1', 'sinceSeconds=21']],
  ['since and tail', { since: { seconds: 1 }, tail: 5 }, ['sinceSeconds=1&tailLines=5', 'sinceSeconds=21&tailLines=5']],
  ['since and tail: 0', { since: { seconds: 60 }, tail: 0 }, ['sinceSeconds=60&tailLines=0', 'sinceSeconds=20']],
])(
  '%s: a connection that is lost before the first line loses none of the time between',
  async (_name, more, expected) => {
    const asked: string[] = [];
    const { log, lines, clock } = await logOf(
      async (url, response) => {
        if (hasNoPrevious(url, response)) return;
        const { searchParams } = url;
        for (const name of ['container', 'follow', 'timestamps']) searchParams.delete(name);
        searchParams.sort();
        asked.push(searchParams.toString());
        if (asked.length === 1) {
          clock.now += 9_500;
          response.destroy();
          return;
        }
        log.update({ name: 'app', instance: 0, isRunning: false, end: null }, true);
        response.end(`${time} between\n`);
      },
      { ...options, follow: true, grep: null, ...more },
    );
    await log.run();
    expect(lines()).toEqual(['between']);
    expect(asked).toEqual(expected);
  },
);

const following = { ...options, follow: true, grep: null };
const running = (instance: number) => ({ name: 'app', instance, isRunning: true, end: null });
const ended = (instance: number) => ({ name: 'app', instance, isRunning: false, end: null });

/** As a kubelet answers for a container that did not start again. */
function hasNoPrevious(url: URL, response: ServerResponse): boolean {
  if (!url.searchParams.has('previous')) return false;
  response.writeHead(400).end();
  return true;
}

test('a body that ends inside a line is no end of the line: the next answer has it whole', async () => {
  for (const part of [`${later} half of`, later, later.slice(0, 15)]) {
    let asked = 0;
    const { log, lines } = await logOf(async (url, response) => {
      if (hasNoPrevious(url, response)) return;
      asked += 1;
      // A kubelet that goes away ends the answer of the API server so.
      if (asked === 1) response.end(`${time} first\n${part}`);
      else {
        log.update(ended(0), true);
        response.end(`${time} first\n${later} half of a line\n`);
      }
    }, following);
    await log.run();
    expect([part, lines()]).toEqual([part, ['first', 'half of a line']]);
  }
});

test('the last line of a container may have no end, and the status may come late', async () => {
  let asked = 0;
  const { log, lines, told } = await logOf(async (url, response) => {
    if (hasNoPrevious(url, response)) return;
    asked += 1;
    if (asked === 3) log.update(ended(0), true);
    response.end(`${time} first\n${later} last`);
  }, following);
  await log.run();
  expect(lines()).toEqual(['first', 'last']);
  expect(told).toEqual(['BEGAN', 'ENDED']);
});

test('the last line of an instance may have no end, and come before the lines of the next one', async () => {
  let asked = 0;
  const { log, lines } = await logOf(async (url, response) => {
    if (hasNoPrevious(url, response)) return;
    asked += 1;
    if (asked === 1) response.end(`${time} first\n${later} last`);
    else {
      log.update(ended(1), true);
      response.end(`${later.replace('1.0', '1.5')} next\n`);
    }
  }, following);
  await log.run();
  expect(lines()).toEqual(['first', 'last', 'next']);
});

test('a message of the kubelet instead of a log is shown', async () => {
  const { log, lines } = await logOf(async (_url, response) => {
    log.update(ended(0), true);
    response.end('unable to retrieve container logs');
  }, following);
  await log.run();
  expect(lines()).toEqual(['unable to retrieve container logs']);
});

test.each([true, false])(
  'a container that starts again while the connection is lost loses no line, although the status comes late (line before: %s)',
  async (hasLine) => {
    const asked: string[] = [];
    const half = later.replace('1.0', '1.5');
    let newest: ServerResponse | null = null;
    const { log, lines, told } = await logOf(async ({ searchParams }, response) => {
      asked.push(`${searchParams.has('previous') ? 'previous' : 'newest'} ${searchParams.get('sinceTime') ?? 'all'}`);
      const first = `${time} one\n`;
      if (asked.length === 1) {
        if (hasLine) response.write(first);
        response.flushHeaders();
        response.socket?.destroySoon();
      } else if (asked.length === 2) {
        response.write(`${half} three\n`);
        newest = response;
      } else {
        response.end(`${first}${later} two\n`);
        // The status comes after the answers.
        log.update(ended(1), true);
        newest?.end();
      }
    }, following);
    await log.run();
    expect(lines()).toEqual(['one', 'two', 'three']);
    const since = hasLine ? time.replace('.000000000', '') : 'all';
    expect(asked).toEqual(['newest all', `newest ${since}`, `previous ${since}`]);
    expect(told).toEqual(['BEGAN', 'INTERRUPTED', 'ENDED', 'RESTARTED', 'ENDED']);
  },
);

test('a container that did not start again shows no line of the instance before', async () => {
  const asked: string[] = [];
  const { another, lines, told } = await logOf(async ({ searchParams }, response) => {
    asked.push(searchParams.has('previous') ? 'previous' : 'newest');
    if (asked.length === 1) {
      response.write(`${later} one\n`);
      response.socket?.destroySoon();
    } else if (searchParams.has('previous')) response.end(`${later.replace('1.0', '0.9')} old\n`);
    else {
      log.update(ended(3), true);
      response.end(`${later} one\n${later.replace('1.0', '1.5')} two\n`);
    }
  }, following);
  const log = another(running(3));
  await log.run();
  expect(lines()).toEqual(['one', 'two']);
  expect(asked).toEqual(['newest', 'newest', 'previous']);
  expect(told).toEqual(['BEGAN', 'INTERRUPTED', 'ENDED']);
});

test('after a refusal, the log goes on with the instance that was read before', async () => {
  const asked: string[] = [];
  const { log, another, lines } = await logOf(async ({ searchParams }, response) => {
    asked.push(searchParams.has('previous') ? 'previous' : 'newest');
    if (asked.length === 1) {
      response.write(`${time} one\n`);
      response.socket?.destroySoon();
      return;
    }
    if (asked.length === 2) response.writeHead(403).end();
    else
      response.end(
        searchParams.has('previous') ? `${time} one\n${later} two\n` : `${later.replace('1.0', '1.5')} three\n`,
      );
  }, following);
  await log.run();
  const next = another(running(1));
  next.update(ended(1), true);
  await next.run();
  expect(lines()).toEqual(['one', 'two', 'three']);
  expect(asked).toEqual(['newest', 'newest', 'previous', 'newest']);
});

test.each(['before the answer', 'while the former log is read'])(
  'a container that starts again after a late end is told of once, and loses no line (status: %s)',
  async (when) => {
    const asked: string[] = [];
    const former = `${time} one\n${later} two\n`;
    const next = `${later.replace('1.0', '1.5')} three\n`;
    let newest: ServerResponse | null = null;
    const { log, lines, told } = await logOf(async ({ searchParams }, response) => {
      asked.push(searchParams.has('previous') ? 'previous' : 'newest');
      if (asked.length === 1) response.end(`${time} one\n${later} tw`);
      else if (asked.length === 2) {
        if (when === 'before the answer') log.update(running(1), false);
        response.write(next);
        newest = response;
      } else if (asked.length === 3) {
        log.update(running(1), false);
        response.end(former);
        newest?.end();
      } else if (searchParams.has('previous')) response.end(former);
      else {
        log.update(ended(1), true);
        response.end(next);
      }
    }, following);
    await log.run();
    expect(lines()).toEqual(['one', 'two', 'three']);
    expect(asked).toEqual(['newest', 'newest', 'previous', 'newest', 'previous']);
    expect(told).toEqual(['BEGAN', 'ENDED', 'RESTARTED', 'ENDED']);
  },
);

test('a container that starts again during an answer of its first instance is told of once', async () => {
  const asked: string[] = [];
  const got: string[] = [];
  const rest = later.replace('1.0', '1.3');
  const { log, lines, told } = await logOf(async ({ searchParams }, response) => {
    const isPrevious = searchParams.has('previous');
    asked.push(isPrevious ? 'previous' : 'newest');
    if (asked.length === 1) response.end(`${time} one\n`);
    else if (asked.length === 2) {
      response.write(`${time} one\n${later} two\n`);
      await eventually(() => {
        got.push(...lines());
        expect(got).toContain('two');
      });
      log.update(running(1), false);
      response.end(`${rest} rest\n`);
    } else if (asked.length === 3) response.writeHead(400).end();
    else if (isPrevious) response.end(`${later} two\n${rest} rest\n`);
    else {
      log.update(ended(1), true);
      response.end(`${later.replace('1.0', '1.5')} three\n`);
    }
  }, following);
  await log.run();
  expect([...got, ...lines()]).toEqual(['one', 'two', 'rest', 'three']);
  expect(asked).toEqual(['newest', 'newest', 'previous', 'newest']);
  expect(told).toEqual(['BEGAN', 'ENDED', 'RESTARTED', 'ENDED']);
});

test('a number of restarts that goes down is a restart', async () => {
  let asked = 0;
  const { another, lines, told } = await logOf(async (_url, response) => {
    asked += 1;
    log.update(ended(asked === 1 ? 5 : 0), asked > 1);
    response.end(asked === 1 ? `${time} one\n` : `${later} two\n`);
  }, following);
  const log = another(running(5));
  const run = log.run();
  await eventually(() => expect(told).toContain('ENDED'));
  // The node was restarted.
  log.update(running(0), false);
  await run;
  expect(lines()).toEqual(['one', 'two']);
  expect(told).toEqual(['BEGAN', 'ENDED', 'RESTARTED', 'ENDED']);
});

test('a number of restarts that goes down after it was late is a restart too', async () => {
  const asked: string[] = [];
  let newest: ServerResponse | null = null;
  const { log, lines, told } = await logOf(async ({ searchParams }, response) => {
    asked.push(searchParams.has('previous') ? 'previous' : 'newest');
    if (asked.length === 1) {
      response.write(`${time} one\n`);
      response.socket?.destroySoon();
    } else if (asked.length === 2) {
      response.write(`${later} two\n`);
      newest = response;
    } else if (asked.length === 3) {
      response.end(`${time} one\n`);
      newest?.end();
    } else if (asked.length === 4) {
      log.update(ended(1), false);
      response.end(`${later} two\n`);
    } else if (asked.length === 5) response.end(`${time} one\n`);
    else {
      log.update(ended(0), true);
      response.end(`${later.replace('1.0', '1.5')} three\n`);
    }
  }, following);
  const run = log.run();
  await eventually(() => expect(told.filter((type) => type === 'ENDED')).toHaveLength(2));
  log.update(running(0), false);
  await run;
  expect(lines()).toEqual(['one', 'two', 'three']);
  expect(asked).toEqual(['newest', 'newest', 'previous', 'newest', 'previous', 'newest']);
  expect(told).toEqual(['BEGAN', 'INTERRUPTED', 'ENDED', 'RESTARTED', 'ENDED', 'RESTARTED', 'ENDED']);
});

test('an empty line without a space tells a restart too', async () => {
  const asked: string[] = [];
  let newest: ServerResponse | null = null;
  const { log, lines, told } = await logOf(async ({ searchParams }, response) => {
    asked.push(searchParams.has('previous') ? 'previous' : 'newest');
    if (asked.length === 1) {
      response.write(`${time}\n`);
      response.socket?.destroySoon();
    } else if (asked.length === 2) {
      response.write(`${later} next\n`);
      newest = response;
    } else {
      response.end(`${time}\n`);
      log.update(ended(1), true);
      newest?.end();
    }
  }, following);
  await log.run();
  expect(lines()).toEqual(['', 'next']);
  expect(asked).toEqual(['newest', 'newest', 'previous']);
  expect(told).toEqual(['BEGAN', 'INTERRUPTED', 'ENDED', 'RESTARTED', 'ENDED']);
});

test.each([true, false])(
  'after a refusal, what the container wrote before it started again comes first, although the status comes late (line before: %s)',
  async (hasLine) => {
    const asked: string[] = [];
    let newest: ServerResponse | null = null;
    const { log, another, lines } = await logOf(async ({ searchParams }, response) => {
      asked.push(searchParams.has('previous') ? 'previous' : 'newest');
      if (asked.length === 1) {
        if (hasLine) response.write(`${time} one\n`);
        response.flushHeaders();
        response.socket?.destroySoon();
      } else if (asked.length === 2) response.writeHead(403).end();
      else if (asked.length === 3) {
        response.write(`${later.replace('1.0', '1.5')} three\n`);
        newest = response;
      } else {
        response.end(`${time} one\n${later} two\n`);
        next.update(ended(1), true);
        newest?.end();
      }
    }, following);
    await log.run();
    const next = another(running(0));
    await next.run();
    expect(lines()).toEqual(['one', 'two', 'three']);
    expect(asked).toEqual(['newest', 'newest', 'newest', 'previous']);
  },
);

/** The log of a running container, from a server that answers so. */
async function logOf(
  answer: (url: URL, response: ServerResponse) => Promise<void>,
  asked: LogOptions,
  count: (bytes: number) => void = () => {},
) {
  const server = await startLoopbackServer((request, response) =>
    answer(new URL(request.url ?? '', 'http://server'), response),
  );
  onTestFinished(() => server.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const connection = await connect({ kubeconfig: folder.file('config', kubeconfigOf(server.url)) });
  onTestFinished(() => connection.close());
  const merge = new LogMerge(true, () => 0, { isFull: false, add: () => {} });
  const queue = merge.open(place);
  const told: string[] = [];
  const clock = { now: 5000 };
  // As of a real clock, no two looks give the same time.
  const monotonic = (): number => {
    clock.now += 0.001;
    return clock.now;
  };
  const point = new ResumePoint();
  const another = (state: ContainerState): ContainerLog =>
    new ContainerLog(
      {
        ...{ queue, merge, options: asked, point, isWhole: false, monotonic, count },
        condition: lineCondition(asked),
        client: async () => new RestClient(connection),
        tell: ({ type }) => void told.push(type),
      },
      state,
      false,
    );
  const log = another(running(0));
  const lines = (): readonly string[] => {
    const taken: LogLine[] = [];
    merge.take(taken, 1000);
    return taken.map(({ text }) => text);
  };
  return { log, another, lines, told, clock };
}

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    'current-context': 'east',
    clusters: [{ name: 'east', cluster: { server } }],
    users: [{ name: 'user', user: { token: 'token' } }],
    contexts: [{ name: 'east', context: { cluster: 'east', user: 'user' } }],
  });
}
