/**
 * `portolan watch`: runs a subscription and prints each message as one JSON line.
 *
 *   document -> roots by introspection -> a document with a variable for the cursor -> messages -> lines
 *   connection lost -> backoff -> the same document with the cursor of the last line -> messages -> lines
 *
 * Invariant: the variable holds the cursor of the last printed line. So no change is lost, and none comes twice. The cursor of an
 * incomplete snapshot leads to GAP and a new snapshot.
 *
 * Standard error has what concerns the connection, and errors beside data.
 */
import { GraphQLError } from 'graphql';
import { z } from 'zod';
import { Backoff } from '../../base/backoff.ts';
import { systemClock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import { standardError, standardOutput } from '../../base/output/standard-streams.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import { exactObject } from './exact-json.ts';
import { GatewayClient, type RemoteConfig } from './gateway-client.ts';
import { documentOf, type QueryFlags, variablesOf } from './query.ts';
import { rootNamed, rootsOf } from './subscription-roots.ts';
import {
  closeText,
  type DrainingOutput,
  type Outcome,
  runSubscription,
  type SubscriptionHandlers,
  type WrittenError,
} from './subscription-run.ts';
import { longForm, shortForm, type WatchedDocument, watchedDocument } from './watch-document.ts';

/** The flags and the argument of the command line. */
export interface WatchFlags extends QueryFlags {
  /** The cursor to begin at. */
  readonly since?: string;
  readonly changesOnly?: boolean;
}

interface LineOutput extends DrainingOutput {
  /** False if it is full. */
  write(line: string): boolean;
}

interface WatchStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: LineOutput;
  readonly errors: { write(text: string): unknown };
}

/** Errors of a gateway that is not ready yet, or has too much to do. */
const passing = new Set(['CACHE_NOT_READY', 'UPSTREAM_UNAVAILABLE', 'TOO_MANY_REQUESTS', 'TIMEOUT']);
/** Close codes after which another attempt would end in the same way. docs/errors.md has all codes. */
const final = new Set([1009, 4004, 4005, 4400, 4401, 4406, 4409, 4429]);
const backoffBounds = { firstMs: 1000, capMs: 30_000, resetMs: 120_000 };

/**
 * Runs until the signal aborts, with exit code 0. Exit code 1 when the gateway refuses the subscription, or ends it with an error.
 * @throws PortolanError CONFIGURATION, UNAUTHENTICATED or UPSTREAM_UNAVAILABLE when it cannot begin.
 */
export async function watch(
  remote: RemoteConfig,
  flags: WatchFlags,
  signal: AbortSignal,
  streams: WatchStreams = { input: process.stdin, output: standardOutput, errors: standardError },
): Promise<number> {
  const gateway = new GatewayClient(remote);
  const variables = exactObject(variablesOf(flags.variables ?? '{}'));
  const text = await documentOf(flags, streams.input);
  const say = (line: string): unknown => streams.errors.write(`portolan: ${oneLine(line)}\n`);
  const sleep = (ms: number): Promise<void> => systemClock.sleep(ms, signal).catch(() => {});
  try {
    const roots = await rootsOf(gateway, signal, async () => {
      say(`The gateway at ${gateway.endpoint.href} has no schema yet; asking again.`);
      await sleep(backoffBounds.firstMs);
    });
    if (roots === null) return 0;
    const short = shortForm(text);
    const document = watchedDocument(
      short === null ? text : longForm(await rootNamed(gateway, short, roots), short.rest, roots),
      roots,
      { operation: flags.operation, changesOnly: flags.changesOnly === true },
    );
    const run = new Watch(gateway, document, { ...variables }, flags, streams);
    return await run.until(signal, say, sleep);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    say(errorText({ message: error.message, extensions: { code: 'GRAPHQL_PARSE_FAILED', ...error.extensions } }));
    return 1;
  }
}

/** The subscription with its newest cursor, over connections that come and go. */
class Watch {
  readonly #gateway: GatewayClient;
  readonly #document: WatchedDocument;
  readonly #operation: string | undefined;
  readonly #streams: WatchStreams;
  readonly #variables: Record<string, unknown>;
  readonly #backoff = new Backoff(systemClock, Math.random, backoffBounds);
  #hasConnected = false;

