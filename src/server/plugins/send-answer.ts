/** Sends an answer: compressed as the client accepts it, and only if it is another one than the client has. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answered } from '../../answers/answers.ts';
import { answerHead, wholeText } from '../../operation/answers/answer-text.ts';
import type { KeptAnswer } from '../../operation/answers/kept-answers.ts';
import { type CodedBody, codedBody, codingOf, encodeBody } from '../negotiation/compression.ts';
import { entityTag, sendNotModified, taggedHeaders } from '../negotiation/entity-tag.ts';
import type { QueryRequest } from './query-request.ts';

/** Null when it was sent at once. */
export function sendAnswer(
  answered: Answered,
  { length, type }: Pick<QueryRequest, 'length' | 'type'>,
  { headers }: Pick<IncomingMessage, 'headers'>,
  response: ServerResponse,
): Promise<void> | null {
  const isGet = length === null;
  const tag = isGet ? tagOf(answered, type) : null;
  if (tag !== null && sendNotModified(tag, headers, response)) return null;
  const write = ({ headers: described, body }: CodedBody): void => {
    const tagged = tag === null ? {} : taggedHeaders(tag);
    response.writeHead(200, { 'content-type': type, ...described, ...tagged }).end(body);
  };
  const coded = bodyOf(answered, headers['accept-encoding']);
  if (coded instanceof Promise) return coded.then(write);
  write(coded);
  return null;
}

function tagOf(answered: Answered, type: string): string {
  if (answered.kept === null) return entityTag(answerHead(answered.texts) ?? wholeText(answered.texts), type);
  const { tags, head } = answered.kept;
  const tag = tags.get(type) ?? entityTag(head, type);
  tags.set(type, tag);
  return tag;
}

function bodyOf(answered: Answered, acceptEncoding: string | undefined): CodedBody | Promise<CodedBody> {
  if (answered.kept !== null) return keptBody(answered.kept, answered.keepCoded, acceptEncoding);
  const text = wholeText(answered.texts);
  return encodeBody(text, Buffer.byteLength(text), acceptEncoding);
}

/** Its compressed forms are kept with it. */
function keptBody(
  kept: KeptAnswer,
  keepCoded: (coding: string, coded: Uint8Array) => void,
  acceptEncoding: string | undefined,
): CodedBody | Promise<CodedBody> {
  const { body } = kept;
  const coding = codingOf(body.length, acceptEncoding);
  const known = coding === null || coding === 'identity' ? body : kept.coded.get(coding);
  if (known !== undefined) return codedBody(known, known.length, coding);
  return Promise.resolve(encodeBody(body, body.length, acceptEncoding)).then((made) => {
    if (kept.body === body && typeof made.body !== 'string') keepCoded(String(coding), made.body);
    return made;
  });
}
