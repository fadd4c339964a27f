/**
 * Objects without a uid or resourceVersion: what some servers compute at each request (ComponentStatus, PodMetrics). They can only
 * be listed. Their identity is their name, and their version is a digest of their text; the text itself stays as received.
 */
import { createHash } from 'node:crypto';
import { madeUpUid, madeUpVersion } from '../catalog/made-up.ts';
import { parseExact } from '../catalog/values.ts';
import type { IncomingObject } from '../store/types.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The object with a uid and a resourceVersion in its parsed value, or, `spelledOut`, in its text. One that has both, or is no object,
 * is left as it is.
 */
export function identified(text: string, spelledOut = false): IncomingObject {
  const value = recordOf(parse(text, JSON.parse));
  const metadata = recordOf(value?.['metadata']);
  if (value === null || metadata === null) return { text };
  const { uid, resourceVersion, namespace, name } = metadata;
  if (isText(uid) && isText(resourceVersion)) return { text, value };
  const madeUp = {
    uid: isText(uid) ? uid : madeUpUid(isText(namespace) ? namespace : '', isText(name) ? name : ''),
    resourceVersion: isText(resourceVersion)
      ? resourceVersion
      : madeUpVersion(createHash('sha256').update(text).digest('base64url').slice(0, 22)),
  };
  if (!spelledOut) return { text, value: { ...value, metadata: { ...metadata, ...madeUp } } };
  const exact = recordOf(parse(text, parseExact)) ?? {};
  return { text: JSON.stringify({ ...exact, metadata: { ...recordOf(exact['metadata']), ...madeUp } }) };
}

function parse(text: string, parser: (text: string) => unknown): unknown {
  try {
    return parser(text);
  } catch {
    return null;
  }
}

function recordOf(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
