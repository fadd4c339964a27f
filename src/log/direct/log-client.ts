/**
 * Follows a log that a feeder serves (log-server.ts).
 *
 *   connect -> the epoch of the log -> batches, each taken before the next one is read -> the connection is lost, or the feeder ends the log
 *
 * The caller connects again, from the position that its store has then.
 */
import {
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import { text } from 'node:stream/consumers';
import { type ErrorCode, errorCodes, messageOf, PortolanError } from '../../base/errors.ts';
import { parsedJson, record, textOr } from '../../base/json.ts';
import type { LogMessage } from '../../store/types/followed-log.ts';
import { decodeBatch } from '../batch/batch-codec.ts';
import type { LogRequest, LogStream } from '../transport/log-request.ts';
import { frameKinds, framesIn, logPath } from './log-frames.ts';
import type { MutualTls } from './log-server.ts';

interface FollowOptions {
  /** Of the feeder: https://HOST:PORT. */
  readonly url: string;
  readonly cell: string;
  readonly tls: MutualTls;
  readonly request: LogRequest;
  readonly signal: AbortSignal;
  /** Milliseconds without a frame after which the feeder counts as lost; default 30 s. */
  readonly silenceMs?: number;
}

/** Resolves when the feeder has accepted. Rejects with GONE if its log does not go on at the position. */
export async function followLog(options: FollowOptions): Promise<LogStream> {
  const { url, cell, tls, request, signal, silenceMs = 30_000 } = options;
  signal.throwIfAborted();
  const session = connect(url, { ...tls, minVersion: 'TLSv1.3' });
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  let isOver = false;
  const close = (): void => {
    isOver = true;
    signal.removeEventListener('abort', close);
    session.destroy();
  };
  signal.addEventListener('abort', close, { once: true });
  const lost = (why: string): void => failed.reject(lostFeeder(url, why));
  session.on('error', (error) => lost(messageOf(error)));
  session.on('close', () => lost('the connection is closed'));
  const stream = session.request({ ':method': 'POST', ':path': logPath(cell) });
  stream.on('error', (error) => lost(messageOf(error)));
  stream.setTimeout(silenceMs, () => {
    lost(`nothing came for ${silenceMs / 1000} s`);
    stream.close(constants.NGHTTP2_CANCEL);
  });
  stream.end(JSON.stringify(request));
  try {
    const headers = await Promise.race([responseOf(stream), failed.promise]);
    if (headers[':status'] !== 200) throw refusal(headers, await Promise.race([text(stream), failed.promise]));
    const batches = batchesIn(stream, { close, failed: failed.promise, hasEnded: () => isOver });
    return { epoch: textOr(headers['portolan-epoch']), batches, close };
  } catch (error) {
    close();
    throw signal.aborted ? signal.reason : error;
  }
}

interface Ending {
  close(): void;
  readonly failed: Promise<never>;
  hasEnded(): boolean;
}

async function* batchesIn(
  stream: ClientHttp2Stream,
  { close, failed, hasEnded }: Ending,
): AsyncGenerator<readonly LogMessage[]> {
  try {
    for await (const { kind, bytes } of framesIn(stream as AsyncIterable<Uint8Array>)) {
      if (kind === frameKinds.batch) yield await decodeBatch(bytes);
      else if (kind === frameKinds.error) throw errorIn(bytes.toString());
    }
    if (!hasEnded()) await failed;
  } catch (error) {
    if (hasEnded()) return;
    throw error instanceof PortolanError ? error : await failed.catch((reason: unknown) => reason);
  } finally {
    close();
  }
}

type ResponseHeaders = IncomingHttpHeaders & IncomingHttpStatusHeader;

function responseOf(stream: ClientHttp2Stream): Promise<ResponseHeaders> {
  return new Promise((resolve) => stream.once('response', resolve));
}

function refusal({ ':status': status }: ResponseHeaders, body: string): PortolanError {
  return record(parsedJson(body)) === undefined
    ? new PortolanError('UPSTREAM_UNAVAILABLE', `The feeder answered with ${status}.`)
    : errorIn(body);
}

function errorIn(body: string): PortolanError {
  const told = record(parsedJson(body));
  const code = textOr(told?.['code']);
  const known: ErrorCode = Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'UPSTREAM_UNAVAILABLE';
  return new PortolanError(known, `The feeder says: ${textOr(told?.['message'])}`);
}

function lostFeeder(url: string, why: string): PortolanError {
  return new PortolanError('UPSTREAM_UNAVAILABLE', `The feeder at ${url} is lost: ${why}.`);
}
