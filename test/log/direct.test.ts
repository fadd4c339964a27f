/** A follower gets the log of a feeder over HTTP/2 with mutual TLS, and only a follower that has a certificate. */
import { existsSync } from 'node:fs';
import { connect } from 'node:http2';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { followLog } from '../../src/log/direct/log-client.ts';
import { type LogServer, type MutualTls, startLogServer } from '../../src/log/direct/log-server.ts';
import { LogFollower } from '../../src/log/follow/log-follower.ts';
import { emptyPosition, type LogRequest } from '../../src/log/transport/log-request.ts';
import { openReader } from '../../src/store/read/reader.ts';
import type { Writer } from '../../src/store/types/writer.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import type { WriterOptions } from '../../src/store/write/writer-options.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { eventually } from '../kit/eventually.ts';
import { describedResource, pod, storeFile } from '../kit/store-file.ts';

let feeders: CertificateAuthority;
let servers: CertificateAuthority;
let feederTls: MutualTls;
let followerTls: MutualTls;

beforeAll(async () => {
  [feeders, servers] = await Promise.all([
    createCertificateAuthority('Feeders'),
    createCertificateAuthority('Servers'),
  ]);
  feederTls = { ...(await feeders.issue({ names: ['IP:127.0.0.1'] })), ca: servers.ca };
  followerTls = { ...(await servers.issue({ names: ['DNS:server'] })), ca: feeders.ca };
});
afterAll(() => {
  feeders.remove();
  servers.remove();
});

interface Feeder {
  readonly writer: StoreWriter;
  readonly server: LogServer;
  /** Starts the server again, at another port. */
  again(): Promise<LogServer>;
  put(name: string, more?: Readonly<Record<string, unknown>>): void;
}

type Bounds = { readonly maxFollowers?: number; readonly stallMs?: number };

let version = 100;

async function feeder(bounds: Bounds = {}): Promise<Feeder> {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  writer.openCluster('east', 'uid-east');
  const handle = writer.declare(describedResource());
  const replace = writer.replace(handle);
  replace.put(Array.from({ length: 700 }, (_, index) => pod({ name: `p${index}`, rv: 50 })));
  await replace.commit('100');
  const reader = openReader(file, { readers: 2, leaseMs: 60_000, log: silentLogger });
  const served = {
    epoch: writer.epoch,
    reader,
    reserve: async () => writer.reserveSequence(),
    onWake: (listener: () => void) => writer.onCommit(listener),
  };
  const start = async (): Promise<LogServer> => {
    const logs = new Map([['cell-0', served]]);
    const given = { host: '127.0.0.1', port: 0, tls: feederTls, logs, clock: systemClock, log: silentLogger };
    const server = await startLogServer({ ...given, ...bounds });
    onTestFinished(() => server.close());
    return server;
  };
  onTestFinished(async () => {
    await reader.close();
    writer.close();
  });
  return {
    writer,
    server: await start(),
    again: start,
    put(name, more = {}) {
      version += 1;
      writer.apply(handle, [{ type: 'ADDED', object: pod({ name, rv: version, ...more }) }], String(version));
    },
  };
}

/** A follower over the direct transport. */
function follow(url: () => string, file = storeFile()): { readonly follower: LogFollower; objects(): number } {
  let store: Writer | null = null;
  const open = (more: WriterOptions): StoreWriter =>
    openWriter(file, { checkpoints: 'inline', follows: true, ...more });
  const follower = new LogFollower({
    connect: (request, signal) => followLog({ url: url(), cell: 'cell-0', tls: followerTls, request, signal }),
    openFile: () => (existsSync(file) ? open({}) : null),
    makeFile: (epoch, lost) => open({ newEpoch: () => epoch, ...(lost === null ? {} : { lost }) }),
    opened(opened) {
      store = opened;
    },
    clock: systemClock,
    random: Math.random,
    log: silentLogger,
  });
  onTestFinished(() => follower.stop());
  return { follower, objects: () => store?.states()[0]?.objects ?? 0 };
}

test('a follower is filled, follows, and goes on after its connection was lost', async () => {
  const { writer, server, again, put } = await feeder();
  let { url } = server;
  const followers = [follow(() => url), follow(() => url)];
  await eventually(() => expect(followers.map(({ objects }) => objects())).toEqual([700, 700]));
  put('new');
  await eventually(() => expect(followers.map(({ objects }) => objects())).toEqual([701, 701]));
  expect(server.followers()).toBe(2);
  expect(followers[0]?.follower.status()).toMatchObject({ connected: true, filled: true, error: null });
  await server.close();
  await eventually(() =>
    expect(followers[0]?.follower.status()).toMatchObject({
      connected: false,
      error: expect.stringContaining('is lost'),
    }),
  );
  put('meanwhile');
  const other = await again();
  ({ url } = other);
  await eventually(() => expect(followers.map(({ objects }) => objects())).toEqual([702, 702]));
  await eventually(() =>
    expect(followers.map(({ follower }) => follower.status().revision)).toEqual([writer.revision(), writer.revision()]),
  );
});

