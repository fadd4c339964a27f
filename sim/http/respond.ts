/** Writes responses: JSON, Status objects, and bodies that exceed the size of one string. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../src/base/errors.ts';
import { StatusError, statusErrors } from '../objects/status-error.ts';

const bodyLimit = 3 * 1024 * 1024;

/** Sends text as JSON. */
export function sendText(
  response: ServerResponse,
  code: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(code, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-cache, private',
    ...headers,
  });
  response.end(text);
}

/** Sends a value as JSON. */
export function sendJson(
  response: ServerResponse,
  code: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  sendText(response, code, JSON.stringify(value), headers);
}

/** Sends a thrown value as a Status: a 500 unless it is a StatusError. Does nothing after the headers have been sent. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status =
    error instanceof StatusError
      ? error
      : new StatusError(500, 'InternalError', `Internal error occurred: ${messageOf(error)}`, {
          causes: [{ reason: 'InternalError', message: messageOf(error) }],
        });
  const retryAfter = (status.status.details as { retryAfterSeconds?: number } | undefined)?.retryAfterSeconds;
  sendJson(response, status.httpCode, status.status, retryAfter ? { 'Retry-After': String(retryAfter) } : {});
}

/** Sends a body in pieces with backpressure, without joining it. Stops when the client disconnects. */
export async function sendPieces(response: ServerResponse, pieces: Iterable<string>): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' });
  let buffer = '';
  for (const piece of pieces) {
    buffer += piece;
    if (buffer.length < 262_144) continue;
    const flows = response.write(buffer);
    buffer = '';
    if (response.destroyed) return;
    if (!flows) await drained(response);
    if (response.destroyed) return;
  }
  response.end(buffer);
}

/** Resolves when the response accepts more data, or when the client has disconnected. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}

/** The whole body as text; throws a 413 Status beyond three megabytes. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bodyLimit) throw new StatusError(413, 'RequestEntityTooLarge', `limit is ${bodyLimit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The parsed JSON body; throws a 400 Status for text that is not JSON. */
export function parsedOr400(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    throw statusErrors.badRequest(`the object provided is unrecognized: ${messageOf(error)}`);
  }
}
