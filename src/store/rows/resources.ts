/**
 * The kinds and collections of a store: a copy of their rows in the writer's memory.
 *
 * Invariant: after each transaction the copy equals the rows, except bookmarks and statuses that are not saved yet. Most code changes
 * the copy after the commit. Code that changes it inside a transaction restores it on failure, by `change` or WriteSession.ifUndone.
 */

import type { Clock } from '../../base/clock.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { type DescribedRelation, placesOf } from '../../catalog/relations/described-relation.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { type Resource, resourceKey } from '../../catalog/resources/resource.ts';
import type { RelationRows } from '../relations/relation-rows.ts';
import type { PathUse, PromotionOutcome } from '../types/kind-layout.ts';
import { idleStatus, type ResourceHandle, type ResourceState } from '../types/progress.ts';
import { forget } from './object-counts.ts';
import { PromotedTable } from './promoted-table.ts';
import { Promotions } from './promotions.ts';
import { readCollections, readDescription, readKinds } from './resource-rows.ts';
import type { RowTarget } from './row-writer.ts';
import {
  derivedFrom,
  type HealthFill,
  healthRulesHash,
  type StoredKind,
  type StoredResource,
} from './stored-resource.ts';
import type { WriteSession } from './write-session.ts';

/** Kinds whose names are remembered, including kinds that are gone. */
export const mostKindsThatCame = 10_000;

export class Resources {
  readonly #session: WriteSession;
  readonly #clock: Clock;
  readonly #promotions: Promotions;
  readonly #relations: RelationRows;
  readonly #kinds = new Map<string, StoredKind>();
  readonly #resources = new Map<number, StoredResource>();
  /** The same by their names (`nameOf`). */
  readonly #named = new Map<string, StoredResource>();

  constructor(
    session: WriteSession,
    relations: RelationRows,
    { clock, log, configured }: { readonly clock: Clock; readonly log: Logger; readonly configured: readonly string[] },
  ) {
    this.#session = session;
    this.#clock = clock;
    this.#relations = relations;
    this.#promotions = new Promotions(session.database, log, configured);
    this.#load();
  }

