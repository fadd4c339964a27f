/** A caller's request for logs, as data. */
import { PortolanError } from '../../base/errors.ts';
import { parseDuration } from '../../catalog/values/duration.ts';
import { parseTime } from '../../catalog/values/time.ts';

export interface LogOptions {
  /** Names of containers; null for all. */
  readonly containers: readonly string[] | null;
  readonly follow: boolean;
  /** The log of the instance before the last restart. */
  readonly previous: boolean;
  /** Null for all lines. */
  readonly since: LogSince | null;
  /** Lines of each container from the end of its log; null for all. */
  readonly tail: number | null;
  readonly grep: string | null;
  readonly contains: string | null;
  readonly ignoreCase: boolean;
}

type LogSince = { readonly seconds: number } | { readonly time: string };

const mostTail = 1_000_000;
/** Names of containers. */
const mostContainers = 100;

/** A duration (`5m`, `-5m`) or a time. @throws PortolanError BAD_USER_INPUT */
export function sinceOf(text: string | null): LogSince | null {
  if (text === null) return null;
  // Also as a time relative to now, which the history takes.
  const duration = parseDuration(text.replace(/^-/, ''));
  if (duration !== null && duration > 0n) return { seconds: Number((duration + 999_999_999n) / 1_000_000_000n) };
  const micros = parseTime(text);
  if (micros !== null) return { time: new Date(Number(micros / 1000n)).toISOString() };
  const given = JSON.stringify(text);
  throw new PortolanError(
    'BAD_USER_INPUT',
    `\`since\` is ${given}; write a duration such as "5m" or a time in RFC 3339.`,
  );
}

/** @throws PortolanError BAD_USER_INPUT for options that contradict each other. */
export function checkOptions({ follow, previous, tail, containers }: LogOptions): void {
  if (follow && previous) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      'The log before the last restart has ended: give `follow: false` with `previous`.',
    );
  }
  if (tail !== null && (tail < 0 || tail > mostTail)) {
    throw new PortolanError('BAD_USER_INPUT', `\`tail\` is ${tail}; it is between 0 and ${mostTail}.`);
  }
  if (containers !== null && containers.length === 0) {
    throw new PortolanError('BAD_USER_INPUT', '`containers` is empty: leave it out for all containers.');
  }
  if (containers !== null && containers.length > mostContainers) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `\`containers\` has ${containers.length} names; give at most ${mostContainers}, or leave it out for all containers.`,
    );
  }
}
