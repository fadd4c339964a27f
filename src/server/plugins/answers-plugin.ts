/**
 * Answers queries over HTTP without the executor (src/answers): a POST of JSON, and a GET. Every other request passes on, and so does one
 * that has no such answer.
 *
 *   admitted -> its text is read -> its caller's turn -> answer: sent by Node's response
 *                                                     -> null: Yoga reads the same text
 *
 * A page is read in a fraction of a millisecond. So the text comes from Node's request, and the answer goes to Node's response. A body and
 * a Response of the Fetch API would cost a tenth of the page.
 */
import type { IncomingMessage } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import type { Admission } from '../../admission/admission.ts';
import type { Answered, Answers } from '../../answers/answers.ts';
import { must } from '../../base/must.ts';
import type { Generation, OperationContext } from '../../graphql/generation/generation.ts';
import { admittedIn, type EntryContext, whenWritten } from './entry-context.ts';
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
      const admitted = admittedIn(context);
      const query = req === undefined ? null : queryRequest(req);
      if (answers === null || query === null || req === undefined || res === undefined) {
        await turns.turn(admitted.caller.name);
        return;
      }
      const { length, parametersOf } = query;
      const { url, method, headers, signal } = request;
      // Before the turn: what begins in it shall not wait for the network.
      const text = length === null ? must(req.url, 'the URL of a request') : await bodyOf(req, length);
      const send = (answered: Answered | null): boolean | Promise<boolean> => {
        if (answered === null) return false;
        whenWritten(context, answered.leave);
        return sendAnswer(answered, query, req, res)?.then(() => true) ?? true;
      };
      const isSent = await turns.run(admitted.caller.name, () => {
        signal.throwIfAborted();
        const answered = answers.answer({ admitted, text, parametersOf, signal });
        return answered instanceof Promise ? answered.then(send) : send(answered);
      });
      // Yoga sends nothing after the end of Node's response.
      if (isSent) endResponse(new fetchAPI.Response(null));
      else if (length !== null) setRequest(new fetchAPI.Request(url, { method, headers, signal, body: text }));
    },
  };
}

/** The body of a request. @param length in bytes @throws an Error if the client leaves before the end */
function bodyOf(request: IncomingMessage, length: number): Promise<string> {
  return new Promise((resolve, reject) => {
    // One listener for all pieces. Node calls a new one at once if some bytes are there, so the others would never be read.
    const look = (): void => {
      const body = request.read(length) as Buffer | null;
      if (body === null && !request.destroyed) return;
      for (const event of ['readable', 'close', 'error']) request.off(event, look);
      if (body === null) reject(new Error('the client left before the end of its request'));
      else resolve(body.toString('utf8'));
    };
    for (const event of ['readable', 'close', 'error']) request.on(event, look);
    look();
  });
}
