/**
 * Reads of sets for a caller: the records and their members in one snapshot, cut by the caller's rights on each member.
 *
 *   list   version := high of the changes -> snapshot -> records of a page -> members -> live members -> objects
 *
 * The version of a list is taken before its snapshot. So the snapshot has at least what the version means, and a watch from it repeats
 * a change at the most.
 *
 *   continue   base64url( [ version of the first page, namespace, name, sets after the page ] )
 *
 * The first page asks the store for the number of sets, which is only shown. Later pages subtract the sets of the pages before. So the
 * number is approximate if sets change.
 *
 * A later page shows the sets as they are then, and has the version of the first page. A watch from there has all changes since. An API
 * server keeps old states for some minutes, and the tables have none. Once the changes since the first page are no longer known: 410.
 *
 * Records are read as the door. Before that, the caller's rights on ShadowResource were checked (aggregate-server.ts).
 */
import type { Caller } from '../../access/caller.ts';
import { isText } from '../../base/json.ts';
import { must } from '../../base/must.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { CallerClient } from '../../upstream/caller-clients.ts';
import { type ListOptions, selects } from '../protocol/list-options.ts';
import { plural, resourceOf, type ServedApi } from '../protocol/served-api.ts';
import { statusError } from '../protocol/status.ts';
import { withLiveMembers } from './live-members.ts';
import { memberStates, type SetPlace, type ShownMember } from './member-states.ts';
import type { StoredRecord } from './set-cache.ts';
import { largest, type SetChanges, versionOfStates } from './set-changes.ts';
import { type ShadowResource, shadowResource, shownLabels } from './shadow-resource.ts';
import { countRecords, type RecordRange, recordsIn, recordsOf } from './stored-records.ts';

interface SetReadsOptions {
  readonly api: ServedApi;
  readonly place: () => SetPlace;
  readonly changes: SetChanges;
  /** A client of the cluster that acts as the caller. */
  readonly clientOf: (caller: Caller) => Promise<CallerClient>;
  readonly membersRead: (count: number) => void;
}

interface ListedSets {
  readonly items: readonly ShadowResource[];
  readonly version: bigint;
  /** The token of the next page; null for the last one. */
  readonly continue: string | null;
  /** The approximate number of sets after this page; null for the last one, and with a selector. */
  readonly remaining: number | null;
  /** The number of records that were read. */
  readonly records: number;
}

/** Values that requests for sets are charged, for the caller's limits. */
export const setCosts = { one: 50, list: 1000, write: 200 } as const;

/** The further cost of a page of a list: the records that it has looked at, and the members of its sets. */
export function pageCost({ records, items }: Pick<ListedSets, 'records' | 'items'>): number {
  return 10 * records + 50 * items.reduce((sum, { status }) => sum + status.members.length, 0);
}

/** A set as the caller sees it, and what it is made from. */
export interface PresentSet {
  readonly set: ShadowResource;
  readonly stored: StoredRecord;
  readonly members: readonly ShownMember[];
}

/** Records that are read at once where a selector may leave out most. */
const selectedAtOnce = 200;

interface Page {
  readonly version: bigint;
  /** The last set of the page before. */
  readonly after: { readonly namespace: string; readonly name: string };
  /** As `remaining` of the page before. A client may have changed it. */
  readonly left: number | null;
}

export class SetReads {
  readonly #options: SetReadsOptions;

  constructor(options: SetReadsOptions) {
    this.#options = options;
  }

  /** @throws PortolanError that means 404, and 503 before the first load. */
  async get(operation: Operation, namespace: string, name: string): Promise<ShadowResource> {
    const [found = null] = await this.some(operation, [{ namespace, name }]);
    if (found !== null) return found;
    const { api } = this.#options;
    throw statusError('NotFound', `${resourceOf(api)} "${name}" not found`, { name, group: api.group, kind: plural });
  }

  /** One set with its record and the states of its members, for an update; null if it is not there. */
  async present(operation: Operation, namespace: string, name: string): Promise<PresentSet | null> {
    const [found = null] = await this.#presentSets(operation, [{ namespace, name }]);
    return found;
  }

