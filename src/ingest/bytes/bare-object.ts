/**
 * Objects without a uid or resourceVersion: some servers compute them at each request (ComponentStatus, PodMetrics). They
 * can only be listed. Their synthetic identity is their name, and their version is a digest of their text. The text stays
 * as received.
 */
import { createHash } from 'node:crypto';
import { isText, parsedJson, record } from '../../base/json.ts';
import { syntheticUid, syntheticVersion } from '../../catalog/resources/synthetic-identity.ts';
import type { IncomingObject } from '../../store/types/incoming-object.ts';

/**
 * Adds the synthetic identity and version. An object with a uid and a resourceVersion, or a value of another type, is
 * unchanged.
 */
export function identified(text: string): IncomingObject {
  const value = record(parsedJson(text));
  const metadata = record(value?.['metadata']);
  if (value === undefined || metadata === undefined) return { text };
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
