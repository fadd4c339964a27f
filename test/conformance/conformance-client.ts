/** What the conformance cases ask a server with: plain requests, and watches read line by line. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { TestContext } from 'vitest';
import { asArray, asObject, asString, at, type JsonObject, parseJson } from '../../sim/objects/json.ts';
import { isSince, parseServerVersion, type ServerVersion } from '../kit/server-version.ts';
import { expectedOf, type VersionDifference } from '../kit/version-difference.ts';

/** A server under test. */
export interface ConformanceTarget {
  readonly url: string;
  /** Of the administrator, who is in system:masters. */
  readonly token: string;
  /** Of the user `nobody`, who has no groups of its own and no rights until they are given. */
  readonly nobodyToken: string;
  /** Forgets everything but the present: what went before can neither be listed nor watched. */
  compact(): Promise<unknown>;
  stop(): Promise<void>;
}

export interface Reply {
  readonly code: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** Empty when the answer is not one JSON object. */
  readonly body: JsonObject;
}

export interface AskOptions {
  /** The type of the body; JSON by default. */
  readonly type?: string;
  readonly accept?: string;
  /** Another's; none at all when null. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** An open watch; `next` gives undefined at its clean end. */
export interface Watch {
  next(): Promise<WatchEvent | undefined>;
  /** This many events. */
  take(count: number): Promise<WatchEvent[]>;
  close(): void;
}

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

export class ConformanceClient {
  readonly target: ConformanceTarget;
  #version: ServerVersion | undefined;

  constructor(target: ConformanceTarget) {
    this.target = target;
  }

  /** The version that the server says it has. */
  async version(): Promise<ServerVersion> {
    this.#version ??= parseServerVersion(asString((await this.get('/version')).body.gitVersion));
    return this.#version;
  }

  /** The side of a difference that holds for this server. */
  async expected<T>(difference: VersionDifference<T>): Promise<T> {
    return expectedOf(await this.version(), difference);
  }

  /** Skips a test on servers from before the difference, with its reason. Another test has the expectation for those. */
  async needs({ since, why }: VersionDifference<unknown>, skip: TestContext['skip']): Promise<void> {
    skip(!isSince(await this.version(), 1, since), why);
  }

  async send(method: string, path: string, body?: unknown, options: AskOptions = {}): Promise<Reply> {
    const answer = await this.#open(method, path, body, options);
    let text = '';
    answer.setEncoding('utf8');
    for await (const chunk of answer) text += String(chunk);
    return { code: answer.statusCode ?? 0, headers: answer.headers, text, body: objectOf(text) };
  }

  get(path: string, options: AskOptions = {}): Promise<Reply> {
    return this.send('GET', path, undefined, options);
  }

  post(path: string, body: unknown, options: AskOptions = {}): Promise<Reply> {
    return this.send('POST', path, body, options);
  }

  put(path: string, body: unknown): Promise<Reply> {
    return this.send('PUT', path, body);
  }

  patch(path: string, kind: keyof typeof patchTypes, body: unknown): Promise<Reply> {
    return this.send('PATCH', path, body, { type: patchTypes[kind] });
  }

  delete(path: string, body?: unknown): Promise<Reply> {
    return this.send('DELETE', path, body);
  }

  /** The events of a watch that ends by itself. */
  async watched(path: string): Promise<WatchEvent[]> {
    const { text } = await this.get(path);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map(eventOf);
  }

  /** Opens a watch and waits for its head. */
  async watch(path: string): Promise<Watch> {
    const answer = await this.#open('GET', path, undefined, {});
    answer.setEncoding('utf8');
    const chunks = answer[Symbol.asyncIterator]() as AsyncIterator<string>;
    let rest = '';
    const next = async (): Promise<WatchEvent | undefined> => {
      for (;;) {
        const end = rest.indexOf('\n');
        if (end >= 0) {
          const line = rest.slice(0, end);
          rest = rest.slice(end + 1);
          return eventOf(line);
        }
        const step = await chunks.next();
        if (step.done === true) return undefined;
        rest += step.value;
      }
    };
    const take = async (count: number): Promise<WatchEvent[]> => {
      const events: WatchEvent[] = [];
      while (events.length < count) {
        const event = await next();
        if (event === undefined) throw new Error(`the watch ended after ${events.length} of ${count} events`);
        events.push(event);
      }
      return events;
    };
    return { next, take, close: () => answer.destroy() };
  }

  async #open(method: string, path: string, body: unknown, options: AskOptions): Promise<IncomingMessage> {
    const { url, token } = this.target;
    const make = url.startsWith('https') ? httpsRequest : httpRequest;
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const bearer = options.token === undefined ? token : options.token;
    const headers = {
      'user-agent': 'conformance/1',
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(options.accept === undefined ? {} : { accept: options.accept }),
      ...(body === undefined
        ? {}
        : { 'content-type': options.type ?? 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...options.headers,
    };
    const call = make(url + path, { method, headers, rejectUnauthorized: false, agent: false });
    call.end(text);
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    return answer;
  }
}

function objectOf(text: string): JsonObject {
  try {
    return asObject(parseJson(text));
  } catch {
    return {};
  }
}

function eventOf(line: string): WatchEvent {
  const { type, object } = asObject(parseJson(line));
  return { type: asString(type), object: asObject(object) };
}

/** The resourceVersion of an object or a list. */
export function versionOf(reply: Reply | WatchEvent): string {
  return asString(at('object' in reply ? reply.object : reply.body, 'metadata', 'resourceVersion'));
}

/** The names of a list's items. */
export function namesOf(reply: Reply): unknown[] {
  return asArray(reply.body.items).map((item) => at(item, 'metadata', 'name'));
}

/** `field reason` of each cause of a Status. */
export function causesOf(reply: Reply): string[] {
  return asArray(at(reply.body, 'details', 'causes')).map((cause) => {
    const { field, reason } = asObject(cause);
    return `${asString(field)} ${asString(reason)}`;
  });
}

/** A uid that no object has. */
export const strangerUid = '11111111-2222-4333-8444-555555555555';

/** A namespace for one group of cases, so that groups do not see each other's objects. */
export async function makeNamespace(client: ConformanceClient, name: string): Promise<string> {
  const made = await client.post('/api/v1/namespaces', { metadata: { name } });
  if (made.code !== 201) throw new Error(made.text);
  return `/api/v1/namespaces/${name}`;
}

export const query = (parameters: Readonly<Record<string, string>>): string =>
  `?${new URLSearchParams(parameters).toString()}`;
