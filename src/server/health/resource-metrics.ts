/**
 * Metrics of ingest: a series for each resource of each cluster, or one for each cluster. Each scrape sets them again from one snapshot.
 *
 * Owns: which series there are, and their number. A hundred clusters with a hundred kinds would have more than 50,000 series by resource.
 * So above ten clusters there are series by cluster.
 *
 *   by resource   portolan_resource_objects{cluster="east", resource="pods"} 210
 *                 portolan_resource_phase{cluster="east", resource="pods", phase="WATCHING"} 1
 *   by cluster    portolan_resource_objects{cluster="east"} 9342
 *                 portolan_resource_phase{cluster="east", phase="WATCHING"} 51
 *
 * The value of a cluster is the sum over its resources. Ages are no sums. A cluster is as stale as its stalest resource. Its last event
 * and last sign are the newest of all its resources. So an alert such as `portolan_resource_stale_seconds > 300` has the same
 * meaning in both forms.
 *
 * Invariants:
 * - All metrics here have at most `mostSeries` series. Resources (or clusters) that do not fit are left out with all their series. The
 *   first to be left out are resources that work normally. The caller gets the number of series that were left out.
 * - The counter of a cluster never falls. Prometheus takes a fall for a restart of the process, and would count all restarts again. So a
 *   removed resource leaves its count in the sum of its cluster.
 */
import type { IngestStatus, ResourceProgress } from '../../store/types/progress.ts';
import { counter, gauge, type Metric, type Sample } from './metric.ts';
import type { Failing } from './readiness.ts';

export type MetricsBy = 'resource' | 'cluster';

/** More clusters than these are measured by cluster, unless an option says otherwise. */
const mostClustersByResource = 10;

/** The bound of all series here. A gateway has at most 10,000 series of its own; the other metrics have fewer than 1,000. */
export const mostSeries = 9000;

/** The part of it for what fails. */
const mostFailing = 1000;

type Labels = { readonly cluster: string } | { readonly cluster: string; readonly resource: string };

type Counts = ReadonlyMap<string, number>;

/** A resource, or all resources of a cluster. */
interface Measured {
  readonly labels: Labels;
  readonly phases: Counts;
  readonly objects: number;
  readonly synced: number;
  /** Seconds; null where there was no event, sign or list yet. */
  readonly eventAge: number | null;
  readonly signAge: number | null;
  readonly stale: number | null;
  readonly restarts: Counts;
}

/** The part of a scrape's facts that the metrics here are read from; undefined where it could not be read. */
export interface ResourceFacts {
  readonly resources: readonly Measured[] | undefined;
  readonly failing: readonly Sample[] | undefined;
}

const ofResource = ['cluster', 'resource'] as const;

/** A gauge of the resources that have this value. */
function each(name: string, help: string, value: (of: Measured) => number | null): Metric<ResourceFacts> {
  const read = ({ resources }: ResourceFacts) =>
    resources?.flatMap((one): readonly Sample[] => {
      const found = value(one);
      return found === null ? [] : [[one.labels, found]];
    });
  return gauge(`resource_${name}`, help, read, ofResource);
}

/** Reads numbers that each resource has by another label. */
function eachBy(label: string, counts: (of: Measured) => Counts) {
  return ({ resources }: ResourceFacts) =>
    resources?.flatMap((one) =>
      [...counts(one)].map(([name, count]): Sample => [{ ...one.labels, [label]: name }, count]),
    );
}

export const resourceMetrics: readonly Metric<ResourceFacts>[] = [
  gauge(
    'failing',
    '1 for each resource that fails; resource is "everything" where it is the whole cluster.',
    ({ failing }) => failing,
    ofResource,
  ),
  gauge(
    'resource_phase',
    '1 for the phase that a resource is in; other phases have no series.',
    eachBy('phase', ({ phases }) => phases),
    [...ofResource, 'phase'],
  ),
  each('objects', 'Objects in the tables.', ({ objects }) => objects),
  each('synced', '1 when the resource has been listed completely once.', ({ synced }) => synced),
  each(
    'last_event_age_seconds',
    'Time since the last event of a watch was applied; no series before the first.',
    ({ eventAge }) => eventAge,
  ),
  each(
    'last_sign_age_seconds',
    'Time since the last event, bookmark, complete list or opening of a watch; no series before the first.',
    ({ signAge }) => signAge,
  ),
  each(
    'stale_seconds',
    'Time for which the stored objects may be outdated; 0 while a watch is open and not silent, no series before the first complete list.',
    ({ stale }) => stale,
  ),
  counter(
    'resource_restarts_total',
    'Lists and watches that had to begin again, by reason.',
    eachBy('reason', ({ restarts }) => restarts),
    [...ofResource, 'reason'],
  ),
];

/** Chooses the series of each scrape. */
export class ResourceSeries {
  readonly #given: MetricsBy | 'auto';
  readonly #clusterRestarts = new RestartSums();
  #by: MetricsBy;

  constructor(by: MetricsBy | 'auto') {
    this.#given = by;
    this.#by = by === 'cluster' ? 'cluster' : 'resource';
  }

