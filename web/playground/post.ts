/** Sends one request over HTTP. Every failure is an answer with errors, because GraphiQL shows a thrown error with its stack. */
import type { ExecutionResult } from 'graphql';

/** The content of the result pane. */
export type Answer = Pick<ExecutionResult, 'data' | 'extensions'> & {
  readonly errors?: readonly { readonly message: string }[];
};

/** Time and size of an answer. */
export interface Measure {
  /** Milliseconds until its last byte. */
  readonly ms: number;
  /** Of its JSON, before any compression. */
  readonly bytes: number;
}

interface Posted {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  readonly answer: Answer;
  /** Null if there was no answer. */
  readonly measure: Measure | null;
}

export async function post(endpoint: string, body: object, headers: Readonly<Record<string, string>>): Promise<Posted> {
  const began = performance.now();
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
      const measure = { ms: performance.now() - began, bytes: new TextEncoder().encode(text).length };
      return { status, answer: JSON.parse(text) as Answer, measure };
    } catch {
      return none(`The answer has status ${status} and is not JSON: ${text.slice(0, 200)}`);
    }
  } catch (error) {
    return none(`The gateway cannot be reached: ${messageOf(error)}`);
  }
}

function none(message: string): Posted {
  return { status: 0, answer: failed(message), measure: null };
}

export function failed(message: string): Answer {
  return { errors: [{ message }] };
}

/** The message of an error, or the code and reason with which a WebSocket was closed. */
export function messageOf(error: unknown): string {
  if (error instanceof CloseEvent) return `${error.code} ${error.reason}`.trim();
  return error instanceof Error ? error.message : String(error);
}
