/**
 * Runs in the ingest thread. Owns the writer's housekeeping, a supervisor for each cluster, and the messages to the parent.
 *
 *   new -> start -> messages until close -> close: the supervisors stop, then the writer saves its progress and closes
 *
 * When the store can be written again after a fault, the parked reflectors try again at once.
 *
 * Housekeeping runs in bounded steps. Each turn of the event loop posts at most one `wake`.
 */

import { availableParallelism } from 'node:os';
import type { Clock, Random } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { splitMemberCluster } from '../../catalog/abstract/abstract-kind.ts';
import { redactedOfPart } from '../../catalog/abstract/describe-abstract-kind.ts';
import { redactStored } from '../../catalog/describe/redacted-paths.ts';
import type { RelationSet } from '../../catalog/describe/relation-set.ts';
import { isAbstract } from '../../catalog/groups/api-group.ts';
import { healthRulesOf, type ReadHealthRules } from '../../catalog/health/read-health-rules.ts';
import type { ClusterOptions, Connection } from '../../kube/client/connection.ts';
import type { RegisteredCluster } from '../../kube/discovery/cluster-secret.ts';
import { type CommittedChanges, joinCommits } from '../../store/types/change.ts';
import type { PathUse } from '../../store/types/kind-layout.ts';
import type { ResourceState } from '../../store/types/progress.ts';
import type { StoreTrouble } from '../../store/types/store-fault.ts';
import type { StoreWriter } from '../../store/write/writer.ts';
import { ClusterSupervisor } from '../cluster/supervisor.ts';
import { defaultSupervisorSettings } from '../cluster/supervisor-settings.ts';
import { type AbstractKindsDocument, declaredAbstractKinds } from '../context/declared-abstract-kinds.ts';
import { declaredHealthRules } from '../context/declared-health-rules.ts';
import { declaredRelations } from '../context/declared-relations.ts';
import { type IngestProgress, sumProgress } from '../context/progress.ts';
import { defaultReflectorSettings } from '../context/reflector-context.ts';
import { isMistake, mistakeMessage, unmatchedEverywhere } from '../context/unmatched-kinds.ts';
import { AbstractKinds } from '../derive/abstract-kinds.ts';
import { KindObjects } from '../derive/kind-objects.ts';
import { ParseThread } from '../parse/parse-thread.ts';
import type { IngestMessage } from './ingest-messages.ts';
import type { IngestOptions } from './ingest-options.ts';
import { RegisteredSupervisors } from './registered-supervisors.ts';

interface IngestHostContext {
  readonly options: IngestOptions;
  readonly writer: StoreWriter;
  readonly open: (options: ClusterOptions) => Promise<Connection>;
  readonly post: (message: IngestMessage) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The stores that were lost since the process started, before this one. */
  readonly lost?: { readonly count: number; readonly last: StoreTrouble };
}

/** Milliseconds between two progress messages. */
const progressMs = 100;
/** Milliseconds without a commit after which the writer counts as idle. */
const idleMs = 30;
/** Milliseconds between two checks for housekeeping when no work is left. A busy writer runs one step per interval. */
export const housekeepingMs = 1000;
const defaultRetainMs = 10_000;
/** Milliseconds after which a mistake in --kinds no longer ends ingest. */
const startMs = 60_000;
/** Maximum milliseconds that a close waits for the supervisors and the parse thread. */
const graceMs = 500;

export class IngestHost {
  readonly #context: IngestHostContext;
  /** Those of the clusters of the start. */
  readonly #started: readonly ClusterSupervisor[];
  readonly #registered: RegisteredSupervisors;
  readonly #names = new Set<string>();
  readonly #relations: RelationSet | undefined;
  readonly #healthRules: readonly ReadHealthRules[];
  readonly #abstractKinds: AbstractKinds;
  readonly #kindObjects: KindObjects;
  /** Every cluster has told what it serves, or had the time for it. */
  #membersKnown = false;
  #awaitsRegistration: boolean;
  readonly #parser: ParseThread | null;
  readonly #stop = new AbortController();
  /** Commits of this turn that were not posted yet. */
  #unsent: CommittedChanges | null = null;
  #catalogVersion = -1;
  #catalogChanged = false;
  #progressPlanned = false;
  #sentProgress = '';
  #lastProgress: IngestProgress | null = null;
  #catalogKnownSent = false;
  #kindsChecked = false;
  #warnedKinds = '';
  #startedAt = 0;
  #wasReady = false;
  #committedAt = Number.NEGATIVE_INFINITY;
  #closing: Promise<void> | null = null;

