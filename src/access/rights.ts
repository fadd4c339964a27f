/**
 * The rights of callers: which scopes a caller has in a snapshot of the store.
 *
 *   lease -> rights.at(lease, caller) -> Scopes -> View
 *
 * Roles and bindings are objects of the store, so a change of rights has a place in the change log like every other change. Invariant:
 * the scopes of a read are those of its snapshot or newer, never older.
 */
import type { Lease } from '../store/types/lease.ts';
import type { Row, Statement } from '../store/types/statement.ts';
import type { Caller } from './caller.ts';
import type { RequestAttributes, ResourceAttributes } from './policy-rule.ts';
import type { BindingObject, Subject } from './rbac-objects.ts';
import { type Scopes, scopesOfCells, unrestricted } from './scope.ts';

/** A place in the change log: the epoch of the store file and a sequence number. */
export interface LogPlace {
  readonly epoch: string;
  readonly sequence: number;
}

/** A subject of a binding that allows something. */
export interface GrantedSubject extends Subject {
  readonly binding: BindingObject;
}

export interface Rights {
  /** The scopes by the newest rights that are known; null when the rights must be read first. Check `isCurrent` in the snapshot. */
  now(caller: Caller): Scopes | null;
  /** The scopes in the lease's snapshot. @throws PortolanError UPSTREAM_UNAVAILABLE while the rights are not known. */
  at(lease: Lease, caller: Caller): Promise<Scopes>;
  /** The scopes after this change. Synchronous if the rights are known up to it. @throws as `at`. */
  after(place: LogPlace, caller: Caller): Scopes | Promise<Scopes>;
  /** Reads how new the rights of a snapshot are; null if rights never change. */
  readonly statement: Statement | null;
  /** Are the known rights at least as new as the snapshot in which `statement` gave these rows? */
  isCurrent(epoch: string, rows: readonly Row[]): boolean;
  /**
   * Waits for the decisions of the API server that reads in these scopes have requested. Null if there are none. True if the caller
   * has other scopes then: the reads must be repeated.
   */
  pending(caller: Caller, scopes: Scopes): Promise<boolean> | null;
  /** May the caller do this in the cluster? Null if it is not known. */
  allows(caller: Caller, cluster: string, request: RequestAttributes): Promise<boolean | null>;
  /** Who is allowed this by the roles of a cluster; null if they are not known. */
  whoCan(cluster: string, request: ResourceAttributes): readonly GrantedSubject[] | null;
}

/** The rights of one caller; the members are those of `Rights`. */
export interface CallerRights {
  at(lease: Lease): Promise<Scopes>;
  after(place: LogPlace): Scopes | Promise<Scopes>;
}

export function rightsOf(rights: Rights, caller: Caller): CallerRights {
  return { at: (lease) => rights.at(lease, caller), after: (place) => rights.after(place, caller) };
}

/**
 * The rights in all cells. The scopes of reads are those of a cell, so only the rights of the cells have them.
 * @param cellOf the rights of the cell that has the cluster
 */
export function rightsOfCells(cells: readonly Rights[], cellOf: (cluster: string) => Rights): Rights {
  const ofOneCell = (): never => {
    throw new Error('invariant broken: the rights of a cell know its scopes');
  };
  return {
    now: (caller) => scopesOfCells(cells.map((rights) => rights.now(caller))),
    at: ofOneCell,
    after: ofOneCell,
    statement: null,
    isCurrent: ofOneCell,
    pending: ofOneCell,
    allows: (caller, cluster, request) => cellOf(cluster).allows(caller, cluster, request),
    whoCan: (cluster, request) => cellOf(cluster).whoCan(cluster, request),
  };
}

/** Rights that never change. */
export function fixedRights(scopesOf: (caller: Caller) => Scopes): Rights {
  return {
    now: scopesOf,
    at: async (_lease, caller) => scopesOf(caller),
    after: (_place, caller) => scopesOf(caller),
    statement: null,
    isCurrent: () => true,
    pending: () => null,
    allows: async () => null,
    whoCan: () => null,
  };
}

/** Every caller sees every row. */
export const seesEverything: Rights = fixedRights(() => unrestricted);