test('requests that are wrong get a coded error, and nobody else is harmed', async () => {
  const { server, writer } = await feeder({ maxFollowers: 2 });
  const { follower, objects } = follow(() => server.url);
  await eventually(() => expect(objects()).toBe(700));
  const ask = (given: Partial<Parameters<typeof followLog>[0]>) =>
    followLog({
      url: server.url,
      cell: 'cell-0',
      tls: followerTls,
      request: { epoch: null, position: emptyPosition },
      signal: new AbortController().signal,
      ...given,
    });
  const refused = (given: Partial<Parameters<typeof followLog>[0]>, code: string) =>
    expect(ask(given)).rejects.toMatchObject({ code });
  await refused({ cell: 'other' }, 'NOT_FOUND');
  await refused({ cell: 'a/b?c=%zz' }, 'NOT_FOUND');
  await refused({ request: { epoch: 'other', position: { ...emptyPosition, revision: 5 } } }, 'GONE');
  await refused({ request: {} as LogRequest }, 'BAD_USER_INPUT');
  await refused({ request: { epoch: null, position: { ...emptyPosition, revision: 1.5 } } }, 'BAD_USER_INPUT');
  const ahead = await ask({ request: { epoch: writer.epoch, position: { ...emptyPosition, revision: 1_000_000 } } });
  await expect(ahead.batches[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: 'GONE',
    message: expect.stringContaining('ends at'),
  });
  const stranger = await createCertificateAuthority('Strangers');
  onTestFinished(() => stranger.remove());
  await refused(
    { tls: { ...(await stranger.issue({ names: ['DNS:server'] })), ca: feeders.ca } },
    'UPSTREAM_UNAVAILABLE',
  );
  await refused({ tls: { ...followerTls, ca: stranger.ca } }, 'UPSTREAM_UNAVAILABLE');
  const second = await ask({});
  await refused({}, 'TOO_MANY_REQUESTS');
  second.close();
  await eventually(() => expect(server.followers()).toBe(1));
  const third = await ask({});
  third.close();
  expect(follower.status()).toMatchObject({ connected: true, error: null });
});

test('a client without a certificate gets no answer', async () => {
  const { server } = await feeder();
  const session = connect(server.url, { ca: feeders.ca });
  onTestFinished(() => session.destroy());
  const answered = new Promise((resolve) => {
    session.on('error', () => resolve('refused'));
    const stream = session.request({ ':method': 'POST', ':path': '/v1/cells/cell-0/log' });
    stream.on('response', () => resolve('answered'));
    stream.on('error', () => resolve('refused'));
    stream.end('{}');
  });
  expect(await answered).toBe('refused');
  expect(server.followers()).toBe(0);
});

test('a path that cannot be decoded is not found', async () => {
  const { server } = await feeder();
  const session = connect(server.url, followerTls);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ':method': 'POST', ':path': '/v1/cells/%zz/log' });
  const status = new Promise((resolve) => stream.on('response', (headers) => resolve(headers[':status'])));
  stream.end('{}');
  expect(await status).toBe(404);
});

test('a follower that takes nothing is cut off', async () => {
  const { server, put } = await feeder({ stallMs: 500 });
  const stalled = await followLog({
    url: server.url,
    cell: 'cell-0',
    tls: followerTls,
    request: { epoch: null, position: emptyPosition },
    signal: new AbortController().signal,
  });
  onTestFinished(() => stalled.close());
  const sound = follow(() => server.url);
  // Noise cannot be compressed, so the connection is full soon.
  const noise = (): string => Array.from({ length: 40_000 }, () => Math.random().toString(36).slice(2, 12)).join('');
  for (let index = 0; index < 30; index += 1) put(`noise-${index}`, { rest: { spec: { noise: noise() } } });
  await eventually(() => expect(server.followers()).toBe(1));
  await eventually(() => expect(sound.objects()).toBe(730));
});

test('a feeder that says nothing counts as lost', async () => {
  const { server } = await feeder();
  const stream = await followLog({
    url: server.url,
    cell: 'cell-0',
    tls: followerTls,
    request: { epoch: null, position: emptyPosition },
    signal: new AbortController().signal,
    silenceMs: 700,
  });
  const read = async (): Promise<void> => {
    for await (const _ of stream.batches);
  };
  await expect(read()).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringContaining('nothing came'),
  });
});

test('a follower starts again from its file, and is filled anew when the log of its file is gone', async () => {
  const first = await feeder();
  let { url } = first.server;
  const file = storeFile();
  const before = follow(() => url, file);
  await eventually(() =>
    expect(before.follower.status()).toMatchObject({ filled: true, revision: first.writer.revision() }),
  );
  await before.follower.stop();
  first.put('while it was away');
  const { follower, objects } = follow(() => url, file);
  await eventually(() => expect(objects()).toBe(701));
  const other = await feeder();
  other.put('one');
  other.put('two');
  await first.server.close();
  ({ url } = other.server);
  await eventually(() => expect(objects()).toBe(702));
  expect(follower.status()).toMatchObject({ connected: true, revision: other.writer.revision(), error: null });
});