  /** These sets, in the same order; null for one that is not there. */
  async some(
    operation: Operation,
    sets: readonly { readonly namespace: string; readonly name: string }[],
  ): Promise<readonly (ShadowResource | null)[]> {
    return (await this.#presentSets(operation, sets)).map((found) => found?.set ?? null);
  }

  async #presentSets(
    operation: Operation,
    sets: readonly { readonly namespace: string; readonly name: string }[],
  ): Promise<readonly (PresentSet | null)[]> {
    await this.#options.changes.load();
    const read = await operation.at(this.#options.place().cluster).read(async (lease, view) => {
      const records = await recordsOf(lease, this.#options.place(), sets);
      const there = records.filter((record) => record !== null);
      const states = await memberStates(
        lease,
        view,
        this.#options.place(),
        there.map(({ record }) => record),
      );
      return {
        records,
        states: new Map(there.map((record, index) => [record, must(states[index], 'the states of a set')])),
      };
    });
    const there = read.records.filter((record) => record !== null);
    const shown = await this.#shown(
      operation,
      there,
      there.map((record) => must(read.states.get(record), 'its states')),
    );
    const byRecord = new Map(there.map((record, index) => [record, shown[index] ?? null]));
    return read.records.map((record) => (record === null ? null : (byRecord.get(record) ?? null)));
  }

  /** @param namespace null for all @throws PortolanError that means 400, 410, 503 or 504. */
  async list(operation: Operation, namespace: string | null, options: ListOptions): Promise<ListedSets> {
    const { changes } = this.#options;
    await changes.load();
    const version = changes.high;
    requireVersion(options, version);
    const page = options.continue === null ? null : pageOf(options.continue);
    if (page !== null && changes.since(page.version) === null) throw expired();
    const read = await operation.at(this.#options.place().cluster).read(async (lease, view) => {
      const { records, left, looked } = await recordsOfPage(lease, this.#options.place(), namespace, page, options);
      const states = await memberStates(
        lease,
        view,
        this.#options.place(),
        records.map(({ record }) => record),
      );
      return { records, states, left, looked };
    });
    const { records, left } = read;
    const last = records.at(-1);
    const shownVersion = page?.version ?? version;
    return {
      items: (await this.#shown(operation, records, read.states)).map(({ set }) => set),
      version: shownVersion,
      continue: left === 0 || last === undefined ? null : tokenOf({ version: shownVersion, after: last.record, left }),
      remaining: left === 0 ? null : left,
      records: read.looked,
    };
  }

  /** Could a list be answered? Lists a namespace that cannot exist. @throws what the list would throw. */
  async probe(lease: Lease): Promise<void> {
    await recordsIn(lease, this.#options.place(), { namespace: 'no.namespace', after: null }, null);
  }

  async #shown(
    operation: Operation,
    records: readonly StoredRecord[],
    states: readonly (readonly ShownMember[])[],
  ): Promise<readonly PresentSet[]> {
    const { api, changes, clientOf, membersRead } = this.#options;
    membersRead(states.reduce((sum, own) => sum + own.length, 0));
    const whole = await withLiveMembers(states, () => clientOf(operation.caller), operation.signal);
    return records.map((stored, index) => {
      const { record } = stored;
      const own = must(whole[index], 'the states of a set');
      const hidden = new Set(own.flatMap(({ member, state }) => (state === 'Hidden' ? [member] : [])));
      const seen = record.members.filter((member) => !hidden.has(member));
      const known = changes.versionOf(record, seen);
      const version = largest([known, versionOfStates(record.resourceVersion, own)]);
      return { set: shadowResource(api, stored, own, version), stored, members: own };
    });
  }
}

/** As an API server does for a version that it does not have. */
export function requireVersion(
  { resourceVersion, match }: Pick<ListOptions, 'resourceVersion' | 'match'>,
  version: bigint,
): void {
  if (resourceVersion === null) return;
  if (resourceVersion > version) {
    throw statusError('Timeout', `Too large resource version: ${resourceVersion}, current: ${version}`, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    });
  }
  if (match === 'Exact' && resourceVersion !== version) throw expired();
}

/** The error of a version whose later changes are not known any more: 410, Expired. */
export function expired(): Error {
  return statusError('Expired', 'The resourceVersion for the provided request is too old.');
}

interface RecordsOfPage {
  readonly records: readonly StoredRecord[];
  /** The approximate number of records after the page, 0 for none; null if there are some and a selector decides how many. */
  readonly left: number | null;
  /** The number of records that were read. */
  readonly looked: number;
}

/** Reads no more than the page needs: with a selector, until one record more than the page is found. */
async function recordsOfPage(
  lease: Lease,
  place: SetPlace,
  namespace: string | null,
  page: Page | null,
  options: ListOptions,
): Promise<RecordsOfPage> {
  const { limit } = options;
  const isSelected = options.labels.length + options.fields.length > 0;
  const most = limit === null ? null : isSelected ? Math.max(limit, selectedAtOnce) + 1 : limit + 1;
  const selected: StoredRecord[] = [];
  let looked = 0;
  for (let after: RecordRange['after'] = page?.after ?? null; ; ) {
    const found = await recordsIn(lease, place, { namespace, after }, most);
    looked += found.length;
    selected.push(...found.filter(({ record }) => selects(options, { ...record, labels: shownLabels(record) })));
    after = found.at(-1)?.record ?? null;
    if (most === null || found.length < most || (limit !== null && selected.length > limit)) break;
  }
  const records = limit === null ? selected : selected.slice(0, limit);
  const last = records.at(-1);
  if (records.length === selected.length || last === undefined) return { records, left: 0, looked };
  if (isSelected) return { records, left: null, looked };
  if (page === null) return { records, left: (await countRecords(lease, place, namespace)) - records.length, looked };
  return { records, left: page.left === null ? null : Math.max(1, page.left - records.length), looked };
}

function tokenOf({ version, after, left }: Page): string {
  return Buffer.from(JSON.stringify([String(version), after.namespace, after.name, left])).toString('base64url');
}

function pageOf(token: string): Page {
  let content: unknown = null;
  try {
    content = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    // Refused below.
  }
  if (Array.isArray(content) && content.length === 4) {
    const [version, namespace, name, left]: readonly unknown[] = content;
    const isLeft = left === null || (Number.isSafeInteger(left) && Number(left) > 0);
    if (isText(version) && /^\d{1,19}$/.test(version) && isText(namespace) && isText(name) && isLeft) {
      return { version: BigInt(version), after: { namespace, name }, left: left === null ? null : Number(left) };
    }
  }
  throw statusError('BadRequest', 'continue key is not valid: begin the list again without it');
}
