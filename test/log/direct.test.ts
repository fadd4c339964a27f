/** A follower gets the log of a feeder over HTTP/2 with mutual TLS, and only a follower that has a certificate. */
import { connect } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { followLog } from '../../src/log/direct/log-client.ts';
import { emptyPosition, type LogRequest } from '../../src/log/direct/log-request.ts';
import { type LogServer, type MutualTls, startLogServer } from '../../src/log/direct/log-server.ts';
import { openReader } from '../../src/store/read/reader.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
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

/** A follower that connects again when its connection is lost. */
class Follower {
  readonly #file = storeFile();
  readonly #stop = new AbortController();
  readonly #url: () => string;
  #store: StoreWriter | null = null;
  readonly errors: unknown[] = [];
  readonly #running: Promise<void>;

  constructor(url: () => string) {
    this.#url = url;
    this.#running = this.#run(this.#stop.signal);
    onTestFinished(() => this.stop());
  }

  get objects(): number {
    return this.#store?.states()[0]?.objects ?? 0;
  }

  get revision(): number {
    return this.#store?.revision() ?? 0;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const request: LogRequest = {
          epoch: this.#store?.epoch ?? null,
          position: this.#store?.followed.position() ?? emptyPosition,
        };
        const { epoch, batches } = await followLog({
          url: this.#url(),
          cell: 'cell-0',
          tls: followerTls,
          request,
          signal,
        });
        this.#store ??= openWriter(this.#file, { checkpoints: 'inline', follows: true, newEpoch: () => epoch });
        for await (const messages of batches) this.#store.followed.take(messages);
      } catch (error) {
        if (!signal.aborted) this.errors.push(error);
        await sleep(50);
      }
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test is over'));
    await this.#running;
    this.#store?.close();
    this.#store = null;
  }
}

test('a follower is filled, follows, and goes on after its connection was lost', async () => {
  const { writer, server, again, put } = await feeder();
  let { url } = server;
  const followers = [new Follower(() => url), new Follower(() => url)];
  await eventually(() => expect(followers.map(({ objects }) => objects)).toEqual([700, 700]));
  put('new');
  await eventually(() => expect(followers.map(({ objects }) => objects)).toEqual([701, 701]));
  expect(server.followers()).toBe(2);
  await server.close();
  put('meanwhile');
  const other = await again();
  ({ url } = other);
  await eventually(() => expect(followers.map(({ objects }) => objects)).toEqual([702, 702]));
  await eventually(() =>
    expect(followers.map(({ revision }) => revision)).toEqual([writer.revision(), writer.revision()]),
  );
  for (const { errors } of followers) expect(errors[0]).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
});

test('requests that are wrong get a coded error, and nobody else is harmed', async () => {
  const { server } = await feeder({ maxFollowers: 2 });
  const follower = new Follower(() => server.url);
  await eventually(() => expect(follower.objects).toBe(700));
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
  await refused({ request: { epoch: 'other', position: { ...emptyPosition, revision: 5 } } }, 'GONE');
  await refused({ request: {} as LogRequest }, 'BAD_USER_INPUT');
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
  expect(follower.errors).toEqual([]);
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
  const sound = new Follower(() => server.url);
  // Noise cannot be compressed, so the connection is full soon.
  const noise = (): string => Array.from({ length: 40_000 }, () => Math.random().toString(36).slice(2, 12)).join('');
  for (let index = 0; index < 30; index += 1) put(`noise-${index}`, { rest: { spec: { noise: noise() } } });
  await eventually(() => expect(server.followers()).toBe(1));
  await eventually(() => expect(sound.objects).toBe(730));
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