  all(): readonly StoredResource[] {
    return [...this.#resources.values()];
  }

  kinds(): readonly StoredKind[] {
    return [...this.#kinds.values()];
  }

  withId(id: number): StoredResource | undefined {
    return this.#resources.get(id);
  }

  /** The collection of a resource in a namespace; the empty string for all namespaces. */
  named(name: Omit<ResourceHandle, 'id'>): StoredResource | undefined {
    return this.#named.get(nameOf(name));
  }

  /** The kind of a resourceKey. A kind stays when its collections are gone. */
  kind(key: string): StoredKind | undefined {
    return this.#kinds.get(key);
  }

  /** The resource of a handle. Throws NOT_FOUND when it was dropped. */
  of(handle: ResourceHandle): StoredResource {
    const resource = this.#resources.get(handle.id);
    if (resource !== undefined) return resource;
    throw new PortolanError('NOT_FOUND', `${handle.key} of ${handle.cluster} is not in the store; declare it again.`);
  }

  stateOf(resource: StoredResource): ResourceState {
    return {
      handle: resource.handle,
      described:
        resource.described ?? readDescription(this.#session.database, resource.kind.id, resource.handle.cluster),
      lastResourceVersion: resource.lastResourceVersion,
      synced: resource.synced,
      outdated: resource.synced && resource.shape !== resource.bodyShape,
      objects: resource.objects,
      status: resource.status,
    };
  }

  /** The target for writing rows of this resource into `rowset`. */
  target(resource: StoredResource, rowset: number): RowTarget {
    const { kind, redaction, handle } = resource;
    return { kindId: kind.id, cluster: handle.cluster, rowset, promoted: kind.promoted, redaction };
  }

  /** True if the kind needs a promoted table for its rows and has none yet. */
  lacksTable({ kind: { promoted } }: StoredResource): boolean {
    return promoted.table === null && promoted.slots.length > 0;
  }

  /** Creates the promoted table, if the kind lacks one, before its first rows are written. Inside a transaction. */
  prepareRows(resource: StoredResource): void {
    if (!this.lacksTable(resource)) return;
    const { promoted } = resource.kind;
    promoted.create();
    this.#session.ifUndone(() => promoted.uncreate());
    this.#session.counters.layoutVersion += 1;
  }

  /**
   * Creates or updates a collection, and updates the description that all collections of its resource share. Runs in a transaction of
   * its own. When a path is newly redacted, it calls `redactStored` inside the transaction for each existing collection. That function
   * must remove the stored bodies.
   */
  declare(
    described: DescribedResource,
    namespace: string,
    redactStored: (resource: StoredResource) => void,
  ): StoredResource {
    return this.change(() => this.#declare(described, namespace, redactStored));
  }

  /** Runs work in a transaction. It may change the copy inside: after a failure the copy is read from the rows again. */
  change<T>(work: () => T): T {
    try {
      return this.#session.run(work);
    } catch (error) {
      this.#reload();
      throw error;
    }
  }

  /** See Writer.promote. Changes are made in a transaction of their own. */
  promote(use: PathUse, now: number): PromotionOutcome {
    const kind = this.#kinds.get(use.key);
    if (kind === undefined) return 'few rows';
    // The objects of a running first list are prepared for the columns that existed when it began.
    const listing = ({ synced, status }: StoredResource): boolean => !synced && status.phase === 'LISTING';
    if (this.all().some((resource) => resource.kind === kind && listing(resource))) return 'not now';
    const begun = this.#promotions.begin(kind, this.objectsOf(kind), use, now);
    const { work } = begun;
    if (work === null) return begun.outcome;
    this.change(() => {
      if (work()) this.#session.counters.layoutVersion += 1;
    });
    return begun.outcome;
  }

  /** Removes a collection, and with the last one the description. The kind stays, because kind ids are permanent. Inside a transaction. */
  remove(resource: StoredResource): void {
    const { database, counters } = this.#session;
    const { id, cluster } = resource.handle;
    database.statement('DELETE FROM resource WHERE id = ?').run(id);
    this.#resources.delete(id);
    this.#named.delete(nameOf(resource.handle));
    if (this.#collectionsOf(resource.kind, cluster).length > 0) return;
    database.statement('DELETE FROM description WHERE cluster = ? AND kind = ?').run(cluster, resource.kind.id);
    counters.catalogVersion += 1;
    if (this.#assignSlots(resource.kind)) counters.layoutVersion += 1;
    this.#assignPlaces(resource.kind);
  }

  /** Reads everything again from the rows. Keeps bookmarks and statuses that are not saved yet. */
  #reload(): void {
    const before = new Map(this.#resources);
    this.#kinds.clear();
    this.#resources.clear();
    this.#named.clear();
    this.#load();
    for (const [id, resource] of this.#resources) {
      const known = before.get(id);
      if (known === undefined || known.rowset !== resource.rowset) continue;
      resource.lastResourceVersion = known.lastResourceVersion;
      resource.status = known.status;
    }
  }

  /** Returns a collection to the state before its first sync. Its rows become stale. Inside a transaction. */
  unpublish(resource: StoredResource): void {
    const { database } = this.#session;
    if (resource.rowset !== null) {
      database
        .statement('INSERT INTO stale_rowset (rowset, kind) VALUES (?, ?)')
        .run(resource.rowset, resource.kind.id);
      forget(database, resource.rowset);
    }
    database
      .statement('UPDATE resource SET rowset = NULL, last_rv = NULL, synced = 0, objects = 0 WHERE id = ?')
      .run(resource.handle.id);
    this.#relations.rolledUp.forgetAll();
    Object.assign(resource, { rowset: null, lastResourceVersion: null, synced: false, objects: 0 });
  }

  #declare(
    described: DescribedResource,
    namespace: string,
    redactStored: (resource: StoredResource) => void,
  ): StoredResource {
    const { database, counters } = this.#session;
    const { cluster, resource: served } = described;
    const kind = this.#kindOf(served);
    this.#came(kind, served.kind);
    const json = JSON.stringify(described);
    const before = database
      .statement('SELECT json FROM description WHERE cluster = ? AND kind = ?')
      .get(cluster, kind.id)?.[0];
    if (before !== json) {
      database
        .statement('INSERT OR REPLACE INTO description (cluster, kind, json) VALUES (?, ?, ?)')
        .run(cluster, kind.id, json);
      counters.catalogVersion += 1;
    }
    const known = this.#collectionsOf(kind, cluster);
    const derived = derivedFrom(described);
    for (const each of known) {
      if (each.shape !== derived.shape) {
        database
          .statement('UPDATE resource SET version = ?, shape = ? WHERE id = ?')
          .run(served.version, derived.shape, each.handle.id);
      }
      Object.assign(each, derived, { described });
    }
    const resource =
      known.find(({ handle }) => handle.namespace === namespace) ?? this.#insert(kind, described, namespace);
    if (this.#assignSlots(kind)) counters.layoutVersion += 1;
    this.#assignPlaces(kind);
    this.#assignHealth(kind, described);
    const redactedBefore = typeof before === 'string' ? (JSON.parse(before) as DescribedResource).redacted : null;
    if (redactedBefore !== null && described.redacted.some((path) => !redactedBefore.includes(path))) {
      for (const each of known) redactStored(each);
    }
    return resource;
  }

  #insert(kind: StoredKind, described: DescribedResource, namespace: string): StoredResource {
    const { cluster, resource: served } = described;
    const derived = derivedFrom(described);
    const id = this.#session.database
      .statement(
        `INSERT INTO resource (cluster, kind, namespace, version, rowset, last_rv, synced, objects, shape, body_shape, status)
         VALUES (?, ?, ?, ?, NULL, NULL, 0, 0, ?, ?, ?)`,
      )
      .run(
        cluster,
        kind.id,
        namespace,
        served.version,
        derived.shape,
        derived.shape,
        JSON.stringify(idleStatus),
      ).lastInsertRowid;
    const resource: StoredResource = {
      handle: Object.freeze({ id, cluster, key: kind.key, namespace }),
      kind,
      ...derived,
      bodyShape: derived.shape,
      rowset: null,
      lastResourceVersion: null,
      synced: false,
      objects: 0,
      status: idleStatus,
      described,
    };
    this.#keep(resource);
    return resource;
  }

  /** The collections of one resource. */
  #collectionsOf(kind: StoredKind, cluster: string): readonly StoredResource[] {
    return this.all().filter((other) => other.kind === kind && other.handle.cluster === cluster);
  }

  #kindOf(served: Resource): StoredKind {
    const key = resourceKey(served);
    const known = this.#kinds.get(key);
    if (known !== undefined) return known;
    const { database, counters } = this.#session;
    const id = database
      .statement('INSERT INTO kind (grp, plural, key, promoted_table) VALUES (?, ?, ?, NULL)')
      .run(served.group, served.plural, key).lastInsertRowid;
    counters.layoutVersion += 1;
    const { group, plural } = served;
    const kind = {
      id,
      group,
      plural,
      key,
      promoted: new PromotedTable(database, id, null, []),
      health: { rules: '', from: null },
    };
    this.#kinds.set(key, kind);
    return kind;
  }

  /**
   * Remembers when a kind came under this Kind. The oldest kinds that are gone are forgotten beyond a bound. Ids are milliseconds since the
   * epoch, or the next number: so they order the kinds of several cells too.
   */
  #came(kind: StoredKind, name: string): void {
    const { database } = this.#session;
    const { changes } = database
      .statement(
        `INSERT OR IGNORE INTO kind_came (id, kind, name)
         VALUES (max(?, (SELECT coalesce(max(id), 0) + 1 FROM kind_came)), ?, ?)`,
      )
      .run(BigInt(Math.floor(this.#clock.now())), kind.id, name);
    if (changes === 0) return;
    database
      .statement(
        `DELETE FROM kind_came WHERE id IN (
           SELECT id FROM kind_came WHERE kind NOT IN (SELECT kind FROM description) AND kind != ?
           ORDER BY id LIMIT max(0, (SELECT count(*) FROM kind_came) - ?))`,
      )
      .run(kind.id, mostKindsThatCame);
  }

  #assignSlots(kind: StoredKind): boolean {
    return this.#promotions.assign(kind, this.objectsOf(kind));
  }

  /** The kind has the places of all clusters' descriptions. */
  #assignPlaces(kind: StoredKind): void {
    const { database } = this.#session;
    const rows = database
      .statement(`SELECT coalesce(json_extract(json, '$.relations'), '[]') FROM description WHERE kind = ?`)
      .all(kind.id);
    const relations = rows.flatMap(([json]) => JSON.parse(String(json)) as readonly DescribedRelation[]);
    this.#relations.places.assign(kind.id, placesOf(relations), this.#hasRows(kind));
  }

  /** Notes changed rules of the health: housekeeping computes the health of the kind's objects again. */
  #assignHealth(kind: StoredKind, described: DescribedResource): void {
    const rules = healthRulesHash(described);
    if (kind.health.rules === rules) return;
    this.healthFilled(kind, { rules, from: this.#hasRows(kind) ? 0 : null });
  }

  /** Saves how far the health follows the rules. Inside a transaction. */
  healthFilled(kind: StoredKind, health: HealthFill): void {
    this.#session.database
      .statement('UPDATE kind SET health_rules = ?, health_from = ? WHERE id = ?')
      .run(health.rules, health.from, kind.id);
    kind.health = health;
  }

  #hasRows(kind: StoredKind): boolean {
    return this.#session.database.statement('SELECT 1 FROM object WHERE kind = ? LIMIT 1').get(kind.id) !== undefined;
  }

  /** The number of published objects of a kind, in all clusters. */
  objectsOf(kind: StoredKind): number {
    return this.all().reduce((sum, resource) => sum + (resource.kind === kind ? resource.objects : 0), 0);
  }

  #load(): void {
    const { database } = this.#session;
    const kinds = readKinds(database);
    for (const kind of kinds) this.#kinds.set(kind.key, kind);
    for (const resource of readCollections(database, kinds)) this.#keep(resource);
  }

  #keep(resource: StoredResource): void {
    this.#resources.set(resource.handle.id, resource);
    this.#named.set(nameOf(resource.handle), resource);
  }
}

function nameOf({ cluster, key, namespace }: Omit<ResourceHandle, 'id'>): string {
  return JSON.stringify([cluster, key, namespace]);
}
