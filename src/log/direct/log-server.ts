/**
 * Serves the logs of a feeder's stores over HTTP/2 with mutual TLS.
 *
 *   POST /v1/cells/NAME/log { epoch, position } -> 200, portolan-epoch -> frames until either side ends
 *
 * Only clients with a certificate of the given authority reach it. Each follower has a reader of its own. The next batch is read when the
 * last one was taken. So a slow follower does not delay the others, and costs one batch of memory. A follower that takes nothing for
 * `stallMs` is cut off.
 */
import { once } from 'node:events';
import {
  constants,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { FollowerPosition } from '../../store/types/followed-log.ts';
import type { Reader } from '../../store/types/lease.ts';
import { encodeBatch } from '../batch/batch-codec.ts';
import { LogReader } from '../read/log-reader.ts';
import { type LogRequest, readLogRequest } from '../transport/log-request.ts';
import { frameKinds, frameOf, logPath } from './log-frames.ts';

/** A store whose log is served. */
interface ServedLog {
  /** Another one after commits of the store were lost: their numbers would mean other entries. */
  readonly epoch: string;
  readonly reader: Reader;
  /** See LogReader. */
  reserve(): Promise<number>;
  /** Calls the listener after commits. Returns the function that removes it. */
  onWake(listener: () => void): () => void;
}

/** PEM texts. */
export interface MutualTls {
  readonly cert: string;
  readonly key: string;
  /** The authority of the other side. */
  readonly ca: string;
}

interface LogServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: MutualTls;
  /** By the name of the cell. */
  readonly logs: ReadonlyMap<string, ServedLog>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Most followers at a time, of all cells; default 100. */
  readonly maxFollowers?: number;
  /** Milliseconds without progress after which a follower is cut off; default 60 s. */
  readonly stallMs?: number;
}

export interface LogServer {
  readonly url: string;
  /** Followers that are connected. */
  followers(): number;
  close(): Promise<void>;
}

/** Milliseconds between two reads for one follower: changes of this time are one batch. */
const batchMs = 25;
/** Milliseconds without a wake after which the log is read anyway, and after which a frame says that the feeder is there. */
const restMs = 1000;
const aliveMs = 10_000;
/** Most bytes of a position: a follower of 100,000 collections has less. */
const maxPositionBytes = 32 * 1024 * 1024;
/** Milliseconds until a request must be whole. */
const requestMs = 30_000;

