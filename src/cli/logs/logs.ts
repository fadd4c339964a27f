/**
 * `portolan logs`: the logs of Pods of a running gateway, merged by time.
 *
 *   words -> ids or a query -> subscription `logs` -> lines on standard output, notices on standard error
 *
 * With --follow, a lost connection is opened again after a backoff. The next subscription begins a few seconds before the last line, and
 * lines that were shown are left out.
 *
 * Log texts may have characters that a terminal obeys. They are shown as escapes, as all texts are (standard-streams.ts).
 */
import { z } from 'zod';
import { Backoff } from '../../base/backoff.ts';
import { systemClock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import { isColoured } from '../../base/output/is-coloured.ts';
import { type Output, type StyledText, standardError, standardOutput } from '../../base/output/standard-streams.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import { timeKey } from '../../logs/lines/log-time.ts';
import { ResumePoint } from '../../logs/lines/resume-point.ts';
import { GatewayClient, type RemoteConfig } from '../remote/gateway-client.ts';
import { closeText, type DrainingOutput, type Outcome, runSubscription } from '../remote/subscription-run.ts';
import { prefixIn, prefixQuery, prefixShape } from '../remote/type-prefix.ts';
import type { LogFlags } from './log-flags.ts';
import { logTargets } from './log-targets.ts';

interface LogStreams {
  readonly output: Output & DrainingOutput;
  readonly errors: Pick<Output, 'write'>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const place = { cluster: z.string(), namespace: z.string(), pod: z.string(), container: z.string() };
const messageShape = z.object({
  logs: z.object({
    notices: z.array(z.object({ ...place, type: z.string(), message: z.string(), code: z.string().nullable() })),
    lines: z.array(z.object({ ...place, time: z.string().nullable(), text: z.string(), leftOut: z.unknown() })),
  }),
});
type Message = z.infer<typeof messageShape>['logs'];

/** Notices that each log has. */
const quiet = new Set(['BEGAN', 'ENDED']);
const colours = ['pod1', 'pod2', 'pod3', 'pod4', 'pod5', 'pod6'] as const;
const backoffBounds = { firstMs: 1000, capMs: 30_000, resetMs: 120_000 };
/** Milliseconds before the last line at which another subscription begins: other containers may be behind. */
const overlapMs = 5000;

/**
 * Exit code 0 if all logs were read, 1 if one was refused or nothing was chosen.
 * @throws PortolanError for words that name nothing, and where the gateway refuses the subscription.
 */
export async function logs(
  remote: RemoteConfig,
  flags: LogFlags,
  signal: AbortSignal,
  streams: LogStreams = { output: standardOutput, errors: standardError, environment: process.env },
): Promise<number> {
  const gateway = new GatewayClient(remote);
  const clusters = await gateway.ask(prefixQuery, prefixShape);
  if (clusters === null) {
    throw new PortolanError('CACHE_NOT_READY', 'The gateway knows no cluster yet; try again in a moment.');
  }
  const prefix = prefixIn(clusters);
  const from = await logTargets(gateway, flags, (type) => `${prefix}${type}`);
  return new Logs(gateway, flags, { from, type: `${prefix}LogsFrom` }, streams).until(signal);
}

class Logs {
  readonly #gateway: GatewayClient;
  readonly #flags: LogFlags;
  readonly #from: { readonly from: object; readonly type: string };
  readonly #streams: LogStreams;
  readonly #isColoured: boolean;
  readonly #colours = new Map<string, (typeof colours)[number]>();
  readonly #points = new Map<string, ResumePoint>();
  readonly #backoff = new Backoff(systemClock, Math.random, backoffBounds);
  /** The time of the latest line. */
  #latest = '';
  /** Milliseconds of the monotonic clock at the first subscription. */
  readonly #beganAt = systemClock.monotonic();
  #isRefused = false;
  /** Was the connection lost before? */
  #isAgain = false;

  constructor(
    gateway: GatewayClient,
    flags: LogFlags,
    from: { readonly from: object; readonly type: string },
    streams: LogStreams,
  ) {
    this.#gateway = gateway;
    this.#flags = flags;
    this.#from = from;
    this.#streams = streams;
    this.#isColoured = isColoured(flags.color, streams.output.isTerminal, streams.environment);
  }

  async until(signal: AbortSignal): Promise<number> {
    while (!signal.aborted) {
      const outcome = await this.#attempt(signal);
      if (outcome.kind === 'stopped' || outcome.kind === 'completed') break;
      if (outcome.kind === 'failed') {
        const { message = 'no error', extensions } = outcome.errors[0] ?? {};
        this.#say(`${extensions?.code ?? 'ERROR'}: ${message}`);
        return 1;
      }
      const why = closeText(outcome);
      if (this.#flags.follow !== true) {
        throw new PortolanError(
          'UPSTREAM_UNAVAILABLE',
          `The gateway at ${this.#gateway.endpoint.href} ended the WebSocket (${why}).`,
        );
      }
      this.#isAgain = true;
      const ms = this.#backoff.next();
      const next = this.#latest === '' ? 'connecting again' : 'going on after the last line';
      this.#say(`The connection was lost (${why}); ${next} in ${(ms / 1000).toFixed(1)} s.`);
      await systemClock.sleep(ms, signal).catch(() => {});
      for (const point of this.#points.values()) point.onlyLater();
    }
    return this.#isRefused ? 1 : 0;
  }

  #attempt(signal: AbortSignal): Promise<Outcome> {
    const take = (data: object): boolean => {
      const message = messageShape.safeParse(data);
      if (!message.success) throw this.#gateway.notPortolan('');
      return this.#show(message.data.logs);
    };
    const handlers = { take, connected: () => {} };
    return runSubscription(this.#gateway, this.#request(), handlers, this.#streams.output, signal);
  }

  #request() {
    const { container, follow, previous, since, tail, grep, contains, ignoreCase } = this.#flags;
    const query = `subscription Logs($from: ${this.#from.type}!, $containers: [String!], $follow: Boolean!, $previous: Boolean!, $since: String,
      $tail: Int, $grep: String, $contains: String, $ignoreCase: Boolean!) {
      logs(from: $from, containers: $containers, follow: $follow, previous: $previous, since: $since, tail: $tail, grep: $grep,
        contains: $contains, ignoreCase: $ignoreCase) {
        notices { type cluster namespace pod container message code }
        lines { cluster namespace pod container time text leftOut } } }`;
    const again = this.#latest === '' ? null : new Date(Date.parse(this.#latest) - overlapMs).toISOString();
    // Only new lines are asked, and there was none yet: those since the first subscription.
    const isGap = again === null && tail === 0 && this.#isAgain;
    const beganAt = this.#beganAt;
    const variables = {
      from: this.#from.from,
      containers: container ?? null,
      follow: follow === true,
      previous: previous === true,
      // Read when the connection is open.
      get since() {
        if (isGap) return `${Math.ceil((systemClock.monotonic() - beganAt) / 1000)}s`;
        return again ?? since ?? null;
      },
      tail: again === null && !isGap ? (tail ?? null) : null,
      grep: grep ?? null,
      contains: contains ?? null,
      ignoreCase: ignoreCase === true,
    };
    return { query, variables };
  }

  /** False if the reader of standard output is slow. */
  #show({ notices, lines }: Message): boolean {
    for (const { type, namespace, pod, container, message, code } of notices) {
      if (type === 'REFUSED') this.#isRefused = true;
      if (quiet.has(type)) continue;
      if (type === 'NOTHING') {
        this.#isRefused ||= this.#flags.follow !== true;
        this.#say(`${message}${this.#flags.follow === true ? ' Those that come later are shown.' : ''}`);
        continue;
      }
      this.#say(`${namespace}/${pod} ${container}: ${code ?? type}: ${message}`);
    }
    const parts = lines.flatMap((line) => this.#shown(line));
    this.#backoff.reset();
    return parts.length === 0 || this.#streams.output.writeStyled(this.#isColoured ? parts : [plain(parts)]);
  }

  #shown({ cluster, namespace, pod, container, time, text, leftOut }: Message['lines'][number]): readonly StyledText[] {
    const key = `${cluster}/${namespace}/${pod}/${container}`;
    const at = time === null ? null : timeKey(time);
    if (at !== null) {
      const point = this.#points.get(key) ?? new ResumePoint();
      this.#points.set(key, point);
      if (!point.take(at)) return [];
      if (at > this.#latest) this.#latest = at;
    }
    const name = this.#flags.prefix ? `${namespace}/${pod} ${container} ` : '';
    const stamp = this.#flags.timestamps === true && time !== null ? `${time} ` : '';
    const more = JSON.stringify(leftOut) === '0' ? '' : ` … (${JSON.stringify(leftOut)} bytes more)`;
    return [
      { text: name, style: name === '' ? null : this.#colourOf(pod) },
      { text: `${stamp}${text.replaceAll('\n', ' ')}${more}\n`, style: null },
    ];
  }

  #colourOf(pod: string): (typeof colours)[number] {
    const known = this.#colours.get(pod) ?? colours[this.#colours.size % colours.length] ?? colours[0];
    this.#colours.set(pod, known);
    return known;
  }

  #say(line: string): void {
    this.#streams.errors.write(`portolan: ${oneLine(line)}\n`);
  }
}

function plain(parts: readonly StyledText[]): StyledText {
  return { text: parts.map(({ text }) => text).join(''), style: null };
}