  constructor(
    gateway: GatewayClient,
    document: WatchedDocument,
    variables: Record<string, unknown>,
    { since, operation }: Pick<WatchFlags, 'since' | 'operation'>,
    streams: WatchStreams,
  ) {
    const { cursorVariable, writtenCursor } = document;
    if (since !== undefined && cursorVariable === null) {
      throw new PortolanError('CONFIGURATION', '--since needs a root with a cursor.');
    }
    const begin = since ?? writtenCursor;
    this.#gateway = gateway;
    this.#document = document;
    this.#operation = operation;
    this.#streams = streams;
    this.#variables = cursorVariable === null || begin === null ? variables : { ...variables, [cursorVariable]: begin };
  }

  async until(
    signal: AbortSignal,
    say: (line: string) => unknown,
    sleep: (ms: number) => Promise<void>,
  ): Promise<number> {
    while (!signal.aborted) {
      const outcome = await this.#attempt(signal, say);
      if (outcome.kind === 'stopped' || outcome.kind === 'completed') return 0;
      const lasting = await this.#lastingErrors(outcome);
      if (lasting !== null) {
        for (const error of lasting) say(errorText(error));
        return 1;
      }
      const ms = this.#backoff.next();
      const why =
        outcome.kind === 'lost' ? `The connection was lost (${closeText(outcome)})` : errorText(outcome.errors[0]);
      const from = this.#document.cursorVariable === null ? 'from the beginning' : 'from the last cursor';
      say(`${why}; subscribing again ${from} in ${(ms / 1000).toFixed(1)} s.`);
      await sleep(ms);
    }
    return 0;
  }

  #attempt(signal: AbortSignal, say: (line: string) => unknown): Promise<Outcome> {
    const { output } = this.#streams;
    const { query, cursorVariable } = this.#document;
    const named = this.#operation === undefined ? {} : { operationName: this.#operation };
    const take: SubscriptionHandlers['take'] = (data, errors) => {
      this.#backoff.reset();
      for (const error of errors) say(errorText(error));
      let isRoom = true;
      for (const message of Object.values(data)) {
        isRoom = output.write(`${JSON.stringify(message)}\n`);
        const { cursor } = (message ?? {}) as { readonly cursor?: unknown };
        if (cursorVariable !== null && typeof cursor === 'string') this.#variables[cursorVariable] = cursor;
      }
      return isRoom;
    };
    const connected = (): void => {
      if (this.#hasConnected) say('Connected again.');
      this.#hasConnected = true;
    };
    const request = { query, ...named, variables: this.#variables };
    return runSubscription(this.#gateway, request, { take, connected }, output, signal);
  }

  /**
   * The errors after which the watch ends; null if another attempt may succeed.
   * @throws PortolanError for a connection that the gateway refuses, and for a first one that fails.
   */
  async #lastingErrors(
    outcome: Exclude<Outcome, { kind: 'stopped' | 'completed' }>,
  ): Promise<readonly WrittenError[] | null> {
    const { href } = this.#gateway.endpoint;
    if (outcome.kind === 'failed') {
      if (outcome.errors.every(({ extensions }) => passing.has(extensions?.code ?? ''))) return null;
      return (await this.#mayLackKinds(outcome.errors)) ? null : outcome.errors;
    }
    if (this.#hasConnected && !final.has(outcome.code)) return null;
    const why = closeText(outcome);
    throw new PortolanError(
      'UPSTREAM_UNAVAILABLE',
      this.#hasConnected
        ? `The gateway at ${href} ended the WebSocket (${why}).`
        : `The WebSocket of the gateway at ${href} cannot be opened (${why}); a proxy before it must pass upgrades on.`,
    );
  }

  /** A gateway that has just started may not know all kinds yet, and refuses a document that it will accept. */
  async #mayLackKinds(errors: readonly WrittenError[]): Promise<boolean> {
    if (!errors.every(({ extensions }) => extensions?.code === 'GRAPHQL_VALIDATION_FAILED')) return false;
    const { ready } = await this.#gateway
      .get('readyz', z.object({ ready: z.boolean() }))
      .catch(() => ({ ready: false }));
    return !ready;
  }
}

function errorText(error: WrittenError | undefined): string {
  const { message = 'no error', path, extensions } = error ?? {};
  // An index is a number of exact-json.ts, which has no text of its own.
  const steps = (path ?? []).map((step) => (typeof step === 'string' ? step : JSON.stringify(step)));
  const at = steps.length === 0 ? '' : ` at ${steps.join('.')}`;
  return `${extensions?.code ?? 'ERROR'}${at}: ${message}`;
}
