/**
 * LIST: selects the revision of a collection and cuts it into pages.
 *
 * A request without a continue token reads the newest revision (resourceVersion "" or NotOlderThan) or an exact one. The continue
 * token carries that revision and the last key. Every further page is read from the same revision, reconstructed from history.
 * When the history no longer reaches back to it, the answer is 410 Expired. Source: the API concepts of Kubernetes, KEP-2340.
 */
import type { Clock } from '../../src/base/clock.ts';
import { asObject, isObject, type JsonObject } from '../objects/json.ts';
import type { ObjectStore, Stored } from '../objects/object-store.ts';
import { type StatusCause, StatusError, statusErrors } from '../objects/status-error.ts';
import type { FieldPredicate } from '../resources/field-selector.ts';
import type { LabelPredicate } from '../resources/label-selector.ts';
import { metadataOf, type ServedResource } from '../resources/served-resource.ts';

export interface ListQuery {
  readonly namespace: string | undefined;
  readonly labels?: LabelPredicate | undefined;
  readonly fields?: FieldPredicate | undefined;
  /** 0 means no limit. */
  readonly limit: number;
  readonly continue: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** Whether `sendInitialEvents` is given. Only a watch may have it. */
  readonly sendInitialEvents: boolean;
}

interface ListPage {
  readonly items: readonly Stored[];
  readonly revision: number;
  readonly continue: string;
  readonly remaining: number | undefined;
}

interface Token {
  /** -1: the newest revision. Only the token that a 410 response offers has it. */
  readonly rv: number;
  readonly start: string;
}

/** Whether an object is selected. */
export function isSelected(
  stored: Stored,
  labels: LabelPredicate | undefined,
  fields: FieldPredicate | undefined,
): boolean {
  if (labels && !labels(asObject(metadataOf(stored.object).labels))) return false;
  return !fields || fields(stored.object);
}

/** Waits up to three seconds until the store reaches a revision; then throws 504, as the watch cache does. */
export async function awaitRevision(store: ObjectStore, clock: Clock, wanted: number): Promise<void> {
  for (let waited = 0; store.revision < wanted; waited += 100) {
    if (waited >= 3000) throw statusErrors.tooLargeResourceVersion(wanted, store.revision);
    await clock.sleep(100);
  }
}

function forbidden(field: string, message: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field };
}

