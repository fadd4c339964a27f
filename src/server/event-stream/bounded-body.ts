/** The body of a request, as far as it may go. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PortolanError } from '../../base/errors.ts';

/** The pieces of the body. @throws PortolanError BAD_USER_INPUT after `maxBytes`; the rest of the body is not read then. */
export async function* boundedBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxBytes) {
      response.setHeader('connection', 'close');
      throw new PortolanError('BAD_USER_INPUT', `The operation has more than ${maxBytes} bytes.`);
    }
    yield piece;
  }
}