export async function startLogServer(options: LogServerOptions): Promise<LogServer> {
  const { host, port, tls } = options;
  const server = createSecureServer({
    ...tls,
    minVersion: 'TLSv1.3',
    requestCert: true,
    rejectUnauthorized: true,
    settings: { maxConcurrentStreams: 16 },
  });
  const serving = new LogServing(options);
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {});
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => void serving.serve(stream, headers));
  server.on('tlsClientError', (error) => options.log.warn({ error: messageOf(error) }, 'a follower was refused'));
  server.listen(port, host);
  await once(server, 'listening');
  return {
    url: `https://${host}:${(server.address() as AddressInfo).port}`,
    followers: () => serving.followers,
    async close() {
      serving.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

class LogServing {
  readonly #options: LogServerOptions;
  readonly #stop = new AbortController();
  followers = 0;

  constructor(options: LogServerOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stop.abort(new Error('the log is not served any more'));
  }

  /** Never rejects. */
  async serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const gone = new AbortController();
    stream.on('error', () => {});
    stream.on('close', () => gone.abort(new Error('the follower is gone')));
    const signal = AbortSignal.any([gone.signal, this.#stop.signal]);
    this.followers += 1;
    try {
      const { maxFollowers = 100 } = this.#options;
      if (this.followers > maxFollowers)
        throw new PortolanError('TOO_MANY_REQUESTS', `This feeder has ${maxFollowers} followers already.`);
      const served = this.#logAt(headers);
      const { epoch, position } = await readRequest(stream);
      if (position.revision > 0 && epoch !== served.epoch)
        throw new PortolanError('GONE', `The log of ${epoch} is gone; the feeder has ${served.epoch}.`);
      stream.respond({ ':status': 200, 'content-type': 'application/octet-stream', 'portolan-epoch': served.epoch });
      await this.#send(stream, served, position, signal);
    } catch (error) {
      if (!signal.aborted) this.#refuse(stream, error);
    } finally {
      this.followers -= 1;
    }
  }

  #logAt({ ':method': method, ':path': path }: IncomingHttpHeaders): ServedLog {
    // Names are encoded for the comparison, because a path may hold what cannot be decoded.
    const [, served] = [...this.#options.logs].find(([name]) => path === logPath(name)) ?? [];
    if (method !== 'POST' || served === undefined)
      throw new PortolanError(
        'NOT_FOUND',
        `This feeder has no log at ${method} ${path}. Ask with POST for /v1/cells/NAME/log.`,
      );
    return served;
  }

  async #send(
    stream: ServerHttp2Stream,
    served: ServedLog,
    position: FollowerPosition,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock } = this.#options;
    const { reader, reserve, onWake } = served;
    const log = new LogReader({ reader, clock, reserve }, position);
    const wakes = new Wakes(onWake);
    try {
      let saidAt = clock.monotonic();
      for (;;) {
        signal.throwIfAborted();
        const began = clock.monotonic();
        wakes.clear();
        const messages = await log.next();
        if (messages.length > 0)
          await this.#write(stream, frameOf(frameKinds.batch, await encodeBatch(messages)), signal);
        else if (began - saidAt >= aliveMs) await this.#write(stream, frameOf(frameKinds.alive), signal);
        else {
          await wakes.next(restMs, clock, signal);
          continue;
        }
        saidAt = clock.monotonic();
        await clock.sleep(Math.max(0, batchMs - (saidAt - began)), signal);
      }
    } finally {
      wakes.end();
    }
  }

  /** Resolves when the follower has taken enough for another frame. */
  async #write(stream: ServerHttp2Stream, frame: Buffer, signal: AbortSignal): Promise<void> {
    if (stream.write(frame)) return;
    const { clock, stallMs = 60_000 } = this.#options;
    const over = new AbortController();
    const drained = once(stream, 'drain', { signal: AbortSignal.any([signal, over.signal]) });
    const stalled = clock.sleep(stallMs, AbortSignal.any([signal, over.signal])).then(() => 'stalled' as const);
    try {
      const first = await Promise.race([drained, stalled]);
      if (first === 'stalled') throw new PortolanError('TIMEOUT', `The follower took nothing for ${stallMs / 1000} s.`);
    } finally {
      drained.catch(() => {});
      stalled.catch(() => {});
      over.abort(new Error('the frame is taken'));
    }
  }

  #refuse(stream: ServerHttp2Stream, error: unknown): void {
    const { log } = this.#options;
    const { code, message } =
      error instanceof PortolanError ? error : new PortolanError('INTERNAL_SERVER_ERROR', 'The log could not be read.');
    log.warn({ code, error: messageOf(error) }, 'a follower is not served any more');
    const body = Buffer.from(JSON.stringify({ code, message }));
    if (!stream.headersSent) {
      stream.respond({ ':status': statusOf(code), 'content-type': 'application/json' });
      stream.end(body);
    } else if (code === 'TIMEOUT') stream.close(constants.NGHTTP2_CANCEL);
    else stream.end(frameOf(frameKinds.error, body));
  }
}

function statusOf(code: string): number {
  const statuses: Readonly<Record<string, number>> = {
    NOT_FOUND: 404,
    GONE: 410,
    BAD_USER_INPUT: 400,
    TOO_MANY_REQUESTS: 429,
  };
  return statuses[code] ?? 500;
}

/** Remembers wakes between two waits. */
class Wakes {
  readonly #remove: () => void;
  #woken = false;
  #wake: () => void = () => {};

  constructor(onWake: ServedLog['onWake']) {
    this.#remove = onWake(() => {
      this.#woken = true;
      this.#wake();
    });
  }

  clear(): void {
    this.#woken = false;
  }

  /** Resolves with the next wake since `clear`, or after `ms`. */
  async next(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (this.#woken) return;
    const over = new AbortController();
    this.#wake = () => over.abort();
    await clock.sleep(ms, AbortSignal.any([signal, over.signal])).catch(() => {});
    signal.throwIfAborted();
  }

  end(): void {
    this.#remove();
  }
}

async function readRequest(stream: ServerHttp2Stream): Promise<LogRequest> {
  const pieces: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), requestMs);
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > maxPositionBytes)
        throw new PortolanError('BAD_USER_INPUT', `A position has at most ${maxPositionBytes} bytes.`);
      pieces.push(piece);
    }
  } finally {
    clearTimeout(timer);
  }
  return readLogRequest(Buffer.concat(pieces).toString());
}
