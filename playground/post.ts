/** Sends one request over HTTP. Every failure is an answer with errors, because GraphiQL shows a thrown error with its stack. */
import type { ExecutionResult } from 'graphql';

/** What the result pane shows. */
export type Answer = Pick<ExecutionResult, 'data' | 'extensions'> & {
  readonly errors?: readonly { readonly message: string }[];
};

export interface Posted {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  readonly answer: Answer;
}

export async function post(endpoint: string, body: object, headers: Readonly<Record<string, string>>): Promise<Posted> {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      // With application/json an answer without data has status 200, and the browser's console has no error.
      headers: { accept: 'application/json', ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { status } = response;
    const text = await response.text();
    try {
      return { status, answer: JSON.parse(text) as Answer };
    } catch {
      return { status: 0, answer: failed(`The answer has status ${status} and is not JSON: ${text.slice(0, 200)}`) };
    }
  } catch (error) {
    return { status: 0, answer: failed(`The gateway cannot be reached: ${messageOf(error)}`) };
  }
}

export function failed(message: string): Answer {
  return { errors: [{ message }] };
}

/** The message of an error, or the code and reason with which a WebSocket was closed. */
export function messageOf(error: unknown): string {
  if (error instanceof CloseEvent) return `${error.code} ${error.reason}`.trim();
  return error instanceof Error ? error.message : String(error);
}
