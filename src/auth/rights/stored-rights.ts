/**
 * The rights of callers by the roles and bindings in the store.
 *
 *   caller -> user and groups -> grants in each cluster (RbacIndex) -> scopes
 *
 * Fails closed: every caller sees no row of a cluster whose roles are not synced. The same holds while the roles may lag behind the API
 * server by more than `mostStaleMs`.
 */
import type { Caller } from '../../access/caller.ts';
import { grantedScopes } from '../../access/granted-scopes.ts';
import type { Grants } from '../../access/grants.ts';
import type { RequestAttributes, ResourceAttributes } from '../../access/policy-rule.ts';
import { rbacKeys, subjectOf } from '../../access/rbac-objects.ts';
import type { GrantedSubject, LogPlace, Rights } from '../../access/rights.ts';
import { noScopes, type Scopes } from '../../access/scope.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { Lease, Reader } from '../../store/types/lease.ts';
import type { Row, Statement } from '../../store/types/statement.ts';
import { rightsUnknown, StoredRoles } from './stored-roles.ts';

interface StoredRightsOptions {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly log: Logger;
  /** The clusters whose users the callers are, read at each use. Rows of other clusters are visible to no caller. */
  readonly clusters: readonly string[];
  /** The number of clusters of the gateway; Infinity if more may come. */
  readonly served: number;
  /** Called after the rights of some caller may have changed. */
  readonly changed?: () => void;
  /** Since when ingest cannot bring the roles of the cluster up to date, whatever the store says; null while it can. */
  readonly staleSince?: ((cluster: string) => number | null) | undefined;
}

/** Milliseconds that the roles of a cluster may lag behind its API server. */
const mostStaleMs = 60_000;
/** Milliseconds in which the roles are read again behind a commit. */
const patienceMs = 30_000;
/** Scopes that are kept, of callers with different grants. */
const keptScopes = 2000;

export class StoredRights implements Rights {
  readonly roles = new StoredRoles();
  readonly #options: StoredRightsOptions;
  readonly #scopes = new BoundedCache<Scopes>({ entries: keptScopes, weight: keptScopes });
  /** Scopes without the clusters whose rights are not known. */
  readonly #partial = new BoundedCache<Scopes>({ entries: keptScopes, weight: keptScopes });
  /** The rights are known up to here. */
  #known: LogPlace | null = null;
  /** The read that runs, and the read that follows it. */
  #running: Promise<void> | null = null;
  #waiting: Promise<void> | null = null;
  #closed = false;

  constructor(options: StoredRightsOptions) {
    this.#options = options;
  }

  get statement(): Statement {
    return this.roles.statement;
  }

  isCurrent(epoch: string, rows: readonly Row[]): boolean {
    return this.roles.isCurrent(epoch, rows);
  }

  now(caller: Caller): Scopes | null {
    const { known, unknown } = this.#grantsOf(caller);
    return unknown.size > 0 ? null : this.#scopesOf(known);
  }

  async at(lease: Lease, caller: Caller): Promise<Scopes> {
    await this.catchUp(lease);
    return this.#current(caller);
  }

