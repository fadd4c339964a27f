/**
 * The descriptions of all resources as objects, and the order in which their kinds came. Only changed descriptions are read from the store.
 *
 * Invariant: a description whose text did not change is the same object as before, so that the catalog keeps its kind.
 */
import { must } from '../../base/must.ts';
import { runSliced, type SliceOptions, type Steps } from '../../base/steps.ts';
import type { NamedKind } from '../../catalog/names/kind-names.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import {
  type DescriptionRow,
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
  readonly came: readonly NamedKind[];
}

export class DescriptionCache {
  /** By the digest of the text. */
  #known = new Map<string, DescribedResource>();
  #version = '';
  #catalog: StoredCatalog = { described: [], came: [] };

  /** The same object as before when nothing changed. */
  async read(reader: Reader, slices: SliceOptions): Promise<StoredCatalog> {
    const found = await reader.lease((lease) => this.#texts(lease), { timeoutMs: leaseMs });
    if (found !== null) {
      this.#catalog = { described: await runSliced(this.#parse(found), slices), came: found.came };
      this.#known = new Map(found.rows.map(({ digest }) => [digest, must(this.#known.get(digest), 'it was parsed')]));
      this.#version = found.version;
    }
    return this.#catalog;
  }

  /** Null when the catalog has not changed since the last read. */
  async #texts(lease: Lease): Promise<Texts | null> {
    const version = `${lease.epoch} ${await readCatalogVersion(lease)}`;
    if (version === this.#version) return null;
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
