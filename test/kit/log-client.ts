/** A subscriber of `logs` in tests, over WebSocket or over Server-Sent Events. */
import { createClient as eventStreamClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import type { LogLine, LogNotice } from '../../src/logs/stream/log-message.ts';
import { eventually } from './eventually.ts';

/** `distinct` and `single` are the modes of graphql-sse. */
export type LogTransport = 'websocket' | 'distinct' | 'single';

export class LogClient {
  readonly lines: LogLine[] = [];
  readonly notices: LogNotice[] = [];
  /** Null while the subscription runs; `complete`, or the code of its error. */
  ended: string | null = null;
  /** The message of its error. */
  message = '';
  readonly #end: () => void;

  /** @param args of the field, as GraphQL text */
  constructor(url: string, args: string, token: string | null = null, transport: LogTransport = 'websocket') {
    const client = clientOf(url, token === null ? {} : { authorization: `Bearer ${token}` }, transport);
    const query = `subscription { logs(${args}) {
      notices { type cluster namespace pod container message code count }
      lines { cluster namespace pod container time text leftOut }
    } }`;
    const stop = client.subscribe<{ logs: { lines: LogLine[]; notices: LogNotice[] } }, Record<string, unknown>>(
      { query },
      {
        next: ({ data, errors }) => {
          if (errors !== undefined) this.ended = String(errors[0]?.extensions?.['code'] ?? errors[0]?.message);
          this.message = errors?.[0]?.message ?? this.message;
          this.lines.push(...(data?.logs.lines ?? []));
          this.notices.push(...(data?.logs.notices ?? []));
        },
        error: (error) => {
          const [first] = Array.isArray(error) ? error : [];
          this.message = String(first?.message ?? '');
          this.ended ??= String(
            first?.extensions?.code ?? first?.message ?? ((error as { reason?: string }).reason || closeCodeOf(error)),
          );
        },
        complete: () => {
          this.ended ??= 'complete';
        },
      },
    );
    this.#end = () => {
      stop();
      void client.dispose();
    };
  }

  texts(pod?: string, container?: string): readonly string[] {
    const wanted = this.lines.filter(
      (line) => (pod ?? line.pod) === line.pod && (container ?? line.container) === line.container,
    );
    return wanted.map(({ text }) => text);
  }

  /** The types of the notices of a Pod. */
  told(pod: string): readonly string[] {
    return this.notices.filter((notice) => notice.pod === pod).map(({ type }) => type);
  }

  until(condition: (client: this) => boolean, ms = 30_000): Promise<void> {
    return eventually(() => {
      if (!condition(this)) throw new Error(`not yet: ${this.#state()}, ${JSON.stringify(this.notices.slice(-5))}`);
    }, ms);
  }

  /** Waits for as many lines as these, by Pod. The failure names the Pods that lack some, and the lines. */
  async untilWhole(expected: ReadonlyMap<string, readonly string[]>, ms: number): Promise<void> {
    const total = [...expected.values()].reduce((sum, { length }) => sum + length, 0);
    await this.until(({ lines }) => lines.length >= total, ms).catch(() => {
      throw new Error(`not all of ${total} lines: ${this.#state()}\n${this.#lacking(expected).join('\n')}`);
    });
  }

  #state(): string {
    return `${this.lines.length} lines, ended ${this.ended}`;
  }

  #lacking(expected: ReadonlyMap<string, readonly string[]>): readonly string[] {
    return [...expected].flatMap(([pod, texts]) => {
      const known = new Set(this.texts(pod));
      const missing = texts.filter((text) => !known.has(text));
      const [first, last] = [missing.at(0), missing.at(-1)].map((text) => text?.slice(0, 40));
      const told = this.told(pod).join(' ');
      if (missing.length === 0) return [];
      return [`${pod} lacks ${missing.length} of ${texts.length} lines, from "${first}" to "${last}"; told: ${told}`];
    });
  }

  stop(): void {
    this.#end();
  }
}

/** Of a WebSocket that was closed without a reason. */
function closeCodeOf(error: unknown): string {
  return error instanceof Error ? error.message : `closed with ${(error as { code?: number }).code}`;
}

function clientOf(url: string, headers: Readonly<Record<string, string>>, transport: LogTransport) {
  if (transport !== 'websocket') {
    return eventStreamClient({ url, headers, retryAttempts: 0, singleConnection: transport === 'single' });
  }
  return createClient({
    url: url.replace(/^http/, 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: headers,
  });
}
