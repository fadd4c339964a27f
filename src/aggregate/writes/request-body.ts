/**
 * The body of a request that writes. Its bytes and its values have the bounds of all manifests (src/writes/manifests/manifest-bounds.ts),
 * before anything looks at it.
 */
import type { IncomingMessage } from 'node:http';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { jsonCopy } from '../../writes/manifests/json-copy.ts';
import { ManifestBudget, manifestBounds } from '../../writes/manifests/manifest-bounds.ts';
import { statusError } from '../protocol/status.ts';

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

/** The value of a body. Integers keep all digits. @throws PortolanError that means 400 */
export function jsonOf(text: string): unknown {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch (error) {
    throw statusError('BadRequest', `the body is no JSON: ${messageOf(error)}`);
  }
  return bounded(value);
}

/** A copy of a value, if it is within the bounds. @throws PortolanError that means 400 */
export function bounded(value: unknown): unknown {
  return jsonCopy(value, new ManifestBudget(manifestBounds));
}
