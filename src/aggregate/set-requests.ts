/**
 * Requests for sets: the caller's rights on ShadowResource, the options of the query, the read and the form of the answer.
 *
 *   GET one, list     Accept and options checked -> rights -> one operation of the caller -> the answer
 *   writes            write-requests.ts
 *   watch             the same -> a place among the changes -> 200, and an event a line until the end
 *
 * kube-apiserver has authorized a request before it sends it here. The door authorizes it again, as each extension API server does. The roles
 * and bindings of the tables may allow it. If they do not, a SubjectAccessReview decides (src/auth/rights/reviewed-rights.ts), because
 * another authorizer may allow it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Rights } from '../access/rights.ts';
import type { Admission } from '../admission/admission.ts';
import type { AdmittedRequest } from '../admission/admitted-request.ts';
import type { Clock, Random } from '../base/clock.ts';
import type { Operation } from '../operation/operation.ts';
import type { ServedKinds } from '../operation/served-kinds.ts';
import type { Drain } from '../server/connections/drain.ts';
import { operate } from '../server/doors/door.ts';
import { searchOf } from '../server/negotiation/request-url.ts';
import { shownBy } from './protocol/accept.ts';
import { sendJson } from './protocol/answer.ts';
import { type ListOptions, listOptions, onlyName, type WatchOptions } from './protocol/list-options.ts';
import type { SetPath } from './protocol/request-path.ts';
import type { ServedApi } from './protocol/served-api.ts';
import { statusError } from './protocol/status.ts';
import { authorizeSet } from './set-rights.ts';
import type { SetChanges } from './sets/set-changes.ts';
import { pageCost, type SetReads, setCosts } from './sets/set-reads.ts';
import { includedObject, type ShowOptions, showList, showOne } from './show/shown-sets.ts';
import { EventLines } from './watch/event-lines.ts';
import { ListedVersions, type ListScope } from './watch/listed-versions.ts';
import { SetWatch } from './watch/set-watch.ts';
import type { WriteRequests } from './write-requests.ts';

interface SetRequestsOptions {
  readonly api: ServedApi;
  readonly admission: Admission<ServedKinds>;
  readonly rights: Pick<Rights, 'allows'>;
  /** The cluster whose sets these are. */
  readonly cluster: string;
  readonly reads: SetReads;
  readonly changes: SetChanges;
  /** Null for a gateway that is read-only. */
  readonly writes: WriteRequests | null;
  /** Ends the watches one by one. */
  readonly drain: Pick<Drain, 'add'>;
  /** @returns notes the end of the watch. */
  readonly watchOpened: () => () => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** Milliseconds for the read of one answer. */
const longestMs = 30_000;
/** Milliseconds for which a watch waits until this process has its version. */
const reachedWithinMs = 500;
const lookEveryMs = 20;

export class SetRequests {
  readonly #options: SetRequestsOptions;
  /** Ends all watches. */
  readonly #ending = new AbortController();
  readonly #listed: ListedVersions;

  constructor(options: SetRequestsOptions) {
    this.#options = options;
    this.#listed = new ListedVersions(() => options.clock.monotonic());
  }

  /** Ends the watches: their answers end as if their time were over. */
  endWatches(): void {
    this.#ending.abort();
  }

  /**
   * Could a list and a watch be answered? Lists a namespace that cannot exist, in a snapshot as a caller's list has it.
   * @throws what they would throw.
   */
  async probe(signal: AbortSignal): Promise<void> {
    const { admission, changes, reads } = this.#options;
    await changes.load();
    const { reader } = admission.source;
    await reader.lease((lease) => reads.probe(lease), {
      signal,
      client: 'the watchdog of sets',
    });
  }

