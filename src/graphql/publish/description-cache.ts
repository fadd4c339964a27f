/**
 * The descriptions of all resources as objects, and the order in which their kinds came. Only changed descriptions are read from the store.
 *
 * Invariant: a description whose text did not change is the same object as before, so that the catalog keeps its kind.
 */
import { codeOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { runSliced, type SliceOptions, type Steps } from '../../base/steps.ts';
import type { NamedKind } from '../../catalog/names/kind-names.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import {
  type DescriptionRow,
  type KindThatCame,
  readCatalogVersion,
  readDescriptionRows,
  readDescriptionTexts,
  readKindsThatCame,
} from '../../store/read/catalog-rows.ts';
import type { Lease, Reader } from '../../store/types/lease.ts';

/** Milliseconds that reading may take. The first read is many megabytes. */
const leaseMs = 30_000;

interface StoredCatalog {
  readonly described: readonly DescribedResource[];
  /** All kinds in the order in which they came, also kinds that are gone. */
  readonly came: readonly NamedKind[];
}

interface Texts {
  /** The store's epoch and the version of its catalog. */
  readonly version: string;
  readonly rows: readonly DescriptionRow[];
  /** Unparsed texts by row id. */
  readonly texts: ReadonlyMap<number, string>;
  readonly came: readonly KindThatCame[];
}

/** The catalog of one cell. */
interface CellCatalog extends Omit<Texts, 'texts'> {
  readonly described: readonly DescribedResource[];
}

const nothing: CellCatalog = { version: '', rows: [], came: [], described: [] };

export class DescriptionCache {
  /** By the digest of the text. */
  #known = new Map<string, DescribedResource>();
  /** By cell. */
  #cells: readonly CellCatalog[] = [];
  #catalog: StoredCatalog = { described: [], came: [] };

  /**
   * The same object as before when nothing changed.
   * @param readers one for each cell. Of several, one without a store has nothing yet.
   */
  async read(readers: readonly Reader[], slices: SliceOptions): Promise<StoredCatalog> {
    const found = await Promise.all(
      readers.map(async (reader, index) => {
        const known = this.#cells[index] ?? nothing;
        try {
          return await reader.lease((lease) => this.#texts(lease, known.version), { timeoutMs: leaseMs });
        } catch (error) {
          if (readers.length === 1 || codeOf(error) !== 'CACHE_NOT_READY') throw error;
          return null;
        }
      }),
    );
    if (found.every((each) => each === null)) return this.#catalog;
    const cells: CellCatalog[] = [];
    for (const [index, each] of found.entries()) {
      const described = each === null ? null : await runSliced(this.#parse(each), slices);
      const before = this.#cells[index] ?? nothing;
      cells.push(each === null || described === null ? before : { ...each, described });
    }
    this.#cells = cells;
    this.#catalog = merged(cells);
    this.#known = new Map(
      cells.flatMap(({ rows }) =>
        rows.map(({ digest }) => [digest, must(this.#known.get(digest), 'it was parsed')] as const),
      ),
    );
    return this.#catalog;
  }

  /** Null when the catalog has not changed since this version. */
  async #texts(lease: Lease, before: string): Promise<Texts | null> {
    const version = `${lease.epoch} ${await readCatalogVersion(lease)}`;
    if (version === before) return null;
    const rows = await readDescriptionRows(lease);
    const unknown = rows.filter(({ digest }) => !this.#known.has(digest));
    const came = await readKindsThatCame(lease);
    return { version, rows, texts: await readDescriptionTexts(lease, unknown), came };
  }

  *#parse({ rows, texts }: Texts): Steps<readonly DescribedResource[]> {
    const described: DescribedResource[] = [];
    for (const { id, digest } of rows) {
      const text = texts.get(id);
      if (text !== undefined) {
        yield;
        this.#known.set(digest, JSON.parse(text) as DescribedResource);
      }
      described.push(must(this.#known.get(digest), 'a description is cached or was read'));
    }
    return described;
  }
}

/** As one store has it: descriptions by cluster and key, and each kind at the place at which it came first. */
function merged(cells: readonly CellCatalog[]): StoredCatalog {
  const rows = cells.flatMap(({ rows: own, described }) =>
    own.map((row, index) => ({ row, described: must(described[index], 'each description is parsed') })),
  );
  const came = cells.flatMap((cell) => cell.came);
  if (cells.length > 1) {
    // The rows of a cluster are in one cell, in their order.
    rows.sort(({ row: { cluster: a } }, { row: { cluster: b } }) => (a === b ? 0 : a < b ? -1 : 1));
    came.sort((a, b) => a.place - b.place);
  }
  const kinds = new Map<string, NamedKind>();
  for (const { kind } of came) {
    const text = JSON.stringify(kind);
    if (!kinds.has(text)) kinds.set(text, kind);
  }
  return { described: rows.map(({ described }) => described), came: [...kinds.values()] };
}
