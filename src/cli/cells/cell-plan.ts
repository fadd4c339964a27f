/**
 * The cells of a gateway: how many, which clusters each has, and its file.
 *
 *   --cells 3                    the clusters of the start in turn, in their order; a registered cluster by a hash of its name
 *   --cells east=0,west=1        these clusters in these cells; others as above
 *
 * The place of a cluster depends on nothing but these. So a restart finds its objects in the same file.
 */
import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Logger } from '../../base/log.ts';

interface CellPlan {
  /** By cell. */
  readonly files: readonly string[];
  /** The index of the cell of a cluster, whether it is served or not. */
  cellOf(cluster: string): number;
}

/** How many cells there are, and those of the clusters that are named. @param text the value of --cells */
export function parseCells(text: string): { readonly count: number; readonly named: ReadonlyMap<string, number> } {
  if (/^\d+$/.test(text)) return { count: Number(text), named: new Map() };
  const named = new Map(
    text.split(',').map((entry): [string, number] => {
      const at = entry.lastIndexOf('=');
      return [entry.slice(0, at), Number(entry.slice(at + 1))];
    }),
  );
  return { count: Math.max(...named.values()) + 1, named };
}

/**
 * @param text the value of --cells
 * @param clusters names of the clusters of the start, in their order
 * @param file that of the first cell
 */
export function cellPlan(text: string, clusters: readonly string[], file: string): CellPlan {
  const { count, named } = parseCells(text);
  const places = new Map(named);
  for (const [index, cluster] of clusters.filter((each) => !named.has(each)).entries()) {
    places.set(cluster, index % count);
  }
  return {
    files: Array.from({ length: count }, (_, index) => (index === 0 ? file : `${file}-cell-${index}`)),
    cellOf: (cluster) => places.get(cluster) ?? hashOf(cluster) % count,
  };
}

function hashOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0);
}

/** Removes the files of cells that there are no longer: they hold objects, and nobody would read or write them. */
export function removeOtherCells(file: string, count: number, log: Logger): void {
  const begin = `${basename(file)}-cell-`;
  const folder = dirname(file);
  for (const name of namesIn(folder)) {
    const index = name.startsWith(begin) ? /^(\d{1,2})(?:-[a-z-]+)?$/.exec(name.slice(begin.length))?.[1] : undefined;
    if (index === undefined || Number(index) < count) continue;
    rmSync(join(folder, name), { force: true });
    log.info({ file: name }, 'the file of a cell that is no longer there is removed');
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
