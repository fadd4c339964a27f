/**
 * Writes of sets for a caller, by the code of applySet and deleteSet (src/sets): members as the caller, records by the door's own account.
 *
 *   create   the record does not exist -> applySet
 *   update   record read -> the tables show it -> the present set, as the caller sees it -> the submitted one -> what differs -> applySet
 *   delete   record read -> the tables show it -> preconditions -> deleteSet
 *
 * Each step is an operation of its own. Reads may be repeated, and a write never is. applySet and deleteSet refuse a record that was written
 * after step 1. Then the whole begins again, unless the client has named a version. Updates of one set in this process take turns, because
 * an update that begins during another makes that one end with a conflict. None waits longer than `waits.turn` for its turn.
 *
 * Never: writes a member by the door's own account, or answers before the tables show what was written.
 */
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { must } from '../../base/must.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';
import type { Operation } from '../../operation/operation.ts';
import { applySet } from '../../sets/apply-set.ts';
import { deleteSet } from '../../sets/delete-set.ts';
import { membersFinalizer, recordResource, recordsKey, type SetRecord } from '../../sets/record/set-record.ts';
import { seen } from '../../writes/run/seen.ts';
import type { RunContext } from '../../writes/run/write-item.ts';
import { writeOptions } from '../../writes/run/write-options.ts';
import type { WriteReport } from '../../writes/session/session-report.ts';
import { plural, resourceOf, type ServedApi } from '../protocol/served-api.ts';
import { statusError } from '../protocol/status.ts';
import type { PresentSet, SetReads } from '../sets/set-reads.ts';
import type { ShadowResource } from '../sets/shadow-resource.ts';
import { keptLastApplied } from './last-applied.ts';
import { memberChanges } from './member-changes.ts';
import { plannedSet } from './planned-set.ts';
import { appliedEvent, failedEvent, type SetEvents } from './set-events.ts';
import { adoptAnnotation, invalidSet, type SubmittedSet } from './submitted-set.ts';
import type { SetDeleteOptions, SetWriteOptions } from './write-options.ts';
import { isOvertaken, placedError, refusalOf } from './write-refusal.ts';

/** Runs an operation of the caller. A query may be repeated. */
export type Operate = <T>(type: 'query' | 'mutation', work: (operation: Operation) => Promise<T>) => Promise<T>;

interface SetWritesOptions {
  readonly api: ServedApi;
  readonly cluster: string;
  readonly reads: SetReads;
  /** With the door's own account. */
  readonly client: Pick<RestClient, 'get' | 'send'>;
  readonly events: Pick<SetEvents, 'note'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface SetAddress {
  readonly namespace: string;
  readonly name: string;
}

interface WrittenSet {
  readonly set: ShadowResource;
  readonly warnings: readonly string[];
}

/** How an update makes the submitted set from the present one. */
interface Update {
  /** @throws PortolanError for a change that cannot be made. */
  readonly submitted: (present: PresentSet) => SubmittedSet;
  /** A server-side apply. */
  readonly isApply: boolean;
}

/** How a write of a set ended. */
interface Ended {
  /** The places in flowList of the first items. */
  readonly places: readonly number[];
  readonly report: WriteReport;
  /** Of the Event if it has failed. */
  readonly reason: 'ApplyFailed' | 'DeletionFailed';
}

/** Milliseconds until the answer is given without the tables, and until an update begins without its turn. */
const waits = { written: 15_000, record: 2000, turn: 10_000 } as const;
/** Attempts to update a set that others write meanwhile. */
const mostAttempts = 5;

export class SetWrites {
  readonly #options: SetWritesOptions;
  /** Of the sets that are updated now, by `namespace/name`. */
  readonly #turns = new Map<string, Semaphore>();

  constructor(options: SetWritesOptions) {
    this.#options = options;
  }

  /** @throws PortolanError with the Status of the refusal. */
  async create(
    operate: Operate,
    at: SetAddress,
    submitted: SubmittedSet,
    options: SetWriteOptions,
  ): Promise<WrittenSet> {
    const made = await this.#apply(operate, at, null, submitted, options, false);
    return must(made, 'a record that is not there is not overtaken');
  }