/** The causes for which resourceVersionMatch is rejected; empty when it is valid. */
function matchCauses({ resourceVersion, resourceVersionMatch: match, continue: token }: ListQuery): StatusCause[] {
  const field = 'resourceVersionMatch';
  if (match === '') return [];
  if (token !== '') return [forbidden(field, 'resourceVersionMatch is forbidden for continue')];
  if (resourceVersion === '')
    return [forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided')];
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: "${match}": supported values: "Exact", "NotOlderThan"`;
    return [{ reason: 'FieldValueNotSupported', message, field }];
  }
  if (match === 'Exact' && resourceVersion === '0')
    return [forbidden(field, 'resourceVersionMatch "Exact" is forbidden for resourceVersion "0"')];
  return [];
}

/** Throws for a resourceVersion that is not a number: a 500 for a get and a watch, as on real servers. */
export function checkResourceVersion(text: string): void {
  const problem = versionProblem(text);
  if (problem !== undefined) throw new StatusError(500, '', problem);
}

function versionProblem(text: string): string | undefined {
  if (/^\d*$/.test(text)) return undefined;
  const shown = JSON.stringify(text);
  return `resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`;
}

function checkOptions(query: ListQuery): number {
  const { resourceVersion } = query;
  const problem = versionProblem(resourceVersion);
  if (problem !== undefined) throw statusErrors.badRequest(`invalid resource version: ${problem}`);
  const causes = matchCauses(query);
  if (query.sendInitialEvents) causes.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  if (causes.length > 0) throw statusErrors.invalid('meta.k8s.io', 'ListOptions', '', causes);
  if (query.continue !== '' && resourceVersion !== '' && resourceVersion !== '0') {
    throw statusErrors.badRequest('specifying resource version is not allowed when using continue');
  }
  return Number(resourceVersion);
}

function readToken(text: string): Token {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (isObject(token) && typeof token.rv === 'number' && typeof token.start === 'string') {
      return { rv: token.rv, start: token.start };
    }
  } catch {
    // Not a token of this server: rejected below.
  }
  throw statusErrors.badRequest('continue key is not valid: the token was not made by this server');
}

/** A collection at a revision. */
interface Snapshot {
  readonly storage: string;
  readonly revision: number;
  readonly objects: readonly Stored[];
}

/**
 * Caches the collections that clients are paging through, so that not every page reconstructs one. A collection is dropped after
 * its last page, and when the history no longer reaches back to it: it would keep replaced versions in memory.
 */
export class Lister {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(store: ObjectStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Drops the cached collections, as compaction does. */
  compact(): void {
    this.#snapshots.clear();
  }

  /** Waits until the store reaches the given version; throws a 504 Status after the timeout. */
  async reached(resourceVersion: string): Promise<void> {
    checkResourceVersion(resourceVersion);
    if (Number(resourceVersion) > this.#store.revision)
      await awaitRevision(this.#store, this.#clock, Number(resourceVersion));
  }

  /** One page; throws 400, 410, 422 or 504 Statuses as a real server does. */
  async list(resource: ServedResource, query: ListQuery): Promise<ListPage> {
    const wanted = checkOptions(query);
    const store = this.#store;
    let revision: number;
    let start = '';
    if (query.continue !== '') {
      const token = readToken(query.continue);
      revision = token.rv < 0 ? store.revision : token.rv;
      start = token.start;
    } else {
      const exact =
        query.resourceVersionMatch === 'Exact' || (query.resourceVersionMatch === '' && query.limit > 0 && wanted > 0);
      if (wanted > store.revision) await awaitRevision(store, this.#clock, wanted);
      revision = exact ? wanted : store.revision;
    }
    const limit = query.resourceVersion === '0' && query.resourceVersionMatch === '' ? 0 : query.limit;
    const all = this.#at(resource, revision, query.namespace, limit > 0);
    if (!all) throw expired(start);
    const page = cut(all, query, limit, start, revision);
    if (page.continue === '') this.#snapshots.delete(snapshotId(resource, revision, query.namespace));
    return page;
  }

  #at(
    resource: ServedResource,
    revision: number,
    namespace: string | undefined,
    keep: boolean,
  ): readonly Stored[] | undefined {
    for (const [id, { storage, revision }] of this.#snapshots) {
      if (!this.#store.reaches(storage, revision)) this.#snapshots.delete(id);
    }
    const { storage } = resource;
    const id = snapshotId(resource, revision, namespace);
    const known = this.#snapshots.get(id);
    if (known) return known.objects;
    const objects = this.#store.snapshot(storage, revision, namespace);
    if (objects && keep) {
      this.#snapshots.set(id, { storage, revision, objects });
      const [oldest] = this.#snapshots.keys();
      if (this.#snapshots.size > 8 && oldest !== undefined) this.#snapshots.delete(oldest);
    }
    return objects;
  }
}

function snapshotId({ storage }: ServedResource, revision: number, namespace: string | undefined): string {
  return `${storage} ${namespace ?? '*'} ${revision}`;
}

function cut(all: readonly Stored[], query: ListQuery, limit: number, start: string, revision: number): ListPage {
  const { labels, fields } = query;
  const selected = labels !== undefined || fields !== undefined;
  let first = 0;
  if (start !== '') {
    let high = all.length;
    while (first < high) {
      const middle = (first + high) >>> 1;
      if ((all[middle]?.key ?? '') <= start) first = middle + 1;
      else high = middle;
    }
  }
  if (!selected) {
    const items = limit > 0 ? all.slice(first, first + limit) : first === 0 ? all : all.slice(first);
    const remaining = all.length - first - items.length;
    const last = items.at(-1);
    const more = remaining > 0 && last !== undefined;
    return {
      items,
      revision,
      continue: more ? tokenOf(revision, last.key) : '',
      remaining: more ? remaining : undefined,
    };
  }
  const items: Stored[] = [];
  for (let i = first; i < all.length; i++) {
    const stored = all[i];
    if (!stored || !isSelected(stored, labels, fields)) continue;
    const last = items.at(-1);
    if (limit > 0 && items.length === limit && last) {
      return { items, revision, continue: tokenOf(revision, last.key), remaining: undefined };
    }
    items.push(stored);
  }
  return { items, revision, continue: '', remaining: undefined };
}

/**
 * A 410. For a continue token (`start` is not empty) it carries a new token, which continues at the newest revision. The pages
 * then no longer show one consistent revision.
 */
function expired(start: string): StatusError {
  if (start === '') return statusErrors.expired('The provided resource version is too old.');
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  return new StatusError(410, 'Expired', message, undefined, { continue: tokenOf(-1, start) });
}

function tokenOf(revision: number, key: string): string {
  const token: JsonObject = { v: 'meta.k8s.io/v1', rv: revision, start: key };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}
