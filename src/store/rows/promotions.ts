/**
 * Which paths of a kind have a column, and why.
 *
 * Owns: the order in which paths are served, the configuration first, then what the kind declares, then what queries are seen to
 * need; and the life of the last:
 *
 *   queries use a path without a column -> it gets one (promoted-table.ts fills it) -> it is used, which is noted now and then ->
 *   another path needs a column and there is none: the path that was used longest ago gives up its own, unless it was used lately
 */
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { concerns, configuredPaths } from '../../catalog/paths/configured-paths.ts';
import type { DescribedResource, PromotionReason } from '../../catalog/resources/catalog.ts';
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

/** What is to be done about a path; `work` runs in a transaction and tells whether readers see a change, null: nothing. */
interface Begun {
  readonly outcome: PromotionOutcome;
  readonly work: (() => boolean) | null;
}

/** A kind of fewer objects is scanned fast enough. */
const fewestObjects = 1000;
/** Milliseconds between two notes of when a path was last used. */
const usedMs = 60_000;
/** Milliseconds for which a path that queries needed keeps its column against others. */
const keptMs = 3_600_000;

const precedence: readonly PromotionReason[] = ['CONFIGURED', 'SELECTABLE', 'PRINTER_COLUMN', 'QUERIES'];

export class Promotions {
  readonly #database: Database;
  readonly #log: Logger;
  /** `resource=path` of the configuration. */
  readonly #configured: readonly string[];

  constructor(database: Database, log: Logger, configured: readonly string[]) {
    this.#database = database;
    this.#log = log;
    this.#configured = configured;
  }

  /** Gives columns to what is wanted of a kind with so many objects; true when readers see a change. Inside a transaction. */
  assign(kind: PromotedKind, objects: number): boolean {
    return this.#give(kind, objects, queriedOf(kind));
  }

  /** See Writer.promote. */
  begin(kind: PromotedKind, objects: number, { path, type }: PathUse, now: number): Begun {
    if (objects < fewestObjects) return { outcome: 'few rows', work: null };
    const queried = queriedOf(kind);
    const known = kind.promoted.slots.find((slot) => slot.path.text === path && slot.type === type);
    if (known !== undefined) {
      const noted = known.reason !== 'QUERIES' || now - known.used < usedMs;
      const touched = queried.map((slot) => (slot === known ? { ...slot, used: now } : slot));
      return { outcome: 'known', work: noted ? null : () => this.#give(kind, objects, touched) };
    }
    let kept: readonly WantedPath[] = queried;
    if (!kind.promoted.hasRoom(this.#rows(kind, objects))) {
      const oldest = queried.at(-1);
      if (oldest === undefined || now - oldest.used < keptMs) return { outcome: 'no room', work: null };
      kept = queried.slice(0, -1);
    }
    const wanted: WantedPath = { path: parsePath(path), type, reason: 'QUERIES', used: now };
    return { outcome: 'promoted', work: () => this.#give(kind, objects, [wanted, ...kept]) };
  }

  #give(kind: PromotedKind, objects: number, queried: readonly WantedPath[]): boolean {
    const declared = this.#declared(kind);
    const wanted = new Map<string, WantedPath>();
    // Where nothing describes the kind any more, there is nothing to query.
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

  /** What any cluster's description of the kind promotes, and the configuration. */
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

  /** About how many rows a kind has: its objects, or many where they are only coming. */
  #rows(kind: PromotedKind, objects: number): number {
    const found = this.#database.statement('SELECT 1 FROM object WHERE kind = ? LIMIT 1').get(kind.id);
    return found === undefined ? 0 : objects || Number.MAX_SAFE_INTEGER;
  }
}

/** The paths of a kind that queries needed, the one used last first. */
function queriedOf({ promoted }: PromotedKind): readonly WantedPath[] {
  return promoted.slots.filter(({ reason }) => reason === 'QUERIES').toSorted((a, b) => b.used - a.used);
}
