/**
 * Progress of the first sync: one rewritten line on a terminal, a log entry every `interval` elsewhere. At the end it reports the
 * resources that are not synced. Resources that the API server refuses are reported together.
 */
import type { Logger } from '../base/log.ts';
import type { Output } from '../base/output/standard-streams.ts';
import { shortList } from '../base/text/short-list.ts';
import { oneLine } from '../base/text/terminal-line.ts';
import type { FailingResource, IngestProgress } from '../ingest/context/progress.ts';

/** Milliseconds between entries when the line cannot be rewritten. */
const interval = 2000;
/** Maximum resources that one line names. */
const mostNamed = 5;

export class ProgressLine {
  readonly #output: Pick<Output, 'isTerminal' | 'rewrite'>;
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #began: number;
  #last = Number.NEGATIVE_INFINITY;
  #finished = false;
  #progress: IngestProgress | null = null;

  constructor(output: Pick<Output, 'isTerminal' | 'rewrite'>, log: Logger, clock: () => number) {
    this.#output = output;
    this.#log = log;
    this.#clock = clock;
    this.#began = clock();
  }

  show(progress: IngestProgress): void {
    if (this.#finished) return;
    this.#progress = progress;
    const now = this.#clock();
    if (this.#output.isTerminal) {
      this.#output.rewrite(`${summary(progress)}, ${this.#seconds()} s`);
    } else if (now - this.#last >= interval) {
      this.#last = now;
      this.#log.info(this.#facts(progress), 'the first sync is running');
    }
  }

  /** Writes the totals, and the resources that are not synced. */
  finish(): void {
    const progress = this.#progress;
    if (this.#finished || progress === null) return;
    this.#finished = true;
    if (this.#output.isTerminal) this.#output.rewrite(this.#report(progress));
    else this.#logReport(progress);
  }

  #report(progress: IngestProgress): string {
    const { failing } = progress;
    if (servesNothing(progress)) return `${nothingServed}\n`;
    const others = failing.filter(({ refusal }) => refusal === undefined);
    const lines = [
      oneLine(`Synced: ${summary(progress, refusalsIn)}, ${this.#seconds()} s`),
      ...(others.length < failing.length ? [`  ${advice}`] : []),
      ...others.map(
        ({ cluster, resource, error }) => `  not synced: ${oneLine(`${resource} of ${cluster}: ${error}`)}`,
      ),
    ];
    return lines.map((line) => `${line}\n`).join('');
  }

  #logReport(progress: IngestProgress): void {
    if (servesNothing(progress)) {
      this.#log.warn({}, nothingServed);
      return;
    }
    for (const { status, cluster, resources } of refusalsOf(progress.failing)) {
      this.#log.info({ cluster, status, resources }, `the API server refuses resources. ${advice}`);
    }
    this.#log.info(this.#facts(progress), 'the first sync is complete');
  }

  #facts({ resourcesSynced, resourcesTotal, objects, failing }: IngestProgress): object {
    return {
      synced: resourcesSynced,
      resources: resourcesTotal,
      failing: failing.length,
      objects,
      seconds: Number(this.#seconds()),
    };
  }

  #seconds(): string {
    return ((this.#clock() - this.#began) / 1000).toFixed(1);
  }
}

const nothingServed = 'Nothing is served: no resource matches --kinds and --exclude.';
const advice = 'Grant Portolan list and watch on the refused resources, or leave them out with --exclude.';

function servesNothing({ resourcesTotal, failing }: IngestProgress): boolean {
  return resourcesTotal === 0 && failing.length === 0;
}

/** `22 of 51 resources, 29 refused (403): secrets, nodes, …; 9342 objects` */
function summary(
  { resourcesSynced, resourcesTotal, objects, failing }: IngestProgress,
  refusals: (failing: readonly FailingResource[]) => readonly string[] = countedRefusals,
): string {
  const others = failing.filter(({ refusal }) => refusal === undefined).length;
  const parts = [
    `${resourcesSynced} of ${resourcesTotal} resources`,
    ...(others === 0 ? [] : [`${others} failing`]),
    ...refusals(failing),
  ];
  return `${parts.join(', ')}; ${objects} objects`;
}

function countedRefusals(failing: readonly FailingResource[]): readonly string[] {
  const refused = failing.filter(({ refusal }) => refusal !== undefined).length;
  return refused === 0 ? [] : [`${refused} refused`];
}

/** `29 refused (403): secrets, nodes, …`, one text for each cluster and HTTP status. */
function refusalsIn(failing: readonly FailingResource[]): readonly string[] {
  const groups = refusalsOf(failing);
  const several = new Set(groups.map(({ cluster }) => cluster)).size > 1;
  return groups.map(({ cluster, status, resources }) => {
    const named = shortList(resources, mostNamed).join(', ');
    return `${resources.length} refused (${status})${several ? ` by ${cluster}` : ''}: ${named}`;
  });
}

interface Refusals {
  readonly cluster: string;
  /** HTTP status. */
  readonly status: number;
  readonly resources: readonly string[];
}

function refusalsOf(failing: readonly FailingResource[]): readonly Refusals[] {
  const groups = Map.groupBy(
    failing.flatMap(({ cluster, resource, refusal }) =>
      refusal === undefined ? [] : { cluster, resource, status: refusal },
    ),
    ({ cluster, status }) => `${cluster} ${status}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return { cluster: first.cluster, status: first.status, resources: group.map(({ resource }) => resource) };
  });
}
