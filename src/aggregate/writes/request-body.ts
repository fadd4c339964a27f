/**
 * The body of a request that writes. Its bytes and its values have the bounds of all manifests (src/writes/manifests/manifest-bounds.ts),
 * before anything looks at it.
 */
import type { IncomingMessage } from 'node:http';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { jsonCopy } from '../../writes/manifests/json-copy.ts';
import { ManifestBudget, manifestBounds } from '../../writes/manifests/manifest-bounds.ts';
import { statusError } from '../protocol/status.ts';
import type { SetWriteOptions } from './write-options.ts';

/** @throws PortolanError that means 413, or 400 for a body that does not arrive whole. */
export async function bodyText(request: IncomingMessage): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > manifestBounds.bytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // The connection stays open for the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > manifestBounds.bytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    throw statusError('BadRequest', `the body did not arrive: ${messageOf(error)}`);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(): Error {
  return statusError(
    'RequestEntityTooLarge',
    `The body has more than ${manifestBounds.bytes} bytes. Make several sets of these objects.`,
  );
}

/** The value of a body. Integers keep all digits. @throws PortolanError that means 400, also for a key that an object has twice if that is asked */
export function jsonOf(text: string, { validation }: Pick<SetWriteOptions, 'validation'>): unknown {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch (error) {
    throw statusError('BadRequest', `the body is no JSON: ${messageOf(error)}`);
  }
  const copy = bounded(value);
  if (validation === 'Strict' && membersIn(text) !== membersOf(copy)) {
    throw statusError('BadRequest', 'strict decoding error: an object of the body has a key twice');
  }
  return copy;
}

/** The members of all objects in a JSON text: strings that a colon follows. */
function membersIn(text: string): number {
  let count = 0;
  for (const [, colon] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"\s*(:?)/gs)) if (colon === ':') count += 1;
  return count;
}

function membersOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + membersOf(each), 0);
  if (!isRecord(value) || isRawJson(value)) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + 1 + membersOf(each), 0);
}

/** A copy of a value, if it is within the bounds. @throws PortolanError that means 400 */
export function bounded(value: unknown): unknown {
  return jsonCopy(value, new ManifestBudget(manifestBounds));
}
