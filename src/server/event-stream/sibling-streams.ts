/**
 * Streams of the single connection mode in a gateway with several serve processes. A stream lives in one process. The kernel gives
 * each connection to any process. So a request with the token of a stream may come to another process, which passes it on.
 *
 *   PUT at process 1              -> the token `1.…`
 *   POST with `1.…` at process 2  -> the socket of process 1 in their folder -> the answer, passed back
 *
 * Only the user of the gateway can open the folder. A passed request is admitted by the process that gets it, by the same headers. It names
 * the address of the client, for the audit. A certificate of the client stays with the connection, so callers with certificates get no
 * stream of this mode here.
 */
import { rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  request as passOn,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PortolanError } from '../../base/errors.ts';

export interface SiblingOptions {
  /** The folder of the sockets. */
  readonly folder: string;
  /** Of this process, from 1. */
  readonly number: number;
}

/** The address of the client of a passed request. A value of this name from the client is replaced. */
const addressHeader = 'x-portolan-client-address';
/** Headers of an answer that are those of its connection. */
const ofConnection = ['connection', 'keep-alive', 'transfer-encoding'];

export class SiblingStreams {
  readonly #folder: string;
  readonly #number: number;
  readonly #server: ReturnType<typeof createServer>;
  readonly #known: (socket: Socket) => void;

  private constructor({ folder, number }: SiblingOptions, answer: RequestListener, known: (socket: Socket) => void) {
    this.#folder = folder;
    this.#number = number;
    this.#known = known;
    this.#server = createServer((request, response) => {
      // Each connection has one request.
      Object.defineProperty(request.socket, 'remoteAddress', { value: request.headers[addressHeader] });
      return answer(request, response);
    });
  }

  /**
   * Resolves when the siblings can pass requests on.
   * @param answer answers them as those that come by the port
   * @param known gets the connection of a client when the process with the stream has accepted its caller
   */
  static async open(
    options: SiblingOptions,
    answer: RequestListener,
    known: (socket: Socket) => void,
  ): Promise<SiblingStreams> {
    const streams = new SiblingStreams(options, answer, known);
    const path = streams.#pathOf(options.number);
    // An earlier process of this number may have been killed.
    rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      streams.#server.once('error', reject);
      streams.#server.listen(path, resolve);
    });
    return streams;
  }

  /** The token with the number of this process before it. */
  signed(token: string): string {
    return `${this.#number}.${token}`;
  }

  /** The number of the process that has the stream; null for this one. */
  otherOf(token: string): number | null {
    const [, number] = /^(\d{1,4})\./.exec(token) ?? [];
    return number === undefined || Number(number) === this.#number ? null : Number(number);
  }

  /**
   * Passes the request on with this body, and its answer back.
   * @throws PortolanError NOT_FOUND if that process is gone, and its streams with it; or the error of the body
   */
  async pass(
    number: number,
    request: IncomingMessage,
    response: ServerResponse,
    body: AsyncIterable<Buffer>,
  ): Promise<void> {
    const { method, url, headers } = request;
    const passed = passOn({
      socketPath: this.#pathOf(number),
      method,
      path: url,
      headers: { ...headers, connection: 'close', [addressHeader]: request.socket.remoteAddress ?? '' },
      agent: false,
    });
    response.once('close', () => passed.destroy());
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      passed.once('response', resolve);
      passed.once('error', reject);
    });
    // The answer may come before the end of the body, and the body then stops.
    let refused: PortolanError | null = null;
    pipeline(body, passed).catch((error: unknown) => {
      if (error instanceof PortolanError) refused = error;
    });
    const answer = await answered.catch(() => null);
    if (answer === null) throw refused ?? noStream();
    if ((answer.statusCode ?? 500) < 400) this.#known(request.socket);
    for (const name of ofConnection) delete answer.headers[name];
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    await pipeline(answer, response).catch(() => response.destroy());
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #pathOf(number: number): string {
    return join(this.#folder, String(number));
  }
}

/** The error of a request with an unknown token. */
export function noStream(): PortolanError {
  return new PortolanError('NOT_FOUND', 'There is no stream of this token; make a reservation by PUT first.');
}
