/** Answers of the model's server that are no lists and no watches. */
import type { ConnectionAnswer } from '../../src/kube/client/connection.ts';
import type { ModelBody } from './model-body.ts';

export const json = { 'content-type': 'application/json' };

/** The line of a watch that began too long ago. */
export const expired = `${JSON.stringify({
  type: 'ERROR',
  object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410, message: 'too old' },
})}\n`;

export function refusedConnection(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}

export function whole(
  body: ModelBody,
  code: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): ConnectionAnswer {
  if (text !== '') body.write(text);
  body.end();
  return { status: code, headers, body };
}

export function status(
  body: ModelBody,
  code: number,
  reason: string,
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
): ConnectionAnswer {
  const text = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, ...more });
  return whole(body, code, text, { ...json, ...headers });
}

/** @param seconds that whoever asked is to wait. */
export function throttled(body: ModelBody, seconds: number): ConnectionAnswer {
  return status(body, 429, 'TooManyRequests', {}, { 'retry-after': String(seconds) });
}

/** The version that was asked for has not come to this front end yet: in either form that servers say it. */
export function tooLarge(body: ModelBody, form: 'cause' | 'words'): ConnectionAnswer {
  const message = 'Too large resource version: 1, current: 0';
  const details = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }] };
  return status(body, 504, 'Timeout', form === 'cause' ? { message, details } : { message });
}
