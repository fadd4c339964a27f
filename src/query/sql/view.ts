/**
 * The View of one operation: for each kind, its tables together with the rows that the caller may see.
 *
 *   lease -> readView(lease, scopes) -> view.get('pods') -> KindView -> KindTables -> SQL with `counts()`
 *
 * Every function that lists, counts or aggregates objects takes a View or a KindView, and only a View makes a KindView. So these functions
 * cannot be called without the caller's scope. Three functions that read objects take only a lease. `objectsById` and
 * `objectsAsOf` take ids of objects that one of these functions found. `readChanges` reads the changes of a kind, and src/live/log/fold.ts
 * removes changes that the caller may not see. The reads of src/query/history take sequence numbers that one of these functions found.
 *
 * `dependencies` records the kinds that the operation requested, and `*` for a read that may find rows of any kind. The answer changes
 * only when one of these kinds changes.
 */
import { type Access, noRows, type Scope, type Scopes, scopeText, unrestricted } from '../../access/scope.ts';
import { isAbstractKey } from '../../catalog/groups/api-group.ts';
import { type Layouts, readLayouts } from '../../store/read/layout.ts';
import type { KindLayout, PromotedSlot, RelationPlace } from '../../store/types/kind-layout.ts';
import type { Lease } from '../../store/types/lease.ts';
import { anyKind, type Hop } from '../plan/hop.ts';
import { compareKinds } from '../plan/identity-order.ts';

/** The tables of one kind together with the scope that says which rows are visible. */
export class KindView implements KindLayout {
  /** resourceKey */
  readonly key: string;
  readonly kindId: number;
  readonly named: string;
  readonly promotedTable: string | null;
  readonly slots: readonly PromotedSlot[];
  readonly places: readonly RelationPlace[];
  /** The view that made it. */
  readonly view: View;
  /** These are the objects of any kind: what is done with them. Null for one kind. */
  readonly anyAs: Access | null;
  /** Private, so that the type is nominal: an object with the same members is not a KindView. */
  readonly #visible: Scope;

  constructor(
    view: View,
    key: string,
    { kindId, named, promotedTable, slots, places }: KindLayout,
    visible: Scope,
    anyAs: Access | null = null,
  ) {
    this.anyAs = anyAs;
    this.named = named;
    this.view = view;
    this.places = places;
    this.key = key;
    this.kindId = kindId;
    this.promotedTable = promotedTable;
    this.slots = slots;
    this.#visible = visible;
  }

  /** The rows that the caller may see. */
  get visible(): Scope {
    return this.#visible;
  }

  /** Is every row of the kind visible? Then the store's numbers for the whole kind hold for the caller. */
  get isWhole(): boolean {
    return this.#visible.rows === 'all';
  }
}

const none: ReadonlyMap<string, string> = new Map();

/** Kinds with equal scopes. */
interface ScopeGroup {
  readonly scope: Scope;
  readonly kindIds: readonly bigint[];
}

export class View {
  readonly #layouts: Layouts;
  readonly #scopes: Scopes;
  /** By resourceKey: one for each scope. */
  readonly #kinds = new Map<string, KindView[]>();
  readonly #dependencies: Set<string>;
  readonly #groups = new Map<Access, readonly ScopeGroup[]>();
  readonly #ofAny = new Map<Access, KindView>();
  #kindIds: string | null = null;
  #seesAll: boolean | null = null;

  /** @param dependencies collects the resourceKeys of the requested kinds, and `anyKind`. */
  constructor(layouts: Layouts, scopes: Scopes, dependencies: Set<string> = new Set()) {
    this.#layouts = layouts;
    this.#scopes = scopes;
    this.#dependencies = dependencies;
  }

  /** The id of the caller's scopes. Counts and routes are shared between views of the same id. */
  get scopesId(): string {
    return this.#scopes.id;
  }

  /** Clusters whose rows are hidden because the caller's rights there are not known, each with the reason. */
  get unknownRights(): ReadonlyMap<string, string> {
    return this.#scopes.unknown ?? none;
  }

  /**
   * The kind of this resourceKey; undefined while the store has no tables for it.
   * @param access what is done with the rows; default `list`.
   */
  get(key: string, access: Access = 'list'): KindView | undefined {
    this.#dependencies.add(key);
    const layout = this.#layouts.get(key);
    if (layout === undefined) return undefined;
    const visible = this.#scopes.of(key, access);
    const known = this.#kinds.get(key) ?? [];
    const found = known.find((kind) => kind.visible === visible) ?? new KindView(this, key, layout, visible);
    if (!known.includes(found)) this.#kinds.set(key, [...known, found]);
    return found;
  }

