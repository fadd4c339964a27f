/**
 * Answers queries over HTTP without the executor (src/answers): a POST of JSON, and a GET. Every other request passes on, and so does one
 * that has no such answer.
 *
 *   admitted -> its text is read -> its caller's turn -> answer: sent by Node's response
 *                                                     -> null: Yoga reads the same text
 *
 * A page is read in a fraction of a millisecond. So the text comes from Node's request and the answer goes to Node's response: a body and a
 * Response of the Fetch API would cost a tenth of the page.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import type { Admission } from '../../admission/admission.ts';
import type { Answers } from '../../answers/answers.ts';
import { must } from '../../base/must.ts';
import type { Generation, OperationContext } from '../../graphql/generation/generation.ts';
import { type EntryContext, whenWritten } from './entry-context.ts';
import { queryRequest } from './query-request.ts';
import { sendAnswer } from './send-answer.ts';

/** Must follow the admission's plugin. @param answers null: the executor answers every query */
export function useAnswers(
  answers: Answers | null,
  { turns }: Pick<Admission<Generation>, 'turns'>,
): Plugin<OperationContext> {
  return {
    async onRequest({ request, setRequest, serverContext, endResponse, fetchAPI }) {
      const context = serverContext as EntryContext;
      const { req, res } = context;
      const admitted = must(context.admitted, 'every entry point admits its requests');
      const query = req === undefined ? null : queryRequest(req);
      if (answers === null || query === null || req === undefined || res === undefined) {
        await turns.turn(admitted.caller.name);
        return;
      }
      const { length, parametersOf } = query;
      // Before the turn: what begins in it shall not wait for the network.
      const text = length === null ? must(req.url, 'the URL of a request') : await bodyOf(req, length);
      await turns.turn(admitted.caller.name);
      const { url, method, headers, signal } = request;
      const found = answers.answer({ admitted, text, parametersOf, signal });
      const answered = found instanceof Promise ? await found : found;
      if (answered === null) {
        if (length !== null) setRequest(new fetchAPI.Request(url, { method, headers, signal, body: text }));
        return;
      }
      whenWritten(context, answered.leave);
      await sendAnswer(answered, query, req, res);
      // Yoga sends nothing after the end of Node's response.
      endResponse(new fetchAPI.Response(null));
    },
  };
}

/** The body of a request. @param length in bytes @throws an Error if the client leaves before the end */
async function bodyOf(request: IncomingMessage, length: number): Promise<string> {
  for (;;) {
    const body = request.read(length) as Buffer | null;
    if (body !== null) return body.toString('utf8');
    if (request.destroyed) throw new Error('the client left before the end of its request');
    await Promise.race([once(request, 'readable'), once(request, 'close')]);
  }
}