  after(place: LogPlace, caller: Caller): Scopes | Promise<Scopes> {
    return this.whenKnown(place)?.then(() => this.#current(caller)) ?? this.#current(caller);
  }

  granted(caller: Caller): Scopes {
    const { known, unknown } = this.#grantsOf(caller);
    const scopes = this.#scopesOf(known);
    if (unknown.size === 0) return scopes;
    // The same object for each call, because other scopes would mean other rights.
    const of = `${scopes.id} ${JSON.stringify([...unknown.keys()])}`;
    const found = this.#partial.get(of) ?? { ...scopes, id: `${scopes.id} of some`, unknown };
    this.#partial.set(of, found, 1);
    return found;
  }

  /** Makes the rights at least as new as the lease's snapshot. */
  async catchUp(lease: Lease): Promise<void> {
    const rows = await lease.all(this.statement);
    if (!this.isCurrent(lease.epoch, rows) && (await this.roles.catchUp(lease))) this.#options.changed?.();
    this.#reached(lease);
  }

  /** Resolves when the rights are known up to this change; null if they are. */
  whenKnown(place: LogPlace): Promise<void> | null {
    return this.#isKnownUpTo(place) ? null : this.#readUpTo(place);
  }

  pending(): Promise<boolean> | null {
    return null;
  }

  async allows(caller: Caller, cluster: string, request: RequestAttributes): Promise<boolean | null> {
    const { known, unknown } = this.#grantsOf(caller);
    if (unknown.has(cluster)) return null;
    return (known.get(cluster)?.allow(request) ?? null) !== null;
  }

  whoCan(cluster: string, request: ResourceAttributes): readonly GrantedSubject[] | null {
    const index = this.roles.indexOf(cluster);
    if (index === null) return null;
    return index
      .bindingsFor(request)
      .flatMap((binding) => binding.subjects.map((key) => ({ ...subjectOf(key), binding })));
  }

  /** Notes a commit of these changes; without an argument, of any. Call it before the subscribers learn of the commit. */
  wake(committed?: CommittedChanges): void {
    const known = this.#known;
    if (this.#closed || known === null) return;
    const kindIds = this.roles.kindIds;
    const connects = committed !== undefined && committed.epoch === known.epoch && committed.after <= known.sequence;
    if (connects && kindIds.size === rbacKeys.length && !committed.kindIds.some((id) => kindIds.has(id))) {
      this.#known = { epoch: known.epoch, sequence: Math.max(known.sequence, committed.revision) };
    } else {
      void this.refresh().catch(() => {});
    }
  }

  /** Reads the rights of a snapshot that begins after this call. @throws what the reader throws. */
  refresh(): Promise<void> {
    this.#waiting ??= (this.#running ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        this.#running = this.#waiting;
        this.#waiting = null;
        return this.#read();
      });
    return this.#waiting;
  }

  close(): void {
    this.#closed = true;
  }

  async #read(): Promise<void> {
    try {
      await this.#options.reader.lease((lease) => this.catchUp(lease), { timeoutMs: patienceMs });
    } catch (error) {
      if (!this.#closed) this.#options.log.warn({ error: messageOf(error) }, 'the rights of callers could not be read');
      throw error;
    }
  }

  #reached({ epoch, revision }: Lease): void {
    const known = this.#known;
    this.#known = { epoch, sequence: known?.epoch === epoch ? Math.max(known.sequence, revision) : revision };
  }

  #isKnownUpTo({ epoch, sequence }: LogPlace): boolean {
    return this.#known !== null && this.#known.epoch === epoch && this.#known.sequence >= sequence;
  }

  async #readUpTo(place: LogPlace): Promise<void> {
    // A second read follows the first where that one began before the change. Another epoch needs no third.
    for (let read = 0; read < 2 && !this.#isKnownUpTo(place); read += 1) await this.refresh();
  }

  /** @throws PortolanError UPSTREAM_UNAVAILABLE if the rights are known in no cluster. */
  #current(caller: Caller): Scopes {
    const { known, unknown } = this.#grantsOf(caller);
    const [first] = unknown;
    if (first !== undefined && known.size === 0) throw rightsUnknown(...first);
    return this.granted(caller);
  }

  #grantsOf({ user }: Caller): {
    readonly known: ReadonlyMap<string, Grants>;
    readonly unknown: ReadonlyMap<string, string>;
  } {
    const known = new Map<string, Grants>();
    const unknown = new Map<string, string>();
    for (const cluster of user === null ? [] : this.#options.clusters) {
      const index = this.roles.indexOf(cluster);
      const staleMs = this.#staleMs(cluster);
      if (index === null) unknown.set(cluster, 'its roles and bindings have not been read yet; try again in a moment');
      else if (staleMs > mostStaleMs) {
        unknown.set(
          cluster,
          `its API server has not confirmed the roles and bindings for ${Math.round(staleMs / 1000)} s`,
        );
      } else if (user !== null) known.set(cluster, index.grantsOf(user));
    }
    return { known, unknown };
  }

  /** The store says since when its roles may lag behind. A store that cannot be written says nothing new, but ingest does. */
  #staleMs(cluster: string): number {
    const { clock, staleSince } = this.#options;
    const now = clock.now();
    return now - Math.min(this.roles.staleSince(cluster) ?? now, staleSince?.(cluster) ?? now);
  }

  #scopesOf(grants: ReadonlyMap<string, Grants>): Scopes {
    if (grants.size === 0) return noScopes;
    const key = JSON.stringify([...grants].map(([cluster, { id }]) => [cluster, id]));
    const found = this.#scopes.get(key) ?? grantedScopes(grants, grants.size === this.#options.served);
    this.#scopes.set(key, found, 1);
    return found;
  }
}