  /**
   * Answers one request.
   * @param leave ends the count of the request, for a watch that counts in another way
   * @throws PortolanError for every refusal before the answer has begun.
   */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    { namespace, name }: SetPath,
    admitted: AdmittedRequest,
    leave: () => void,
  ): Promise<void> {
    const query = searchOf(request);
    const show: ShowOptions = {
      api: this.#options.api,
      shown: shownBy(request.headers.accept),
      included: includedObject(query),
      now: () => this.#options.clock.now(),
    };
    response.setHeader('vary', 'Accept');
    if (request.method !== 'GET') {
      const { writes } = this.#options;
      if (writes !== null) return writes.answer({ request, response, path: { namespace, name }, admitted, show });
      throw statusError('MethodNotAllowed', 'This Portolan is read-only: start it with --read-only=false.');
    }
    if (namespace !== null && name !== null) {
      await authorizeSet(this.#options, admitted.caller, 'get', namespace, name);
      const { reads } = this.#options;
      const item = await this.#read(admitted, setCosts.one, response, (operation) =>
        reads.get(operation, namespace, name),
      );
      return sendJson(response, showOne(show, item));
    }
    const options = listOptions(query);
    const verb = options.watch === null ? 'list' : 'watch';
    const authorize = (): Promise<void> =>
      authorizeSet(this.#options, admitted.caller, verb, namespace ?? '', onlyName(options) ?? '');
    await authorize();
    const scope = { caller: admitted.caller.name, namespace, query };
    if (options.watch !== null) {
      return this.#watch(response, options.watch, { scope, options, show, admitted, authorize, leave });
    }
    const { reads } = this.#options;
    const list = await this.#read(admitted, setCosts.list, response, (operation) =>
      reads.list(operation, namespace, options),
    );
    admitted.add(pageCost(list));
    this.#listed.note(scope, list.version);
    sendJson(response, showList(show, list.items, list));
  }

  /** One operation of the caller. It ends with the client. */
  async #read<T>(
    admitted: AdmittedRequest,
    cost: number,
    response: ServerResponse,
    work: (operation: Operation<ServedKinds>) => Promise<T>,
  ): Promise<T> {
    const gone = new AbortController();
    const onClose = (): void => gone.abort();
    response.once('close', onClose);
    try {
      const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(longestMs)]);
      return await operate(this.#options.admission, admitted, { name: 'sets', cost, signal }, work);
    } finally {
      response.off('close', onClose);
    }
  }

  async #watch(
    response: ServerResponse,
    watch: WatchOptions,
    {
      scope,
      options,
      show,
      admitted,
      authorize,
      leave,
    }: {
      readonly scope: ListScope;
      readonly options: ListOptions;
      readonly show: ShowOptions;
      readonly admitted: AdmittedRequest;
      /** Before each read: the right may end while the watch lasts. */
      readonly authorize: () => Promise<void>;
      readonly leave: () => void;
    },
  ): Promise<void> {
    const { api, changes, reads, drain, watchOpened, clock, random } = this.#options;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    await changes.load();
    const version = options.resourceVersion ?? 0n;
    await this.#reached(version, AbortSignal.any([gone.signal, this.#ending.signal]));
    if (gone.signal.aborted) return;
    const left = admitted.enter('subscriptions');
    leave();
    const drained = new AbortController();
    const leaveDrain = drain.add(() => drained.abort());
    try {
      const sink = new EventLines(response, show, clock);
      const events = new SetWatch({
        ...{ api, changes, namespace: scope.namespace, options, watch, sink, clock, random },
        isListed: this.#listed.take(scope, version),
        read: async (sets) => {
          await authorize();
          return this.#read(admitted, setCosts.one * sets.length, response, (operation) => reads.some(operation, sets));
        },
        signal: AbortSignal.any([gone.signal, drained.signal, this.#ending.signal]),
      });
      const end = events.begin();
      const ended = watchOpened();
      sink.open();
      await events.run().finally(() => {
        end();
        ended();
      });
      response.end();
    } finally {
      leaveDrain();
      left();
    }
  }

  /** Waits a while for a version that another replica has reached before: the states of before it would come once more. */
  async #reached(version: bigint, signal: AbortSignal): Promise<void> {
    const { changes, clock } = this.#options;
    const endsAt = clock.monotonic() + reachedWithinMs;
    while (changes.high < version && clock.monotonic() < endsAt && !signal.aborted) {
      await clock.sleep(lookEveryMs, signal).catch(() => {});
    }
  }
}