  constructor(context: IngestHostContext) {
    this.#context = context;
    const { options, clock, log } = context;
    this.#parser = (options.parseThread ?? availableParallelism() > 1) ? new ParseThread(log, clock) : null;
    const relations = options.relations === undefined ? undefined : declaredRelations(options.relations);
    for (const problem of relations?.problems ?? []) log.error({ problem }, 'a declaration of a relation is left out');
    this.#relations = relations?.set;
    this.#healthRules = declaredHealthRules(options.healthRules ?? []);
    for (const { problems } of this.#healthRules)
      for (const problem of problems) log.error({ problem }, 'a health rule is left out');
    const deriving = { writer: context.writer, clock, log, membersKnown: () => this.#membersKnown };
    this.#abstractKinds = new AbstractKinds({ ...deriving, isRestricted: options.restrictedCallers ?? true });
    this.#kindObjects = new KindObjects({
      ...deriving,
      clusters: options.abstractKindObjects ?? [],
      declare: (kinds) => this.#abstractKinds.declare(kinds),
    });
    if (options.abstractKinds !== undefined) this.declareAbstractKinds(options.abstractKinds);
    this.#started = options.clusters.map((cluster) => this.#supervisorOf(cluster));
    this.#awaitsRegistration = options.awaitsRegistration ?? false;
    this.#registered = new RegisteredSupervisors({
      supervise: (cluster) => this.#supervisorOf(cluster),
      released: (name) => this.#names.delete(name),
      changed: () => this.#planProgress(),
      writer: context.writer,
      stop: this.#stop.signal,
      log,
    });
  }

  get #supervisors(): readonly ClusterSupervisor[] {
    return [...this.#started, ...this.#registered.all()];
  }

  #supervisorOf(cluster: ClusterOptions): ClusterSupervisor {
    const { options, writer, open, clock, random, log } = this.#context;
    return new ClusterSupervisor({
      cluster,
      selection: { include: options.include, exclude: options.exclude, required: options.required },
      namespaces: [...new Set(options.namespaces)],
      events: options.events,
      open,
      writer,
      clock,
      random,
      log,
      settings: { ...defaultSupervisorSettings, ...options.supervisor },
      reflector: { ...defaultReflectorSettings, ...options.reflector },
      parser: this.#parser ?? undefined,
      relations: this.#relations,
      healthRules: this.#healthRules,
      redact: options.redact ?? [],
      diagnosed: (described) => this.#kindObjects.diagnosed(described),
      claimName: (name) => {
        if (this.#names.has(name)) return false;
        this.#names.add(name);
        return true;
      },
      changed: () => this.#planProgress(),
    });
  }

  start(): void {
    const { writer } = this.#context;
    writer.onCommit(({ epoch, after, revision, kindIds, catalogVersion }) => {
      this.#committedAt = this.#context.clock.monotonic();
      const isChanged = this.#catalogVersion !== catalogVersion;
      if (isChanged) this.#catalogChanged = true;
      this.#abstractKinds.wake(kindIds, isChanged);
      this.#kindObjects.wake(kindIds, isChanged);
      this.#catalogVersion = catalogVersion;
      this.#planWake({ epoch, after, revision, kindIds });
      this.#planProgress();
    });
    writer.onTrouble((trouble) => {
      if (trouble === null) for (const supervisor of this.#supervisors) supervisor.probe();
      this.#planProgress();
    });
    this.#configureStored();
    this.#resetClusters();
    const { clock } = this.#context;
    this.#startedAt = clock.monotonic();
    clock.sleep(startMs, this.#stop.signal).then(
      () => {
        this.#checkKinds(this.progress());
        this.#checkMembers(this.progress());
      },
      () => {},
    );
    for (const supervisor of this.#supervisors) supervisor.start();
    void this.#runHousekeeping(this.#stop.signal);
    void this.#runAbstractKinds(this.#stop.signal);
  }

  /** The kinds that the store has are declared first: what is not declared is dropped. */
  async #runAbstractKinds(stop: AbortSignal): Promise<void> {
    await this.#kindObjects.begin();
    await Promise.all([this.#kindObjects.run(stop), this.#abstractKinds.run(stop)]);
  }

  /**
   * Removes what an earlier process has stored at the paths of --redact, and applies changed health rules, also for clusters that are not
   * reached now. The catalog must not be read before. @throws an error of the store: without it, ingest must not go on.
   */
  #configureStored(): void {
    const { options, writer } = this.#context;
    const states = writer.states();
    for (const { described, handle } of states) {
      const redacted = redactStored(described, options.redact ?? []);
      const { health: _, ...rest } = redacted;
      const health = healthRulesOf(this.#healthRules, described.resource);
      const configured = health.length === 0 ? rest : { ...rest, health };
      const isSame = redacted === described && JSON.stringify(described.health ?? []) === JSON.stringify(health);
      if (!isSame) writer.declare(configured, handle.namespace);
    }
    // Values that were derived from a path that is redacted now go too.
    for (const { described, handle } of states) {
      if (!isAbstract(described)) continue;
      const { cluster, ...part } = splitMemberCluster(handle.cluster);
      const find = (key: string): ResourceState | undefined =>
        states.find((state) => state.handle.cluster === cluster && state.handle.key === key);
      if (find(part.member) === undefined) continue;
      const redactedOf = (key: string): readonly string[] => {
        const of = find(key);
        return of === undefined ? [] : writer.state(of.handle).described.redacted;
      };
      writer.declare({ ...described, redacted: redactedOfPart(part, redactedOf) }, handle.namespace);
    }
  }

  /** The stored statuses are those of an earlier process, and of clusters that may no longer be configured. */
  #resetClusters(): void {
    const { log, writer } = this.#context;
    try {
      writer.resetClusterStatuses('The cluster has not been read since the gateway started.');
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the statuses of the clusters were not reset');
    }
  }

  progress(): IngestProgress {
    const { log, lost, writer } = this.#context;
    const clusters = this.#supervisors.map((supervisor) => supervisor.progress());
    const progress = sumProgress(clusters, writer.disk());
    const wasReady = this.#wasReady;
    // A resource or a cluster that comes later has its first sync beside the others, which are served meanwhile.
    this.#wasReady ||= progress.ready && !this.#awaitsRegistration;
    if (lost !== undefined && this.#wasReady && !wasReady) log.info({}, 'the store is whole again');
    const fault = writer.trouble() ?? (this.#wasReady ? null : (lost?.last ?? null));
    return { ...progress, ready: this.#wasReady && fault?.kind !== 'lost', fault, rebuilds: lost?.count ?? 0 };
  }

  /** The newest progress that was posted; null before the first. */
  get lastProgress(): IngestProgress | null {
    return this.#lastProgress;
  }

  /** See IngestHandle.register. Never rejects. */
  async register(clusters: readonly RegisteredCluster[] | null, started: readonly string[]): Promise<void> {
    if (clusters !== null) await this.#registered.replace(clusters, started);
    this.#awaitsRegistration = false;
    this.#planProgress();
  }

  /** Uses the abstract kinds of this document from now on. */
  declareAbstractKinds(document: AbstractKindsDocument): void {
    const { kinds, problems } = declaredAbstractKinds(document);
    for (const problem of problems) this.#context.log.error({ problem }, 'a part of an abstract kind is left out');
    this.#kindObjects.declareFile(kinds);
  }

  /** Gives a path that queries use a column. Never throws: queries also work without the column. */
  promote(use: PathUse): void {
    const { log, writer } = this.#context;
    if (this.#stop.signal.aborted) return;
    try {
      const outcome = writer.promote(use);
      if (outcome === 'promoted') log.info({ ...use }, 'the values of a path that queries need are stored');
      else log.debug({ ...use, outcome }, 'a path is used by queries');
    } catch (error) {
      log.warn({ ...use, error: messageOf(error) }, 'a path that queries need cannot get a column');
    }
  }

  /** Stops ingest and closes the store, within about a second. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { clock, log, writer } = this.#context;
    this.#stop.abort();
    const waited = new AbortController();
    await Promise.race([
      Promise.all([...this.#supervisors.map((supervisor) => supervisor.stop()), this.#parser?.close()]),
      clock.sleep(graceMs, waited.signal).then(
        () => log.warn({}, 'not all reflectors ended in time; the store is closed without them'),
        () => {},
      ),
    ]);
    waited.abort();
    writer.close();
  }

  /** Posts one `wake` for all commits of a turn. */
  #planWake(commit: CommittedChanges): void {
    if (this.#unsent !== null) {
      this.#unsent = joinCommits(this.#unsent, commit);
      return;
    }
    this.#unsent = commit;
    setImmediate(() => {
      const committed = this.#unsent;
      this.#unsent = null;
      if (committed === null || this.#stop.signal.aborted) return;
      this.#context.post({ type: 'wake', committed });
      this.#postCatalog();
    });
  }

  /** Posts a catalog change. While a cluster declares its kinds, each declaration changes the catalog; only the last is posted. */
  #postCatalog(): void {
    if (!this.#catalogChanged || this.#supervisors.some(({ declaring }) => declaring)) return;
    this.#catalogChanged = false;
    this.#context.post({ type: 'catalog' });
  }

  #planProgress(): void {
    if (this.#progressPlanned || this.#stop.signal.aborted) return;
    this.#progressPlanned = true;
    const send = (): void => {
      this.#progressPlanned = false;
      this.#postCatalog();
      this.#postProgress();
    };
    // The parent waits for the first message with a known catalog during a start, so there is no delay before it.
    this.#context.clock
      .sleep(this.#catalogKnownSent ? progressMs : 0, this.#stop.signal)
      .then(send, () => {})
      .catch((error: unknown) => {
        this.#context.log.error({ error: messageOf(error) }, 'progress could not be sent');
      });
  }

  #postProgress(): void {
    const progress = this.progress();
    this.#catalogKnownSent ||= progress.catalogKnown;
    const text = JSON.stringify(progress);
    if (text === this.#sentProgress) return;
    this.#sentProgress = text;
    this.#lastProgress = progress;
    this.#context.post({ type: 'progress', progress });
    this.#checkKinds(progress);
    this.#checkMembers(progress);
  }

  /** Members of abstract kinds can be said to be served by no cluster once all clusters are discovered, or had the time for it. */
  #checkMembers({ clusters }: IngestProgress): void {
    if (this.#membersKnown || this.#context.options.isPartial === true) return;
    const isDiscovered = unmatchedEverywhere(clusters)?.certain === true && clusters.every(({ known }) => known);
    if (!isDiscovered && this.#context.clock.monotonic() - this.#startedAt < startMs) return;
    this.#membersKnown = true;
    this.#abstractKinds.wake([], true);
    this.#kindObjects.wake([], true);
  }

  /**
   * Looks for names of --kinds that no cluster serves. During the start, a mistake ends ingest. A gateway that has been serving for some
   * time only warns. Another cluster was read late, and the clusters that it serves must not be harmed.
   */
  #checkKinds({ clusters }: IngestProgress): void {
    const unmatched = unmatchedEverywhere(clusters);
    if (unmatched === null || this.#kindsChecked || this.#context.options.isPartial === true) return;
    const { clock, log, lost, post } = this.#context;
    const mistakes = unmatched.names.filter(isMistake);
    const starting = lost === undefined && clock.monotonic() - this.#startedAt < startMs;
    this.#kindsChecked = unmatched.certain;
    if (unmatched.certain && starting && mistakes.length > 0) {
      post({ type: 'failed', code: 'CONFIGURATION', error: mistakeMessage(mistakes) });
      return;
    }
    if (starting && !unmatched.certain) return;
    const kinds = unmatched.names.map(({ name, similar }) => (similar === null ? name : `${name} (${similar}?)`));
    if (kinds.length === 0 || kinds.join() === this.#warnedKinds) return;
    this.#warnedKinds = kinds.join();
    const what = unmatched.certain
      ? 'no cluster serves these kinds yet'
      : 'no cluster that could be read serves these kinds';
    log.warn({ kinds }, what);
  }

  async #runHousekeeping(stop: AbortSignal): Promise<void> {
    const { clock, log, options, writer } = this.#context;
    const retainMs = options.retainEveryMs ?? defaultRetainMs;
    let retainAt = clock.monotonic() + retainMs;
    let steppedAt = clock.monotonic();
    while (!stop.aborted) {
      try {
        const now = clock.monotonic();
        if (now >= retainAt) {
          for (const supervisor of this.#supervisors) supervisor.retain();
          retainAt = now + retainMs;
        }
        const idle = now - this.#committedAt >= idleMs;
        let wait = idleMs;
        // A busy writer must not delay housekeeping that frees space, or that queries wait for.
        const urgent = writer.disk().tight || writer.relationsPending();
        if (idle || now - steppedAt >= (urgent ? idleMs : housekeepingMs)) {
          const committed = this.#committedAt;
          wait = writer.maintain() ? 1 : Math.min(housekeepingMs, retainMs);
          steppedAt = now;
          // The commits of housekeeping do not count as activity.
          this.#committedAt = committed;
        }
        await clock.sleep(wait, stop);
      } catch (error) {
        if (stop.aborted) return;
        log.error({ error: messageOf(error) }, 'housekeeping failed; it is tried again');
        await clock.sleep(housekeepingMs, stop).catch(() => {});
      }
    }
  }
}
