/** A minimal client for tests against the simulated cluster: fetch, JSON, and watches read line by line. */

import { asObject, asString, type JsonObject, parseJson } from '../../sim/objects/json.ts';
import { must } from '../../src/base/must.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** An open watch. `next` resolves to undefined at a clean end and rejects when the connection is cut. */
export interface OpenWatch {
  readonly status: number;
  next(): Promise<WatchEvent | undefined>;
  /** The events up to and including the first one of this type. */
  until(type: string): Promise<WatchEvent[]>;
  close(): Promise<void>;
}

export class SimClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#url = url;
    this.#headers = headers;
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(this.#url + path, {
      method,
      headers: { 'Content-Type': 'application/json', ...this.#headers, ...headers },
      redirect: 'manual',
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json') && text !== '';
    return { status: response.status, headers: response.headers, body: isJson ? asObject(parseJson(text)) : { text } };
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body: unknown): Promise<Answer> {
    return this.send('POST', path, body);
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.send('PUT', path, body);
  }

  patch(path: string, type: 'merge' | 'json' | 'strategic' | 'apply', body: unknown): Promise<Answer> {
    const contentType = {
      merge: 'application/merge-patch+json',
      json: 'application/json-patch+json',
      strategic: 'application/strategic-merge-patch+json',
      apply: 'application/apply-patch+yaml',
    }[type];
    return this.send('PATCH', path, body, { 'Content-Type': contentType });
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.send('DELETE', path, body);
  }

  async watch(path: string): Promise<OpenWatch> {
    const aborter = new AbortController();
    const response = await fetch(this.#url + path, { headers: this.#headers, signal: aborter.signal });
    const reader = must(response.body, 'the body of a watch').getReader();
    const decoder = new TextDecoder();
    let buffer = '';
    const next = async (): Promise<WatchEvent | undefined> => {
      for (;;) {
        const end = buffer.indexOf('\n');
        if (end >= 0) {
          const line = asObject(parseJson(buffer.slice(0, end)));
          buffer = buffer.slice(end + 1);
          return { type: asString(line.type), object: asObject(line.object) };
        }
        const { value, done } = await reader.read();
        if (done) return undefined;
        buffer += decoder.decode(value, { stream: true });
      }
    };
    return {
      status: response.status,
      next,
      until: async (type) => {
        const events: WatchEvent[] = [];
        for (let event = await next(); event; event = await next()) {
          events.push(event);
          if (event.type === type) return events;
        }
        throw new Error(`the watch ended before ${type}`);
      },
      close: async () => {
        aborter.abort();
        await reader.cancel().catch(() => undefined);
      },
    };
  }
}
