/**
 * The objects to which the columns of one member lead, in one cluster. It finds the object to which a member's object leads. It also finds
 * the member's objects that lead to a changed object.
 *
 *   Redis a { spec.configName: blue } -> ConfigMap blue -> its values at the paths of the columns
 *   ConfigMap blue changed            -> are its values at these paths others than before? -> Redis a and all others that name it
 *
 * The values of a bounded number of related objects are remembered. So a status that changes often is followed only if a column shows it.
 * Invariant: all objects that lead to a remembered one, and were made since then, were made with the remembered values.
 */
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { RelatedKind } from '../../catalog/abstract/abstract-kind.ts';
import { isNear, type Lead, namedBy } from '../../catalog/abstract/related-columns.ts';
import { valuesAt } from '../../catalog/paths/value-at.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { MemberChanges, MemberReads, ObjectName } from '../../store/types/member-reads.ts';

/** A lead to a kind that the cluster serves. */
export interface ServedLead extends Lead {
  /** resourceKey of the related kind. */
  readonly key: string;
  readonly namespaced: boolean;
}

interface Related {
  readonly uid: string;
  readonly version: string;
  readonly body: unknown;
}

interface Seen {
  readonly version: string;
  /** JSON of the values at the paths of all leads. */
  readonly values: string;
}

/** Objects of a batch, at least, if there are so many. */
const atOnce = 100;
/** Parsed objects, by the length of their texts, until `forget`. */
const parsed = { entries: 200, weight: 16_000_000 };
/** Values that were seen last, by their length. */
const remembered = { entries: 10_000, weight: 8_000_000 };

export class RelatedObjects {
  readonly kinds: readonly RelatedKind[];
  readonly #members: MemberReads;
  readonly #cluster: string;
  readonly #member: string;
  readonly #leads: ReadonlyMap<string, ServedLead>;
  readonly #parsed = new BoundedCache<Related | null>(parsed);
  readonly #seen = new BoundedCache<Seen>(remembered);

  constructor(members: MemberReads, cluster: string, member: string, leads: readonly ServedLead[]) {
    this.#members = members;
    this.#cluster = cluster;
    this.#member = member;
    this.#leads = new Map(leads.map((lead) => [lead.name, lead]));
    this.kinds = relatedKinds(leads);
  }

  /** The body of the object to which a relation leads; undefined if there is none. Reads what is stored; see `forget`. */
  bodyOf(relation: string, body: unknown, namespace: string): unknown {
    const lead = this.#leads.get(relation);
    const named = lead === undefined ? null : namedBy(lead, body, namespace);
    if (lead === undefined || named === null) return undefined;
    const found = this.#read(lead.key, { namespace: lead.namespaced ? named.namespace : '', name: named.name });
    return found === null || (named.uid !== null && named.uid !== found.uid) ? undefined : found.body;
  }

  /** The next reads are of the stored objects as they are then. */
  forget(): void {
    this.#parsed.clear();
  }

  /** The changes of each related kind after a position of the log; null if the log does not tell. */
  changes(after: number, limit: number): readonly (MemberChanges | null)[] {
    return this.kinds.map(({ key }) => this.#members.changes(this.#cluster, key, after, limit));
  }

  /** The member's objects that lead to a changed object whose values are others than before, in batches. */
  *leadingTo(changes: readonly Pick<MemberChanges, 'names'>[]): Iterable<readonly ObjectName[]> {
    const followed: (() => void)[] = [];
    let batch: ObjectName[] = [];
    for (const [at, { names }] of changes.entries()) {
      const key = this.kinds[at]?.key ?? '';
      for (const changed of names) {
        const id = idOf(key, changed);
        const found = this.#read(key, changed);
        // An object that was read with other values is not remembered.
        if (found !== null && this.#seen.get(id) !== undefined) continue;
        for (const some of this.#referrers(key, changed, found)) {
          batch.push(...some);
          if (batch.length < atOnce) continue;
          yield batch;
          batch = [];
        }
        if (found !== null)
          followed.push(() => {
            // Some were made with another version if it changed meanwhile.
            if (this.#read(key, changed)?.version === found.version)
              this.#remember(id, { version: found.version, values: this.#valuesOf(key, found) });
          });
      }
    }
    if (batch.length > 0) yield batch;
    for (const remember of followed) remember();
  }

  *#referrers(
    key: string,
    { namespace, name, uids }: ObjectName & { readonly uids: readonly string[] },
    found: Related | null,
  ): Iterable<readonly ObjectName[]> {
    const [lead] = this.#leadsTo(key);
    if (lead === undefined) return;
    for (const uid of new Set([...uids, ...(found === null ? [] : [found.uid])]))
      yield* this.#members.owned(this.#member, uid);
    const { to, namespaced } = lead;
    yield* this.#members.referrers(this.#cluster, this.#member, { ...to, namespaced, namespace, name });
  }

  #read(key: string, of: ObjectName): Related | null {
    const id = idOf(key, of);
    const known = this.#parsed.get(id);
    if (known !== undefined) return known;
    const object = this.#members.one(this.#cluster, key, of.namespace, of.name);
    const found =
      object === null ? null : { uid: object.uid, version: object.resourceVersion, body: parseExact(object.text) };
    this.#parsed.set(id, found, object?.text.length ?? 100);
    this.#compare(id, key, found);
    return found;
  }

  /** Forgets what is remembered of an object with other values. */
  #compare(id: string, key: string, found: Related | null): void {
    const seen = this.#seen.get(id);
    if (seen === undefined || seen.version === found?.version) return;
    if (found !== null && this.#valuesOf(key, found) === seen.values)
      this.#remember(id, { version: found.version, values: seen.values });
    else this.#seen.delete(id);
  }

  #remember(id: string, seen: Seen): void {
    this.#seen.set(id, seen, id.length + seen.values.length);
  }

  #valuesOf(key: string, { uid, body }: Related): string {
    return JSON.stringify([uid, this.#leadsTo(key).map(({ paths }) => paths.map((path) => valuesAt(body, path)))]);
  }

  #leadsTo(key: string): readonly ServedLead[] {
    return [...this.#leads.values()].filter((lead) => lead.key === key);
  }
}

function idOf(key: string, { namespace, name }: ObjectName): string {
  return JSON.stringify([key, namespace, name]);
}

/** Each related kind once. */
function relatedKinds(leads: readonly ServedLead[]): readonly RelatedKind[] {
  return [...Map.groupBy(leads, ({ key }) => key)].map(([key, some]) => ({
    key,
    isNear: some.every((lead) => isNear(lead, lead.namespaced)),
  }));
}
