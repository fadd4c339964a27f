import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '../objects/json.ts';
import type { ResourcePath } from './request-info.ts';

/** Changes what the server answers, so that tests can make it fail. The demo has no hooks. */
export interface AnswerHooks {
  /**
   * Called before the server looks at a request. May change `params`. May throw a Status, which is then the answer.
   * @param about undefined for a path without a resource
   * @returns whether it has sent the response.
   */
  request(
    request: IncomingMessage,
    response: ServerResponse,
    about: ResourcePath | undefined,
    params: URLSearchParams,
  ): boolean;
  /** Another discovery document in place of `body`; undefined where it stays. */
  discovery(path: string, body: JsonObject): JsonObject | undefined;
  /** The body to send for a list; undefined when it has sent the response. */
  list(resource: string, response: ServerResponse, body: Iterable<string>): Iterable<string> | undefined;
  /** Writes the lines of one watch to its response. */
  watch(resource: string, response: ServerResponse): { write(lines: string): void };
}
