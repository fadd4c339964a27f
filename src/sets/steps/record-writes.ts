/**
 * The reads and writes of one set's record, each with the limits and the audit of every write.
 *
 *   probe    POST as a dry run: may the namespace get a record of this name and metadata?
 *   begin    POST, or PATCH at the version that was read: another apply in between is STALE_OBJECT
 *   dress    PATCH of the metadata alone: no member changes
 *   end      PATCH at the version of `begin`; again, if only the metadata has changed since
 *   mark     PATCH: finalizer and phase Deleting -> DELETE: the record has a deletionTimestamp
 *   drop     PATCH: without the finalizer: the record is gone
 *
 * Invariant: each write names the uid and the version of the record that was read. So it overwrites no later write.
 */
import { PortolanError } from '../../base/errors.ts';
import { records, text } from '../../base/json.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import { sealedText } from '../../writes/diff/withheld-values.ts';
import { type WriteError, writeError } from '../../writes/outcome/write-error.ts';
import { unplanned } from '../../writes/plan/plan-one.ts';
import {
  anyState,
  type Json,
  type Preconditions,
  type WriteAction,
  type WriteIntent,
  type WriteTarget,
} from '../../writes/request/write-intent.ts';
import { type RunContext, shownPlan, unwritten, type WriteItem, writeItem } from '../../writes/run/write-item.ts';
import { type Answer, listLive, readLive, sendWrite, uidOf, versionOf } from '../../writes/send/send-write.ts';
import { hasMetadata, metadataPatch, type RecordKeeper } from '../record/record-keeper.ts';
import { recordSpec } from '../record/record-spec.ts';
import { recordMarks, type SetName } from '../record/set-names.ts';
import { membersFinalizer, readSetRecord, recordResource, type SetRecord, type SetSpec } from '../record/set-record.ts';

/** Attempts to write a record whose metadata others change meanwhile. */
const mostAttempts = 5;

/** The identity of a record, and its version. */
export type HeldRecord = Pick<SetRecord, 'name' | 'uid' | 'resourceVersion'>;

export class RecordWrites {
  readonly #context: RunContext;
  readonly #set: SetName;
  readonly #version: string;
  readonly #keeper: RecordKeeper | null;
  readonly target: WriteTarget;

  /** @param context of the caller @param version of Portolan @param keeper writes the record; null: the caller does */
  constructor(
    context: RunContext,
    set: SetName & { readonly cluster: string },
    version: string,
    keeper: RecordKeeper | null,
  ) {
    this.#context = keeper === null ? context : { ...context, client: keeper.client };
    this.#set = set;
    this.#version = version;
    this.#keeper = keeper;
    const { cluster, namespace, name } = set;
    this.target = { cluster, resource: recordResource, namespace, name, place: null };
  }