  /** The rows of a kind that the caller may see, also of a kind that the store does not have. Records no dependency. */
  scopeOf(key: string, access: Access): Scope {
    return this.#scopes.of(key, access);
  }

  /** Notes rows that the operation names: the rights to them may not be known yet. @param clusters null for all */
  want(
    key: string,
    access: Access,
    clusters: readonly string[] | null,
    rows: { namespace: string; name: string },
  ): void {
    this.#scopes.want?.(key, access, clusters, rows);
  }

  /** The kind that a hop leads to, with the objects that its relation shows. */
  end({ to, many }: Pick<Hop, 'to' | 'many'>): KindView | undefined {
    const access = many ? 'list' : 'get';
    return to.key === anyKind ? this.#anyAs(access) : this.get(to.key, access);
  }

  /** The objects of any kind, from the table `object` alone. Records that rows of any kind may be found. */
  #anyAs(access: Access): KindView {
    this.dependOnAnyKind();
    const known = this.#ofAny.get(access);
    if (known !== undefined) return known;
    const layout = { kindId: 0, named: '', promotedTable: null, slots: [], places: [] };
    const made = new KindView(this, anyKind, layout, noRows, access);
    this.#ofAny.set(access, made);
    return made;
  }

  /**
   * The ids of the kinds by textOfKind, as a JSON object. Of several resources with one Kind it is the first by key, as in the catalog.
   * Records no dependency.
   */
  get kindIds(): string {
    if (this.#kindIds !== null) return this.#kindIds;
    const sorted = [...this.#layouts].toSorted(([a], [b]) => compareKinds(b, a));
    this.#kindIds = JSON.stringify(Object.fromEntries(sorted.map(([, { named, kindId }]) => [named, kindId])));
    return this.#kindIds;
  }

  /** Records that rows of any kind may be found: the dependencies get `*`. */
  dependOnAnyKind(): void {
    this.#dependencies.add(anyKind);
  }

  /** The layouts of all kinds. Records no dependency. */
  get layouts(): Layouts {
    return this.#layouts;
  }

  /** The scopes of all kinds, each with the ids of its kinds. Null for the scopes `unrestricted`. Records no dependency. */
  scopeGroups(access: Access = 'list'): readonly ScopeGroup[] | null {
    if (this.#scopes === unrestricted) return null;
    const known = this.#groups.get(access) ?? this.#groupScopes(access);
    this.#groups.set(access, known);
    return known;
  }

  /** Does the caller see all objects that API servers have? Records no dependency. */
  get seesAll(): boolean {
    if (this.#scopes === unrestricted) return true;
    this.#seesAll ??= [...this.#layouts.keys()].every(
      (key) => isAbstractKey(key) || this.#scopes.of(key).rows === 'all',
    );
    return this.#seesAll;
  }

  #groupScopes(access: Access): readonly ScopeGroup[] {
    const texts = new Map<Scope, string>();
    const textOf = (scope: Scope): string => {
      const text = texts.get(scope) ?? scopeText(scope);
      texts.set(scope, text);
      return text;
    };
    const groups = Map.groupBy(
      [...this.#layouts].map(([key, { kindId }]) => ({ scope: this.#scopes.of(key, access), kindId: BigInt(kindId) })),
      ({ scope }) => textOf(scope),
    );
    return [...groups.values()].map((group) => ({
      scope: group[0]?.scope ?? noRows,
      kindIds: group.map(({ kindId }) => kindId),
    }));
  }
}

/** A snapshot of one store file, and the caller's view in it. A question over several cells has one for each. */
export interface CellView {
  readonly lease: Lease;
  readonly view: View;
}

/** Those of several cells. */
export function leasesOf(cells: readonly CellView[]): readonly Lease[] {
  return cells.map(({ lease }) => lease);
}

/** Those of several cells. */
export function viewsOf(cells: readonly CellView[]): readonly View[] {
  return cells.map(({ view }) => view);
}

/** The view of a caller in the lease's snapshot. */
export async function readView(lease: Lease, scopes: Scopes, dependencies: Set<string> = new Set()): Promise<View> {
  return new View(await readLayouts(lease), scopes, dependencies);
}