  /** The failing resources (or clusters), and the number of series that do not fit. */
  ofFailing(failing: readonly Failing[]): { readonly shown: readonly Sample[]; readonly leftOut: number } {
    const sums = new Map<string, [Labels, number]>();
    for (const { cluster, resource } of failing) {
      const labels = this.#by === 'cluster' ? { cluster } : { cluster, resource };
      const key = JSON.stringify(labels);
      sums.set(key, [labels, (sums.get(key)?.[1] ?? 0) + 1]);
    }
    return { shown: [...sums.values()].slice(0, mostFailing), leftOut: Math.max(0, sums.size - mostFailing) };
  }

  /**
   * The resources (or clusters) that fit, and the number of series that do not. `now` in milliseconds since the epoch. Null when the
   * store could not be read: an outdated value would mislead, so there are none.
   */
  ofResources(
    resources: readonly ResourceProgress[] | null,
    now: number,
  ): { readonly shown: readonly Measured[]; readonly leftOut: number } {
    if (resources === null) return { shown: [], leftOut: 0 };
    const byCluster = Map.groupBy(resources, ({ cluster }) => cluster);
    if (this.#given === 'auto') this.#by = byCluster.size > mostClustersByResource ? 'cluster' : 'resource';
    const restarts = this.#by === 'cluster' ? this.#clusterRestarts.take(byCluster) : new Map();
    const measured =
      this.#by === 'resource'
        ? resources.map((each) => measure({ cluster: each.cluster, resource: each.key }, [each], now))
        : [...byCluster].map(([cluster, of]) => ({
            ...measure({ cluster }, of, now),
            restarts: restarts.get(cluster) ?? new Map(),
          }));
    const shown: Measured[] = [];
    let room = mostSeries - mostFailing;
    let leftOut = 0;
    for (const each of [...measured.filter(needsAttention), ...measured.filter((one) => !needsAttention(one))]) {
      const series = seriesOf(each);
      if (series > room) leftOut += series;
      else {
        room -= series;
        shown.push(each);
      }
    }
    return { shown, leftOut };
  }
}

function measure(labels: Labels, resources: readonly ResourceProgress[], now: number): Measured {
  const phases = new Map<string, number>();
  const restarts = new Map<string, number>();
  for (const { status } of resources) {
    phases.set(status.phase, (phases.get(status.phase) ?? 0) + 1);
    for (const [reason, count] of Object.entries(status.restarts)) {
      restarts.set(reason, (restarts.get(reason) ?? 0) + count);
    }
  }
  const ages = (of: (status: IngestStatus) => number | null): readonly number[] =>
    resources.flatMap(({ status }) => {
      const since = of(status);
      return since === null ? [] : Math.max(0, now - since) / 1000;
    });
  // An open watch is not stale, but a resource that was never listed is neither stale nor fresh.
  const stale = ages(({ staleSince, lastSignAt }) => staleSince ?? (lastSignAt === null ? null : now));
  return {
    labels,
    phases,
    objects: resources.reduce((sum, { objects }) => sum + objects, 0),
    synced: resources.filter(({ synced }) => synced).length,
    eventAge: least(ages(({ lastEventAt }) => lastEventAt)),
    signAge: least(ages(({ lastSignAt }) => lastSignAt)),
    stale: stale.length === 0 ? null : stale.reduce((a, b) => Math.max(a, b)),
    restarts,
  };
}

function least(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => Math.min(a, b));
}

function seriesOf({ phases, eventAge, signAge, stale, restarts }: Measured): number {
  return phases.size + 2 + [eventAge, signAge, stale].filter((each) => each !== null).length + restarts.size;
}

function needsAttention({ phases, stale }: Measured): boolean {
  return (stale ?? 0) > 0 || [...phases.keys()].some((phase) => phase !== 'WATCHING' && phase !== 'POLLING');
}

/** The restarts of each cluster since this began, by reason. They grow by what a resource counted since the last look. */
class RestartSums {
  #seen = new Map<string, number>();
  #sums = new Map<string, Map<string, number>>();

  /** A cluster that is gone is forgotten. */
  take(byCluster: ReadonlyMap<string, readonly ResourceProgress[]>): ReadonlyMap<string, Counts> {
    const seen = new Map<string, number>();
    const sums = new Map<string, Map<string, number>>();
    for (const [cluster, resources] of byCluster) {
      const own = this.#sums.get(cluster) ?? new Map<string, number>();
      sums.set(cluster, own);
      for (const { key, status } of resources) {
        for (const [reason, count] of Object.entries(status.restarts)) {
          const name = JSON.stringify([cluster, key, reason]);
          const before = this.#seen.get(name) ?? 0;
          // A smaller count began again: the resource was removed and added meanwhile.
          own.set(reason, (own.get(reason) ?? 0) + (count < before ? count : count - before));
          seen.set(name, count);
        }
      }
    }
    this.#seen = seen;
    this.#sums = sums;
    return sums;
  }
}
