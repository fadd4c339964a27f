/** Sends the text of an answer: compressed as the client accepts it, and only if it is another one than the client has. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { type AnswerTexts, answerHead, wholeText } from '../../operation/answers/answer-text.ts';
import type { KeptAnswer, KeptAnswers, KeptQuestion } from '../../operation/answers/kept-answers.ts';
import { type CodedBody, codedBody, codingOf, encodeBody } from '../negotiation/compression.ts';
import { entityTag, sendNotModified, taggedHeaders } from '../negotiation/entity-tag.ts';
import type { QueryRequest } from './query-request.ts';

/** Where an answer goes. */
export interface Recipient extends Pick<QueryRequest, 'method' | 'type'> {
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
}

/** Null when it was sent at once. */
export function sendTexts(texts: AnswerTexts, recipient: Recipient): Promise<void> | null {
  const { method, type, headers, response } = recipient;
  const text = wholeText(texts);
  const tag = method === 'GET' ? entityTag(answerHead(texts) ?? text, type) : null;
  if (tag !== null && sendNotModified(tag, headers, response)) return null;
  return sendCoded(encodeBody(text, Buffer.byteLength(text), headers['accept-encoding']), tag, recipient);
}

/** As sendTexts, for an answer in memory. Its compressed forms are kept with it. */
export function sendKept(
  answer: KeptAnswer,
  recipient: Recipient,
  answers: KeptAnswers,
  question: KeptQuestion,
): Promise<void> | null {
  const { method, type, headers, response } = recipient;
  let tag: string | null = null;
  if (method === 'GET') {
    tag = answer.tags.get(type) ?? entityTag(answer.head, type);
    answer.tags.set(type, tag);
  }
  if (tag !== null && sendNotModified(tag, headers, response)) return null;
  const { body } = answer;
  const coding = codingOf(body.length, headers['accept-encoding']);
  const known = coding === null || coding === 'identity' ? body : answer.coded.get(coding);
  if (known !== undefined) return sendCoded(codedBody(known, known.length, coding), tag, recipient);
  const coded = Promise.resolve(encodeBody(body, body.length, headers['accept-encoding'])).then((made) => {
    if (answer.body === body && typeof made.body !== 'string')
      answers.keepCoded(question, answer, String(coding), made.body);
    return made;
  });
  return sendCoded(coded, tag, recipient);
}

function sendCoded(
  coded: CodedBody | Promise<CodedBody>,
  tag: string | null,
  { type, response }: Recipient,
): Promise<void> | null {
  const write = ({ headers, body }: CodedBody): void => {
    const tagged = tag === null ? {} : taggedHeaders(tag);
    response.writeHead(200, { 'content-type': type, ...headers, ...tagged }).end(body);
  };
  if (coded instanceof Promise) return coded.then(write);
  write(coded);
  return null;
}
