/** Answers of the door: JSON bodies, and errors as Status objects. */
import type { ServerResponse } from 'node:http';
import { statusOf } from './status.ts';

const jsonType = 'application/json';

/** @param body an object, or its JSON */
export function sendJson(response: ServerResponse, body: object | string, type = jsonType, code = 200): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response
    .writeHead(code, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-cache, private',
    })
    .end(text);
}

/** @param error anything that was thrown */
export function sendStatus(response: ServerResponse, error: unknown): void {
  const status = statusOf(error);
  const text = JSON.stringify(status);
  const seconds = status.code === 429 || status.code === 503 ? (status.details?.retryAfterSeconds ?? 1) : null;
  response
    .writeHead(status.code, {
      'content-type': jsonType,
      'content-length': Buffer.byteLength(text),
      ...(seconds === null ? {} : { 'retry-after': String(seconds) }),
    })
    .end(text);
}
