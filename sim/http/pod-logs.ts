/**
 * pods/log: what the containers of the simulated Pods write.
 *
 * Nothing is kept. Line N of a container and its time follow from the Pod's uid, the container, its instance and N. So each request is
 * answered with the same lines, and `sinceTime`, `tailLines` and `previous` agree with each other.
 *
 *   startedAt + N × pace -> "2026-01-01T00:00:00.000000000Z level=info msg=…"
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../src/base/clock.ts';
import type { ObjectApi } from '../api/object-api.ts';
import { asArray, asObject, asString, at, type JsonObject } from '../objects/json.ts';
import { seededRandom } from '../objects/seeded-random.ts';
import { statusErrors } from '../objects/status-error.ts';
import type { ServedResource } from '../resources/served-resource.ts';

interface LogRequest {
  readonly response: ServerResponse;
  readonly resource: ServedResource;
  readonly namespace: string;
  readonly name: string;
  readonly params: URLSearchParams;
}

/** One run of a container, and the times of its lines. */
interface Run {
  readonly seed: number;
  /** Milliseconds. */
  readonly begin: number;
  /** Null while it runs. */
  readonly end: number | null;
  readonly paceMs: number;
}

/** Lines that a container has kept. */
const mostLines = 2000;
/** Milliseconds between two looks at whether the container has ended. */
const lookMs = 1000;

/** Answers a GET. Throws a Status for a container that is not there or has no log yet. */
export function handlePodLog(api: ObjectApi, clock: Clock, about: LogRequest): void {
  const { response, resource, namespace, name, params } = about;
  const read = (): JsonObject => api.get(resource, namespace, name).object;
  const pod = read();
  const container = containerOf(pod, params.get('container'));
  const run = runOf(pod, container, params.get('previous') === 'true');
  const isTimed = params.get('timestamps') === 'true';
  const now = clock.now();
  const since = sinceOf(params, now);
  const tail = params.get('tailLines');
  const written = (until: number): number => Math.max(0, Math.floor((until - run.begin) / run.paceMs));
  const first = Math.max(
    written(run.end ?? now) - Math.min(mostLines, tail === null ? mostLines : Number(tail)),
    since === null ? 0 : Math.ceil((since - run.begin) / run.paceMs),
    0,
  );
  let next = first;
  const text = (until: number): string => {
    const parts: string[] = [];
    for (; next < written(until); next += 1) parts.push(lineOf(run, next, isTimed));
    return parts.join('');
  };
  response.writeHead(200, { 'Content-Type': 'text/plain' });
  const follows = params.get('follow') === 'true' && run.end === null;
  if (!follows) {
    response.end(text(run.end ?? now));
    return;
  }
  response.flushHeaders();
  response.write(text(now));
  const timer = setInterval(
    () => {
      const end = endOf(read, container, run);
      if (response.writableNeedDrain) return;
      const more = text(end ?? clock.now());
      if (more !== '') response.write(more);
      if (end !== null) response.end();
    },
    Math.min(lookMs, run.paceMs),
  );
  timer.unref();
  response.once('close', () => clearInterval(timer));
}

/** When the run has ended; null while it goes on. */
function endOf(read: () => JsonObject, container: string, run: Run): number | null {
  try {
    const newest = runOf(read(), container, false);
    return newest.begin === run.begin ? newest.end : newest.begin;
  } catch {
    return run.begin;
  }
}

function containerOf(pod: JsonObject, wanted: string | null): string {
  const groups = ['initContainers', 'containers', 'ephemeralContainers'] as const;
  const names = groups.flatMap((group) => asArray(at(pod, 'spec', group)).map((each) => asString(asObject(each).name)));
  const name = asString(at(pod, 'metadata', 'name'));
  if (wanted !== null && names.includes(wanted)) return wanted;
  if (wanted !== null) throw statusErrors.badRequest(`container ${wanted} is not valid for pod ${name}`);
  const [only = '', ...others] = names;
  if (others.length === 0) return only;
  throw statusErrors.badRequest(
    `a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`,
  );
}

function runOf(pod: JsonObject, container: string, isPrevious: boolean): Run {
  const groups = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const;
  const status = groups
    .flatMap((group) => asArray(at(pod, 'status', group)).map(asObject))
    .find((each) => asString(each.name) === container);
  const name = asString(at(pod, 'metadata', 'name'));
  const restarts = Number(status?.restartCount ?? 0);
  const last = at(status ?? {}, 'lastState', 'terminated');
  const running = at(status ?? {}, 'state', 'running');
  const terminated = at(status ?? {}, 'state', 'terminated');
  const found = isPrevious ? last : (running ?? terminated ?? last);
  if (found === undefined) {
    throw statusErrors.badRequest(
      isPrevious
        ? `previous terminated container "${container}" in pod "${name}" not found`
        : `container "${container}" in pod "${name}" is waiting to start: ContainerCreating`,
    );
  }
  const { startedAt, finishedAt } = asObject(found);
  const seed = seedOf(`${asString(at(pod, 'metadata', 'uid'))}/${container}/${isPrevious ? restarts - 1 : restarts}`);
  const begin = Date.parse(asString(startedAt));
  return {
    seed,
    begin: Number.isNaN(begin) ? 0 : begin,
    end: finishedAt === undefined ? null : Date.parse(asString(finishedAt)),
    paceMs: 400 + (seed % 1600),
  };
}

function sinceOf(params: URLSearchParams, now: number): number | null {
  const time = params.get('sinceTime');
  // To the second, as the API server sends it to a kubelet.
  if (time !== null) return Math.floor(Date.parse(time) / 1000) * 1000;
  const seconds = params.get('sinceSeconds');
  return seconds === null ? null : now - Number(seconds) * 1000;
}

const paths = ['/healthz', '/api/orders', '/api/orders/17', '/api/users/me', '/metrics', '/api/search?q=boots'];
const methods = ['GET', 'GET', 'GET', 'POST', 'PUT'];

function lineOf({ seed, begin, paceMs }: Run, index: number, isTimed: boolean): string {
  const random = seededRandom(seed + index * 7919);
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? '';
  const ms = begin + (index + 1) * paceMs;
  const nanos = String(Math.floor(random() * 1_000_000)).padStart(6, '0');
  const time = isTimed ? `${new Date(ms).toISOString().slice(0, -1)}${nanos}Z ` : '';
  const took = Math.floor(random() * random() * 400);
  const chance = random();
  const path = pick(paths);
  if (chance > 0.97) return `${time}level=error msg="request failed" path=${path} error="connection reset by peer"\n`;
  if (chance > 0.9) return `${time}level=warn msg="slow request" path=${path} took=${took + 900}ms\n`;
  return `${time}level=info msg="request" method=${pick(methods)} path=${path} status=200 took=${took}ms\n`;
}

function seedOf(text: string): number {
  let hash = 2166136261;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
  return hash;
}
