/**
 * Entity tags and conditional requests (RFC 9110, 8.8.3 and 13.1.2) of answers to GET.
 *
 *   GET                                -> 200, etag: W/"…", cache-control: private, no-cache
 *   GET, if-none-match: W/"…"          -> 304 without a body, if the answer of now has the same tag
 *
 * The tag is weak: an answer is equivalent to itself at a later revision, and in every content coding. It is compared with the answer
 * that this caller would get now, so it confirms nothing that the caller may not read. It depends on a secret of the process. So the
 * content of an answer cannot be guessed by its tag, which may stand in the logs of a proxy.
 *
 * Answers to POST have no tag, and `if-none-match` of a POST is ignored. A POST of a query selects no representation of the target, and
 * the precondition would mean 412 there, which helps no client.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';

const secret = randomBytes(32);

/** Like every private representation, an answer is stored only by its client, which asks whether it is still the answer. */
const cacheControl = 'private, no-cache';
/** The headers on which an answer to GET depends, besides the caller. */
const varies = 'Origin, Accept, Accept-Encoding';

/** The tag of an answer. @param content its text without the revision. @param type its media type. */
export function entityTag(content: string | Uint8Array, type: string): string {
  const hash = createHash('sha256').update(secret).update(type).update('\n').update(content);
  return `W/"${hash.digest('base64url').slice(0, 27)}"`;
}

/** Does the header of this name list the tag? Compares as weak tags. */
export function isNotModified(ifNoneMatch: string | null | undefined, tag: string): boolean {
  if (ifNoneMatch === null || ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)].some(([, each]) => each === opaque);
}

/** The headers of an answer to GET, also of a 304. */
export function taggedHeaders(tag: string): Readonly<Record<string, string>> {
  return { etag: tag, 'cache-control': cacheControl, vary: varies };
}

/** Sends a 304 if the client has the answer already. Otherwise returns false. */
export function sendNotModified(tag: string, asked: IncomingHttpHeaders, response: ServerResponse): boolean {
  if (!isNotModified(asked['if-none-match'], tag)) return false;
  response.writeHead(304, taggedHeaders(tag)).end();
  return true;
}
