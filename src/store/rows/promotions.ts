/**
 * Decides which paths of a kind have a column.
 *
 * Owns the precedence of paths: configured, selectable, printer columns, queries. Owns also the life of a path of queries:
 *
 *   1. A query uses a path without a column, and the path gets one (promoted-table.ts).
 *   2. The time of its last use is saved, at most once in `usedMs`.
 *   3. Another path needs a column and none is free: the least recently used path loses its column, unless it was used in `keptMs`.
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { DescribedResource, PromotionReason } from '../../catalog/resources/catalog.ts';
import { concerns, configuredPaths } from '../../catalog/resources/configured-paths.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { Database } from '../sqlite/database.ts';
import type { PathUse, PromotionOutcome } from '../types/kind-layout.ts';
import type { PromotedTable, WantedPath } from './promoted-table.ts';

interface PromotedKind {
  readonly id: number;
  readonly group: string;
  readonly plural: string;
  readonly key: string;
  readonly promoted: PromotedTable;
}

/** A decision about a path. `work` must run in a transaction, and returns true if readers must read the layout again; null for no work. */
interface Begun {
  readonly outcome: PromotionOutcome;
  readonly work: (() => boolean) | null;
}

/** A kind with fewer objects needs no columns, because scanning it is fast enough. */
const fewestObjects = 1000;
/** Least milliseconds between two saves of the time when a path was last used. */
const usedMs = 60_000;
/** Milliseconds after its last use for which a path of queries cannot lose its column to another path. */
const keptMs = 3_600_000;

const precedence: readonly PromotionReason[] = ['CONFIGURED', 'SELECTABLE', 'PRINTER_COLUMN', 'QUERIES'];

export class Promotions {
  readonly #database: Database;
  readonly #log: Logger;
  /** `resource=path` entries of the configuration. */
  readonly #configured: readonly string[];

  constructor(database: Database, log: Logger, configured: readonly string[]) {
    this.#database = database;
    this.#log = log;
    this.#configured = configured;
  }

  /** Assigns the columns of a kind. True if readers must read the layout again. Inside a transaction. */
  assign(kind: PromotedKind, objects: number): boolean {
    return this.#assignColumns(kind, objects, queriedOf(kind));
  }

  /** See Writer.promote. */
  begin(kind: PromotedKind, objects: number, { path, type }: PathUse, now: number): Begun {
    if (objects < fewestObjects) return { outcome: 'few rows', work: null };
    const queried = queriedOf(kind);
    const known = kind.promoted.slots.find((slot) => slot.path.text === path && slot.type === type);
    if (known !== undefined) {
      const noted = known.reason !== 'QUERIES' || now - known.used < usedMs;
      const touched = queried.map((slot) => (slot === known ? { ...slot, used: now } : slot));
      return { outcome: 'known', work: noted ? null : () => this.#assignColumns(kind, objects, touched) };
    }
    let kept: readonly WantedPath[] = queried;
    if (!kind.promoted.hasRoom(this.#rows(kind, objects))) {
      const oldest = queried.at(-1);
      if (oldest === undefined || now - oldest.used < keptMs) return { outcome: 'no room', work: null };
      kept = queried.slice(0, -1);
    }
    const wanted: WantedPath = { path: parsePath(path), type, reason: 'QUERIES', used: now };
    return { outcome: 'promoted', work: () => this.#assignColumns(kind, objects, [wanted, ...kept]) };
  }

  #assignColumns(kind: PromotedKind, objects: number, queried: readonly WantedPath[]): boolean {
    const declared = this.#declared(kind);
    const wanted = new Map<string, WantedPath>();
    // Queries cannot use a kind without a description.
    const all = declared.length === 0 && !this.#isDescribed(kind) ? [] : [...declared, ...queried];
    for (const each of all.toSorted((a, b) => precedence.indexOf(a.reason) - precedence.indexOf(b.reason))) {
      const text = `${each.type} ${each.path.text}`;
      if (!wanted.has(text)) wanted.set(text, each);
    }
    return kind.promoted.assign([...wanted.values()], this.#rows(kind, objects));
  }

  #isDescribed(kind: PromotedKind): boolean {
    return this.#database.statement('SELECT 1 FROM description WHERE kind = ? LIMIT 1').get(kind.id) !== undefined;
  }

  /** The paths that the configuration or a cluster's description of the kind promotes. */
  #declared(kind: PromotedKind): readonly WantedPath[] {
    const rows = this.#database
      .statement(
        `SELECT coalesce(json_extract(json, '$.promoted'), '[]'), CASE WHEN ? THEN json END FROM description
         WHERE kind = ? ORDER BY cluster`,
      )
      .all(concerns(this.#configured, kind) ? 1 : 0, kind.id);
    return rows.flatMap(([promoted, json]) => {
      const own = JSON.parse(String(promoted)) as DescribedResource['promoted'];
      const tree = typeof json === 'string' ? (JSON.parse(json) as DescribedResource).tree : null;
      const configured = tree === null ? [] : configuredPaths(this.#configured, kind, tree).promoted;
      return [
        ...configured.flatMap((each) => this.#wanted(kind, each, 'CONFIGURED')),
        ...own.flatMap((each) => this.#wanted(kind, each, each.selectable === true ? 'SELECTABLE' : 'PRINTER_COLUMN')),
      ];
    });
  }

  #wanted(
    kind: PromotedKind,
    { path, type }: Pick<PathUse, 'path' | 'type'>,
    reason: PromotionReason,
  ): readonly WantedPath[] {
    try {
      return [{ path: parsePath(path), type, reason, used: 0 }];
    } catch (error) {
      this.#log.warn({ kind: kind.key, path, error: messageOf(error) }, 'a promoted path cannot be used');
      return [];
    }
  }

  /** Approximate number of a kind's rows. For a kind with only unpublished rows, whose number is unknown, it is a large number. */
  #rows(kind: PromotedKind, objects: number): number {
    const found = this.#database.statement('SELECT 1 FROM object WHERE kind = ? LIMIT 1').get(kind.id);
    return found === undefined ? 0 : objects || Number.MAX_SAFE_INTEGER;
  }
}

/** The paths of a kind that are promoted for queries, the most recently used first. */
function queriedOf({ promoted }: PromotedKind): readonly WantedPath[] {
  return promoted.slots.filter(({ reason }) => reason === 'QUERIES').toSorted((a, b) => b.used - a.used);
}
