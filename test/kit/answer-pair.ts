/**
 * Two servers over one store, one with prepared answers and one without. Every request is sent to both. If the engine keeps answers, the
 * first server uses them.
 */
import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { KeptAnswers } from '../../src/operation/answers/kept-answers.ts';
import type { Metrics } from '../../src/server/health/metrics.ts';
import type { RunningServer } from '../../src/server/http-server.ts';
import type { PageReader } from '../../src/store/types/page-reader.ts';
import { type EngineFixture, engineFixture, type FixtureOptions } from './engine-fixture.ts';
import type { RandomQuery } from './random-query.ts';
import { serveFixture } from './served-fixture.ts';

export interface Reply {
  readonly status: number;
  /** Without the date, sorted. */
  readonly headers: readonly string[];
  readonly text: string;
}

export interface Asking {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AnswerPair {
  readonly fixture: EngineFixture;
  /** Of the server with prepared answers. */
  readonly server: RunningServer;
  /** Counts of pages written as text: by reader threads, and at once. */
  readonly pages: { given: number; atOnce: number };
  /** The answers of both servers; the possibly prepared one comes first. */
  ask(body: string, asking?: Asking): Promise<readonly [Reply, Reply]>;
}

export interface PairOptions extends FixtureOptions {
  /** Runs before each page is read by a reader thread; no page is read at once then. */
  readonly before?: (options: { readonly signal?: AbortSignal } | undefined) => Promise<void>;
  readonly metrics?: Metrics;
}

export async function answerPair({ before, metrics, ...options }: PairOptions = {}): Promise<AnswerPair> {
  const fixture = engineFixture(options);
  const counted = { given: 0, atOnce: 0 };
  const pages: PageReader = {
    async pages(statements, requests, given) {
      await before?.(given);
      const read = await fixture.pages.pages(statements, requests, given);
      counted.given += read.pages.length;
      return read;
    },
    pagesNow(statements, requests) {
      if (before !== undefined) return null;
      const read = fixture.pages.pagesNow(statements, requests);
      if (read !== null && read !== 'spent') counted.atOnce += read.pages.length;
      return read;
    },
  };
  const server = await serveFixture(fixture, { pages, ...(metrics === undefined ? {} : { metrics }) });
  const { engine } = fixture;
  const plain = await serveFixture({ engine }, { source: { ...engine.source, answers: new KeptAnswers(null) } });
  return {
    fixture,
    server,
    pages: counted,
    ask: async (body, asking) => await Promise.all([send(server, body, asking), send(plain, body, asking)]),
  };
}

/** Asks both servers a query so many times. Asserts that each time they give the same answer. @param first the variable `first`, if any. */
export async function expectSameAnswers(
  { ask }: Pick<AnswerPair, 'ask'>,
  { query, variables }: RandomQuery,
  first: number | undefined,
  times: number,
): Promise<void> {
  const body = JSON.stringify({ query, variables: first === undefined ? variables : { ...variables, first } });
  for (let time = 0; time < times; time += 1) {
    const [mine, executors] = await ask(body);
    expect(mine, query).toEqual(executors);
  }
}

async function send(
  { port }: RunningServer,
  body: string,
  { method = 'POST', path = '/graphql', headers = {} }: Asking = {},
): Promise<Reply> {
  const length = method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: { 'content-type': 'application/json', ...length, ...headers },
    agent: false,
  });
  request.end(method === 'POST' ? body : undefined);
  const [response] = await once(request, 'response');
  const fields = Object.entries(response.headers as IncomingHttpHeaders).filter(([name]) => name !== 'date');
  return {
    status: response.statusCode as number,
    headers: fields.map(([name, value]) => `${name}: ${String(value)}`).sort(),
    text: await text(response),
  };
}
