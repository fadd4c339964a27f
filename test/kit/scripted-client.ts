/** An API server that answers as the test says, without a socket. */

import { Readable } from 'node:stream';
import { must } from '../../src/base/must.ts';
import type { Query, RestClient, StreamAnswer } from '../../src/kube/client/rest-client.ts';
import { settle } from './manual-clock.ts';

export interface AskedRequest {
  readonly path: string;
  readonly query: Query;
}

/** A body that a test writes. */
export class ScriptedBody extends Readable {
  override _read(): void {}
  write(text: string): void {
    this.push(Buffer.from(text));
  }
  end(): void {
    this.push(null);
  }
  /** Breaks the connection off, once what was written has been read. */
  async reset(): Promise<void> {
    await settle();
    this.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  }
}

export type ScriptedAnswer = (request: AskedRequest) => ScriptedBody;

/** A client whose requests are answered in turn by what the test has prepared; a request without an answer waits. */
export class ScriptedClient {
  readonly asked: AskedRequest[] = [];
  readonly #answers: ScriptedAnswer[] = [];
  /** Bodies that have been handed out and not been ended by anybody. */
  readonly bodies: ScriptedBody[] = [];

  answer(...answers: readonly ScriptedAnswer[]): void {
    this.#answers.push(...answers);
  }

  /** The body of the newest answer. */
  get body(): ScriptedBody {
    return must(this.bodies.at(-1), 'an answer was given');
  }

  readonly stream: RestClient['stream'] = async (path, query = {}, options = {}) => {
    const { signal } = options;
    signal?.throwIfAborted();
    this.asked.push({ path, query });
    const answer = this.#answers.shift();
    if (answer === undefined) {
      return new Promise<StreamAnswer>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    }
    const body = answer({ path, query });
    this.bodies.push(body);
    signal?.addEventListener('abort', () => body.destroy(signal.reason as Error), { once: true });
    return { status: 200, headers: {}, body };
  };
}
