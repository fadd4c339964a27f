/** `clusters`: each cluster with its version and the state of its ingest. */
import type { Operation } from '../../operation/operation.ts';
import { readClusters } from '../../store/read/cluster-rows.ts';
import type { ResourceProgress } from '../../store/types/progress.ts';
import type { Builder } from '../builder/builder.ts';
import type { ClusterSource } from '../builder/resource-source.ts';
import { facts } from '../selection/field-facts.ts';
import { visibleProgress } from './visible-progress.ts';

/** Adds the type Cluster and the query `clusters`. */
export function addClusters(builder: Builder): void {
  builder.objectType('Cluster', {
    description: 'A cluster: one API server, and the state of its ingest.',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false }),
      version: t.exposeString('version', {
        description: 'The version of the API server, such as v1.37.0; null before the first answer.',
      }),
      reachable: t.boolean({
        nullable: false,
        description:
          'Could the cluster be read at the last attempt? An attempt is made about every minute, and by each watch.',
        resolve: (source) => failureOf(source) === null,
      }),
      error: t.string({ description: 'Why the cluster cannot be read.', resolve: (source) => failureOf(source) }),
      staleSince: t.field({
        type: 'DateTime',
        description:
          'Since when some objects here may lack what the server has; null while all watches are open and not silent. Resources that are polled do not count.',
        resolve: ({ resources, error }) => {
          // While the cluster cannot be read, a stored status may still say that a watch is open.
          const times = watchedIn(resources).flatMap(
            ({ status }) => status.staleSince ?? (error === null ? null : status.lastSignAt) ?? [],
          );
          return times.length === 0 ? null : new Date(Math.min(...times)).toISOString();
        },
      }),
      resources: t.int({
        nullable: false,
        description: 'The number of resources that are ingested. The query `resources` shows each.',
        resolve: ({ resources }) => resources.length,
      }),
      objects: t.int({
        nullable: false,
        description: 'The number of objects of these resources.',
        resolve: ({ resources }) => resources.reduce((sum, { objects }) => sum + objects, 0),
      }),
    }),
  });

  builder.queryField('clusters', (t) =>
    t.field({
      type: ['Cluster'],
      nullable: { list: true, items: false },
      description: 'The clusters, sorted by name.',
      extensions: facts({ cost: { own: 100 } }),
      resolve: (_root, _args, { portolan }) => clustersOf(portolan),
    }),
  );
}

async function clustersOf(operation: Operation): Promise<ClusterSource[]> {
  operation.noteMore();
  return operation.readCells(async (cells) => {
    const found = await Promise.all(
      cells.map(async ({ operation: cell, lease, view }) => {
        const byCluster = Map.groupBy(await visibleProgress(cell, lease, view), ({ cluster }) => cluster);
        return (await readClusters(lease)).map((row) => ({ ...row, resources: byCluster.get(row.name) ?? [] }));
      }),
    );
    return found.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  });
}

/** The resources that are neither polled nor refused. */
function watchedIn(resources: readonly ResourceProgress[]): readonly ResourceProgress[] {
  return resources.filter(({ status }) => status.phase !== 'POLLING' && status.phase !== 'PARKED');
}

/** Why the cluster cannot be read. When each watch has failed, the next attempt to read the whole cluster may be a minute away. */
function failureOf({ error, resources }: ClusterSource): string | null {
  if (error !== null) return error;
  const watched = watchedIn(resources);
  const failed = watched.every(({ status }) => status.phase === 'BACKOFF');
  return failed ? (watched[0]?.status.error ?? null) : null;
}
