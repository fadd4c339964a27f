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
import type { Config } from '../../config/options.ts';

interface CellPlan {
  /** By cell. */
  readonly files: readonly string[];
  /** The index of the cell of a cluster, whether it is served or not. */
  cellOf(cluster: string): number;
}

/**
 * @param clusters names of the clusters of the start, in their order
 * @param file that of the first cell
 */
export function cellPlan({ count, named }: Config['cells'], clusters: readonly string[], file: string): CellPlan {
  const places = new Map(Object.entries(named));
  for (const [index, cluster] of clusters.filter((each) => !places.has(each)).entries()) {
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