  /** The record as it is now; null without one. */
  async read(): Promise<Answer<{ readonly record: SetRecord | null }>> {
    const found = await readLive(this.#context, this.target);
    if (found.error !== null) return found;
    return found.object === null ? { error: null, record: null } : readable(found.object);
  }

  /** The names of the namespace's sets by the uids of their members; null if they cannot be read. */
  async owners(): Promise<ReadonlyMap<string, string> | null> {
    const found = await listLive(this.#context, this.target);
    if (found.error !== null) return null;
    const owners = new Map<string, string>();
    for (const object of found.objects) {
      const name = text(recordOf(object['metadata'])?.['name']) ?? '';
      // A record that cannot be read as a whole counts too.
      for (const member of records(recordOf(object['spec'])?.['members'])) {
        const uid = text(member['uid']);
        if (uid !== undefined && name !== this.#set.name) owners.set(uid, name);
      }
    }
    return owners;
  }

  /** An item of the record that says why nothing was written. */
  refused(verb: 'apply' | 'delete', error: WriteError): WriteItem {
    const action: WriteAction = verb === 'delete' ? removal : { verb: 'create', manifest: {} };
    return unwritten(this.#intent(action), error);
  }

  /** An item of a record that needs no write. */
  unchanged(): WriteItem {
    return unwritten(this.#intent({ verb: 'create', manifest: {} }));
  }

  /** The plan of the write by `begin` or `mark`. */
  async plan(record: SetRecord | null, wanted: SetSpec | null): Promise<WriteItem> {
    const intent = wanted === null ? this.#intent(removal, record) : this.#beginning(record, wanted);
    const dry = await sendWrite(this.#context, intent, true);
    const nothing = unplanned(writeError('SKIPPED', ''));
    if (dry.error !== null) return shownPlan(intent, { ...nothing, error: ofRecord(dry.error) });
    const shown = shownPlan(intent, { ...nothing, error: null, live: record === null ? null : {} });
    return { ...shown, result: wanted === null ? 'DELETED' : record === null ? 'CREATED' : 'CHANGED', live: null };
  }

  /** Why there cannot be a record of this name; null if there can. The API server looks at the namespace, too. */
  async probe(): Promise<WriteError | null> {
    const nothing = { generation: 1, phase: 'Applying', members: [], lastApplied: null } as const;
    const dry = await sendWrite(this.#context, this.#beginning(null, nothing), true);
    return dry.error;
  }

  /** Writes the metadata that was submitted, and nothing else. */
  async dress(record: SetRecord, dryRun: boolean): Promise<WriteItem> {
    const metadata = this.#keeper?.metadata ?? null;
    if (metadata === null || hasMetadata(record, metadata)) return this.unchanged();
    const { lastApplied } = metadata;
    const intent = this.#patch(record, { metadata: metadataPatch(record, metadata), spec: { lastApplied } });
    if (!dryRun) return (await this.#write(intent)).item;
    const dry = await sendWrite(this.#context, intent, true);
    return dry.error === null ? { ...unwritten(intent), result: 'CHANGED' } : unwritten(intent, ofRecord(dry.error));
  }

  /** Writes the record before the members. */
  async begin(record: SetRecord | null, wanted: SetSpec): Promise<{ item: WriteItem; held: HeldRecord | null }> {
    return this.#write(this.#beginning(record, wanted));
  }

  #beginning(record: SetRecord | null, wanted: SetSpec): WriteIntent {
    const { labels, annotations } = recordMarks(this.#set, wanted.members, this.#version);
    const given = this.#keeper?.metadata ?? null;
    if (record !== null) {
      const patch = given === null ? {} : metadataPatch(record, given);
      const marked = {
        ...patch,
        labels: { ...recordOf(patch['labels']), ...labels },
        annotations: { ...recordOf(patch['annotations']), ...annotations },
      };
      // A merge patch keeps what it does not name.
      const spec = { lastApplied: null, ...recordSpec(wanted) };
      return this.#patch(record, { metadata: marked, spec });
    }
    const spec = recordSpec(wanted);
    const { apiVersion, kind } = { apiVersion: apiVersionOf(recordResource), kind: recordResource.kind };
    const { namespace, name } = this.#set;
    const metadata = {
      name,
      namespace,
      labels: { ...given?.labels, ...labels },
      annotations: { ...given?.annotations, ...annotations },
      ...(given === null || given.finalizers.length === 0 ? {} : { finalizers: given.finalizers }),
    };
    return this.#intent({ verb: 'create', manifest: { apiVersion, kind, metadata, spec } });
  }

  /** Writes the record after the members. @param begun what `begin` has written */
  async end(held: HeldRecord, begun: SetSpec, wanted: SetSpec): Promise<WriteItem> {
    const { labels, annotations } = recordMarks(this.#set, wanted.members, this.#version);
    const patch = { metadata: { labels, annotations }, spec: recordSpec(wanted) };
    return this.#again(
      held,
      (at) => this.#patch(at, patch),
      (now) => isSame(now, begun),
    );
  }

  /** Marks the record as one that is being deleted. */
  async mark(record: SetRecord): Promise<{ item: WriteItem; held: HeldRecord | null }> {
    if (record.deletionTimestamp !== null) return { item: this.unchanged(), held: record };
    const finalizers = [...new Set([...record.finalizers, membersFinalizer])];
    const marked = await this.#write(this.#patch(record, { metadata: { finalizers }, spec: { phase: 'Deleting' } }));
    if (marked.held === null) return marked;
    const { held } = marked;
    const deleted = await this.#write(this.#intent(removal, { uid: held.uid, resourceVersion: held.resourceVersion }));
    return deleted.held === null ? deleted : { item: deleted.item, held: deleted.held };
  }

  /** Lets the record go. A record that is gone already is no error. */
  async drop(held: HeldRecord): Promise<WriteItem> {
    const read = await this.read();
    if (read.error !== null) return unwritten(this.#intent(removal), read.error);
    const { record } = read;
    const isGone = record === null || record.uid !== held.uid;
    const gone: WriteItem = {
      ...unwritten(this.#intent(removal)),
      result: 'DELETED',
      written: { uid: held.uid, resourceVersion: null },
    };
    if (isGone || !record.finalizers.includes(membersFinalizer)) return gone;
    const patch = (at: HeldRecord, finalizers: readonly string[]): WriteIntent =>
      this.#patch(at, { metadata: { finalizers: finalizers.filter((each) => each !== membersFinalizer) } });
    let others = record.finalizers;
    const done = await this.#again(
      record,
      (at) => patch(at, others),
      (now) => {
        others = now.finalizers;
        return now.deletionTimestamp !== null;
      },
    );
    const isDone = done.errors.length === 0 || done.errors[0]?.code === 'NOT_FOUND';
    // Finalizers of others keep the record: then it has a version, and is not gone yet.
    const isKept = done.errors.length === 0 && others.some((each) => each !== membersFinalizer);
    return isDone
      ? { ...gone, warnings: done.warnings, ...(isKept ? { written: done.written } : {}) }
      : { ...gone, result: 'NONE', errors: done.errors, written: null };
  }

  /** Takes away a record whose apply was undone as a whole. */
  async remove(held: HeldRecord): Promise<WriteItem> {
    const { item } = await this.#write(this.#intent(removal, { uid: held.uid, resourceVersion: null }));
    return item;
  }

  /** Writes; after a change of the record in between, once more if `mayRepeat` says so. */
  async #again(
    held: HeldRecord,
    intentAt: (held: HeldRecord) => WriteIntent,
    mayRepeat: (now: SetRecord) => boolean,
  ): Promise<WriteItem> {
    let at = held;
    for (let attempt = 1; ; attempt += 1) {
      const { item } = await this.#write(intentAt(at));
      if (item.errors[0]?.code !== 'STALE_OBJECT' || attempt === mostAttempts) return item;
      const read = await this.read();
      const now = read.error === null ? read.record : null;
      if (now === null || now.uid !== held.uid || !mayRepeat(now)) return item;
      at = now;
    }
  }

  async #write(intent: WriteIntent): Promise<{ item: WriteItem; held: HeldRecord | null }> {
    const done = await writeItem(this.#context, { intent, condition: null, planned: null }, false);
    const item = { ...done, errors: done.errors.map(ofRecord), changes: [], after: null };
    const uid = uidOf(done.after) ?? done.written?.uid ?? null;
    const resourceVersion = versionOf(done.after) ?? done.written?.resourceVersion ?? null;
    if (item.errors.length > 0 || uid === null || resourceVersion === null) return { item, held: null };
    return { item, held: { name: this.#set.name, uid, resourceVersion } };
  }

  #patch({ uid, resourceVersion }: HeldRecord, patch: Json): WriteIntent {
    return this.#intent({ verb: 'patch', format: 'MERGE', patch, subresource: null }, { uid, resourceVersion });
  }

  #intent(action: WriteAction, preconditions: Preconditions | null = null): WriteIntent {
    const { uid, resourceVersion } = preconditions ?? anyState;
    return { target: this.target, action, preconditions: { uid, resourceVersion } };
  }
}

const removal: WriteAction = { verb: 'delete', propagation: 'BACKGROUND' };

/** The error in terms of sets. */
function ofRecord(error: WriteError): WriteError {
  const isOther = error.code === 'ALREADY_EXISTS' || error.code === 'STALE_OBJECT';
  if (!isOther) return error;
  return {
    ...error,
    code: 'STALE_OBJECT',
    message: 'Somebody else has written the set meanwhile: look at it, and send it again.',
  };
}

/** Does the record still say what was written? */
function isSame(now: SetRecord, { generation, phase, members }: SetSpec): boolean {
  const textOf = (spec: SetSpec): string => sealedText(recordSpec(spec));
  return textOf({ ...now, lastApplied: null }) === textOf({ generation, phase, members, lastApplied: null });
}

function readable(object: Json): Answer<{ readonly record: SetRecord }> {
  try {
    return { error: null, record: readSetRecord(object) };
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    return { error: writeError('INVALID_FIELD', error.message) };
  }
}