  /** Null if there is no such set. @throws PortolanError with the Status of the refusal. */
  async update(operate: Operate, at: SetAddress, update: Update, options: SetWriteOptions): Promise<WrittenSet | null> {
    const key = `${at.namespace}/${at.name}`;
    const turns = this.#turns.get(key) ?? new Semaphore(1);
    this.#turns.set(key, turns);
    const leave = await turns.enter(AbortSignal.timeout(waits.turn)).catch(() => () => {});
    try {
      return await this.#update(operate, at, update, options);
    } finally {
      leave();
      if (turns.inside === 0 && this.#turns.get(key) === turns) this.#turns.delete(key);
    }
  }

  async #update(
    operate: Operate,
    at: SetAddress,
    { submitted, isApply }: Update,
    options: SetWriteOptions,
  ): Promise<WrittenSet | null> {
    for (let attempt = 1; ; attempt += 1) {
      const present = await this.#present(operate, at);
      if (present === null) return null;
      const wanted = submitted(present);
      requireState(this.#options.api, present, wanted);
      const done = await this.#apply(operate, at, present, wanted, options, isApply);
      if (done !== null) return done;
      if (wanted.resourceVersion !== null || attempt === mostAttempts) throw stale(this.#options.api, at.name);
    }
  }

  /** @returns the set where finalizers of others keep it; null if it is gone. @throws PortolanError with the Status of the refusal. */
  async remove(
    operate: Operate,
    at: SetAddress,
    options: SetDeleteOptions,
  ): Promise<{ readonly uid: string; readonly left: ShadowResource | null; readonly warnings: readonly string[] }> {
    const { api, cluster } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const present = await this.#present(operate, at);
      if (present === null) throw this.notFound(at.name);
      requireState(api, present, options);
      const { record } = present.stored;
      const { uid } = record;
      const report = await operate('mutation', (operation) =>
        deleteSet(operation, {
          set: { cluster, ...at },
          propagation: options.propagation,
          operationName: `delete ${plural}`,
          options: writeOptions({ dryRun: options.dryRun, waitMs: waits.written }),
          keeper: { client: this.#client, metadata: null, expected: record, kept: [] },
        }),
      );
      if (isOvertaken(report) && options.resourceVersion === null && attempt < mostAttempts) continue;
      this.#throwRefusal(at, { places: [], report, reason: 'DeletionFailed' });
      const isGone = options.dryRun || (await this.#liveRecord(at)) === null;
      const left = isGone
        ? null
        : await operate('query', (operation) => this.#options.reads.present(operation, at.namespace, at.name));
      return { uid, left: left?.set ?? null, warnings: warningsIn(report) };
    }
  }

  notFound(name: string): Error {
    const { api } = this.#options;
    const details = { name, group: api.group, kind: plural };
    return statusError('NotFound', `${resourceOf(api)} ${JSON.stringify(name)} not found`, details);
  }

  readonly #client: RunContext['client'] = async () => this.#options.client;

  /** Null if somebody else has written the record meanwhile, and nothing was written. */
  async #apply(
    operate: Operate,
    at: SetAddress,
    present: PresentSet | null,
    submitted: SubmittedSet,
    { dryRun, force }: SetWriteOptions,
    isApply: boolean,
  ): Promise<WrittenSet | null> {
    const { api, cluster, reads, events, now } = this.#options;
    if (submitted.flowList === null) {
      const missing = { reason: 'FieldValueRequired', field: 'spec.flowList', message: 'Required value' };
      throw invalidSet(api, at.name, [missing]);
    }
    const isListKept = submitted.flowList === 'kept';
    const flowList = submitted.flowList === 'kept' ? (present?.set.spec.flowList ?? []) : submitted.flowList;
    const { kept, written } = memberChanges(api, present, flowList, { isApply, isListKept });
    const places = written.map(({ place }) => place);
    let metadata = submitted.metadata;
    const isReleased = present !== null && isReleasedBy(present.stored.record, submitted);
    const report = await operate('mutation', (operation) => {
      metadata = { ...metadata, lastApplied: keptLastApplied(metadata.lastApplied, operation.generation) };
      return applySet(operation, {
        set: { cluster, ...at },
        documents: written.map(({ entry }) => ({ cluster, namespace: at.namespace, json: entry, yaml: null })),
        prune: true,
        adopt: metadata.annotations[adoptAnnotation] === 'true',
        // kubectl replace and apply without --server-side know no conflicts: they take the fields of members.
        force: isApply ? force : present !== null,
        operationName: `${present === null ? 'create' : 'update'} ${plural}`,
        options: writeOptions({ dryRun, waitMs: isReleased ? 0 : waits.written }),
        keeper: { client: this.#client, metadata, expected: present?.stored.record ?? null, kept },
      });
    }).catch((error: unknown) => {
      throw placedError(api, { name: at.name, places }, error);
    });
    if (present !== null && isOvertaken(report)) {
      const { deletionTimestamp, phase } = present.stored.record;
      if (deletionTimestamp === null && phase !== 'Deleting') return null;
    }
    this.#throwRefusal(at, { places, report, reason: 'ApplyFailed' });
    const warnings = [...submitted.warnings, ...warningsIn(report)];
    if (dryRun || isReleased) {
      const shown = { ...submitted, metadata };
      const set = plannedSet(api, { ...at, present, submitted: shown, flowList, places, report, now: now() });
      return { set, warnings };
    }
    // Before the read of the answer, which may fail.
    const event = appliedEvent(report);
    const uid = writtenRecord(report);
    if (event !== null && uid !== null) events.note({ ...at, uid }, event);
    const set = await operate('query', (operation) => reads.get(operation, at.namespace, at.name));
    return { set, warnings };
  }

  /** @throws PortolanError with the Status of the refusal. An Event tells of a write that has begun. */
  #throwRefusal(at: SetAddress, { places, report, reason }: Ended): void {
    const refusal = refusalOf(this.#options.api, { name: at.name, places }, report);
    if (refusal === null) return;
    const uid = writtenRecord(report);
    if (uid !== null) this.#options.events.note({ ...at, uid }, failedEvent(report, reason));
    throw refusal;
  }

  /** The set as the caller sees it, once the tables show its record as it is; null if there is none. */
  async #present(operate: Operate, at: SetAddress): Promise<PresentSet | null> {
    const { cluster, reads } = this.#options;
    for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
      const live = await this.#liveRecord(at);
      if (live === null) return null;
      const awaited = { identity: { cluster, key: recordsKey, ...at }, ...live, isRemoval: false };
      const present = await operate('query', async (operation) => {
        await seen(operation, [awaited], waits.record, operation.signal);
        operation.renewSnapshot();
        return reads.present(operation, at.namespace, at.name);
      });
      const found = present?.stored.record;
      if (present !== null && found?.uid === live.uid && found.resourceVersion === live.resourceVersion) return present;
    }
    throw statusError('ServiceUnavailable', 'The tables of Portolan do not show the set yet: send the request again.');
  }

  /** @throws PortolanError that means 503. */
  async #liveRecord({ namespace, name }: SetAddress): Promise<Pick<SetRecord, 'uid' | 'resourceVersion'> | null> {
    try {
      const found = recordOf(await this.#options.client.get(resourcePath(recordResource, namespace, name)));
      const { uid, resourceVersion } = recordOf(found?.['metadata']) ?? {};
      return { uid: String(uid), resourceVersion: String(resourceVersion) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.httpStatus === 404) return null;
      throw statusError('ServiceUnavailable', `The record of the set cannot be read: ${error.message}`);
    }
  }
}

/** The uid of the record, if it was written. A write that has begun has written it, and a dry run has not. */
function writtenRecord({ items }: WriteReport): string | null {
  return items.at(-1)?.written?.uid ?? null;
}

/** Does the update take the last finalizer off a record that is being deleted? Then the record is gone, and its last state is the answer. */
function isReleasedBy({ deletionTimestamp, finalizers }: SetRecord, { metadata }: SubmittedSet): boolean {
  return deletionTimestamp !== null && metadata.finalizers.length === 0 && !finalizers.includes(membersFinalizer);
}

/** The state that the client has named must be the present one. @throws PortolanError that means 409 */
function requireState(
  api: ServedApi,
  { set: { metadata } }: PresentSet,
  { uid, resourceVersion }: { readonly uid: string | null; readonly resourceVersion: string | null },
): void {
  if (uid !== null && uid !== metadata.uid) {
    throw statusError(
      'Conflict',
      `Operation cannot be fulfilled on ${resourceOf(api)} ${JSON.stringify(metadata.name)}: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
      { name: metadata.name, group: api.group, kind: plural },
    );
  }
  if (resourceVersion !== null && resourceVersion !== '0' && resourceVersion !== metadata['resourceVersion']) {
    throw stale(api, metadata.name);
  }
}

function stale(api: ServedApi, name: string): Error {
  return statusError(
    'Conflict',
    `Operation cannot be fulfilled on ${resourceOf(api)} ${JSON.stringify(name)}: the object has been modified; please apply your changes to the latest version and try again`,
    { name, group: api.group, kind: plural },
  );
}

function warningsIn({ items }: WriteReport): readonly string[] {
  return items.flatMap(({ warnings, intent: { target } }) =>
    warnings.map((warning) => `${target.resource.kind} ${target.name}: ${warning}`),
  );
}
