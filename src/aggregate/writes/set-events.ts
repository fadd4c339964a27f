/**
 * Events on sets, which `kubectl describe` shows: what a write has done, and which member has stopped it. The door's own account creates
 * them, because few callers may create Events.
 *
 *   everything was written                                    Normal   Applied         2 members created, 1 changed.
 *   a member was refused after the dry runs had passed        Warning  ApplyFailed     Secret pin: DENIED. 1 member created.
 *   a deletion that a member has stopped                      Warning  DeletionFailed  Pod web: DENIED. 2 members deleted.
 *   nothing was to be written, or the dry runs have refused   none: the client has the answer, and the set is as before
 *
 * Who may list Events reads them, whatever rights on members he has. So they have the kinds and names of members, and codes of errors. They
 * never have words of the API server, which may contain values.
 *
 * Bounded: a set may have `burst` Events at once, and then one in `refillMs`, as clients of Kubernetes do it. At most `mostSending` requests
 * wait for their answers. Other Events are dropped. An answer to a client never waits for an Event.
 */
import type { Clock, Random } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { writeErrorOf } from '../../writes/outcome/write-error.ts';
import type { WriteReport } from '../../writes/session/session-report.ts';
import { apiVersionOf, kind, type ServedApi } from '../protocol/served-api.ts';

interface SetEventsOptions {
  readonly api: ServedApi;
  /** With the door's own account. */
  readonly client: Pick<RestClient, 'post'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The set that an Event is about. */
interface EventObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface SetEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'Applied' | 'ApplyFailed' | 'DeletionFailed';
  readonly message: string;
}

/** Of client-go's event recorder. */
const burst = 25;
const refillMs = 300_000;
const mostSending = 20;
/** Sets whose Events are counted. The set that had none for the longest time is forgotten. */
const mostCounted = 1000;
const longestMs = 10_000;
/** Members that a message names. */
const mostNamed = 5;
/** Of a message, as API servers allow it. */
const mostLetters = 1024;

export class SetEvents {
  readonly #options: SetEventsOptions;
  /** By uid: how many Events a set may still have, and since when. */
  readonly #budgets = new Map<string, { readonly left: number; readonly at: number }>();
  readonly #ending = new AbortController();
  #sending = 0;
  #isRefused = false;

  constructor(options: SetEventsOptions) {
    this.#options = options;
  }

  /** Creates an Event, or drops it. */
  note(set: EventObject, event: SetEvent): void {
    if (this.#sending >= mostSending || this.#ending.signal.aborted || !this.#take(set.uid)) return;
    this.#sending += 1;
    void this.#send(set, event).finally(() => {
      this.#sending -= 1;
    });
  }

  /** No Event is created any more. */
  close(): void {
    this.#ending.abort();
  }

  #take(uid: string): boolean {
    const now = this.#options.clock.monotonic();
    const { left, at } = this.#budgets.get(uid) ?? { left: burst, at: now };
    const refilled = Math.floor((now - at) / refillMs);
    const has = Math.min(burst, left + refilled);
    this.#budgets.delete(uid);
    this.#budgets.set(uid, { left: Math.max(0, has - 1), at: has === burst ? now : at + refilled * refillMs });
    const [oldest] = this.#budgets.keys();
    if (this.#budgets.size > mostCounted && oldest !== undefined) this.#budgets.delete(oldest);
    return has > 0;
  }

  async #send({ namespace, name, uid }: EventObject, { type, reason, message }: SetEvent): Promise<void> {
    const { api, client, clock, random, log } = this.#options;
    const time = new Date(clock.now()).toISOString().replace(/\.\d+/, '');
    const suffix = Math.floor(random() * 2 ** 48).toString(16);
    const body = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace, name: `${name.slice(0, 200)}.${clock.now().toString(16)}${suffix}` },
      involvedObject: { apiVersion: apiVersionOf(api), kind, namespace, name, uid },
      ...{ type, reason, message, count: 1, firstTimestamp: time, lastTimestamp: time },
      source: { component: 'portolan' },
    };
    try {
      const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(longestMs)]);
      await client.post(`/api/v1/namespaces/${namespace}/events`, body, { signal });
    } catch (error) {
      if (this.#isRefused || !isByRbac(error)) {
        log.debug({ namespace, name, error: messageOf(error) }, 'an Event of a set was not created');
        return;
      }
      this.#isRefused = true;
      log.warn(
        { error: messageOf(error) },
        'Events of sets cannot be created: portolan rbac --aggregate prints the rights of this account',
      );
    }
  }
}

/** Does the account lack the right? A namespace that is being deleted, a quota and a policy refuse one Event alone. */
function isByRbac(error: unknown): boolean {
  return error instanceof ApiError && writeErrorOf(error, { holdsUid: false, dryRun: false }).by === 'RBAC';
}

/** The Event of a write that has ended; null where nothing was written. */
export function appliedEvent(report: WriteReport): SetEvent | null {
  const done = doneWords(report);
  return done === null ? null : { type: 'Normal', reason: 'Applied', message: done };
}

/** The Event of a write that has begun and not ended. */
export function failedEvent(report: WriteReport, reason: 'ApplyFailed' | 'DeletionFailed'): SetEvent {
  const last = report.items.length - 1;
  const refused = report.items.flatMap(({ errors, intent: { target } }, index) =>
    errors
      .filter(({ code }) => code !== 'SKIPPED')
      .slice(0, 1)
      .map(({ code }) => `${index === last ? 'the set' : `${target.resource.kind} ${target.name}`}: ${code}`),
  );
  const more = refused.length > mostNamed ? ` and ${refused.length - mostNamed} more` : '';
  const names = refused.length === 0 ? '' : `${refused.slice(0, mostNamed).join(', ')}${more}. `;
  const words = `${names}${doneWords(report) ?? 'No member was written.'}`;
  return { type: 'Warning', reason, message: words.slice(0, mostLetters) };
}

/** `2 members created, 1 changed.` Null for none. The last item is the record. */
function doneWords({ items }: WriteReport): string | null {
  const members = items.slice(0, -1);
  const counts = (['CREATED', 'CHANGED', 'DELETED'] as const).flatMap((result) => {
    const count = members.filter((item) => item.written !== null && item.result === result).length;
    return count === 0 ? [] : [{ result, count }];
  });
  if (counts.length === 0) return null;
  const words = counts.map(({ result, count }, index) => {
    const noun = index > 0 ? '' : count === 1 ? ' member' : ' members';
    return `${count}${noun} ${result.toLowerCase()}`;
  });
  return `${words.join(', ')}.`;
}
