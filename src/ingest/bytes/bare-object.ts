/**
 * Objects without a uid or resourceVersion: some servers compute them at each request (ComponentStatus, PodMetrics). They
 * can only be listed. Their synthetic identity is their name, and their version is a digest of their text. The text stays
 * as received.
 */
import { createHash } from 'node:crypto';
import { syntheticUid, syntheticVersion } from '../../catalog/resources/synthetic-identity.ts';
import type { IncomingObject } from '../../store/types/incoming-object.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Adds the synthetic identity and version. An object with a uid and a resourceVersion, or a value of another type, is
 * unchanged.
 */
export function identified(text: string): IncomingObject {
  const value = recordOf(parse(text));
  const metadata = recordOf(value?.['metadata']);
  if (value === null || metadata === null) return { text };
  const { uid, resourceVersion, namespace, name } = metadata;
  return {
    text,
    value,
    ...(isText(uid) ? {} : { uid: syntheticUid(isText(namespace) ? namespace : '', isText(name) ? name : '') }),
    ...(isText(resourceVersion)
      ? {}
      : { resourceVersion: syntheticVersion(createHash('sha256').update(text).digest('base64url').slice(0, 22)) }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
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
