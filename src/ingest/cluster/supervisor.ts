/**
 * Ingests one cluster: keeps its connection, its identity, and a reflector for each of its resources.
 *
 *   connect -> check whether the stored catalog is usable -> read the uid -> start the stored resources -> rounds until the stop
 *   a round: check the identity -> check for a storage rewind (rewind-guard.ts) -> discovery and reflectors (rediscovery.ts)
 *
 * A round runs about every minute. A change of a CustomResourceDefinition or an APIService causes a round about a second later. A
 * change of an RBAC rule does so too if a reflector is parked. The reflectors of these resources report the changes. After a failed
 * round the reflectors continue, and the round is repeated. Failures of one cluster do not affect the others.
 */

import { Backoff } from '../../base/backoff.ts';
import type { Clock, Random } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { RelationSet } from '../../catalog/describe/relation-set.ts';
import type { ReadHealthRules } from '../../catalog/health/read-health-rules.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import type { ClusterOptions, Connection } from '../../kube/client/connection.ts';
import { explainConnectionFailure } from '../../kube/client/explain.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { clusterUid, serverVersion } from '../../kube/discovery/identity.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import type { ClusterStatus } from '../../store/types/progress.ts';
import type { Writer } from '../../store/types/writer.ts';
import { collectionsOf } from '../context/collections.ts';
import { type ClusterProgress, staleIn } from '../context/progress.ts';
import type { ReflectorSettings, SeenObject } from '../context/reflector-context.ts';
import { type Selection, selects } from '../context/selection.ts';
import type { ParseThread } from '../parse/parse-thread.ts';
import { ReflectorSet } from '../reflector/reflector-set.ts';
import { crdKey } from './crd-source.ts';
import { apiServiceKey, Rediscovery } from './rediscovery.ts';
import { RewindGuard } from './rewind-guard.ts';
import { RoundSchedule } from './round-schedule.ts';
import type { SupervisorSettings } from './supervisor-settings.ts';

interface SupervisorContext {
  readonly cluster: ClusterOptions;
  readonly selection: Selection;
  /** Namespaced resources are read in these alone; empty: in all at once. */
  readonly namespaces: readonly string[];
  /** Retention of Events; absent: all are kept. */
  readonly events: { readonly maxObjects: number; readonly maxAgeMs: number } | undefined;
  readonly open: (options: ClusterOptions) => Promise<Connection>;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: SupervisorSettings;
  readonly reflector: ReflectorSettings;
  readonly parser?: ParseThread | undefined;
  /** The declared relations; absent: none. */
  readonly relations?: RelationSet | undefined;
  /** The declared health rules; absent: none. */
  readonly healthRules?: readonly ReadHealthRules[] | undefined;
  /** The values of --redact. */
  readonly redact: readonly string[];
  /** Adds diagnostics that are not of the schema; absent: there are none. */
  readonly diagnosed?: ((described: DescribedResource) => DescribedResource) | undefined;
  /** Reserves a cluster's name; false if another cluster has it. */
  readonly claimName: (name: string) => boolean;
  readonly changed: () => void;
}

const accessGroup = 'rbac.authorization.k8s.io';

export class ClusterSupervisor {
  readonly #context: SupervisorContext;
  readonly #stop = new AbortController();
  readonly #schedule: RoundSchedule;
  readonly #rediscovery: Rediscovery;
  readonly #backoff: Backoff;
  #name: string;
  #claimed = false;
  #loop: Promise<void> | null = null;
  #reflectors: ReflectorSet | null = null;
  #uid: string | null = null;
  #error: string | null = null;
  /** The time of the first failed attempt since the last good one; null after a good one. */
  #unreadSince: number | null = null;
  #known = false;
  #remembered = false;
  #tried = false;
  /** A change may let parked reflectors succeed, so the next round must probe them. */
  #probeDue = false;

  constructor(context: SupervisorContext) {
    this.#context = context;
    const {
      clock,
      diagnosed = (described) => described,
      healthRules = [],
      log,
      random,
      redact,
      relations,
      selection,
      settings,
    } = context;
    this.#schedule = new RoundSchedule(clock, random, settings);
    this.#rediscovery = new Rediscovery({
      selection,
      relations,
      healthRules,
      redact,
      diagnosed,
      clock,
      log,
      schemaStableMs: settings.schemaStableMs,
    });
    this.#backoff = new Backoff(clock, random);
    const { name, context: contextName, inCluster } = context.cluster;
    this.#name = name ?? contextName ?? (inCluster === true ? 'in-cluster' : 'kubeconfig');
  }

  /** True while a round changes the catalog. Readers should wait for its end, else they read the catalog twice. */
  get declaring(): boolean {
    return this.#rediscovery.declaring;
  }

  start(): void {
    if (this.#loop !== null) return;
    this.#loop = this.#run(this.#stop.signal);
    const { clock, settings } = this.#context;
    clock.sleep(settings.patienceMs, this.#stop.signal).then(
      () => this.#onTried(),
      () => {},
    );
  }

  /** Ends rounds, reflectors and the connection of this cluster; resolves when all have ended. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the supervisor was stopped'));
    await this.#loop;
  }

  progress(): ClusterProgress {
    const set = this.#reflectors?.progress() ?? { done: 0, synced: 0, total: 0, objects: 0, failing: [] };
    const failing = [
      ...(this.#error === null ? [] : [{ resource: 'everything', error: this.#error }]),
      ...set.failing,
      ...this.#rediscovery.problems.map(({ resource, message }) => ({ resource, error: message })),
    ];
    return {
      cluster: this.#name,
      known: this.#known,
      remembered: this.#remembered,
      tried: this.#tried,
      resourcesDone: set.done,
      resourcesSynced: set.synced,
      resourcesTotal: set.total,
      objects: set.objects,
      failing: failing.map((each) => ({ cluster: this.#name, ...each })),
      stale: staleIn(this.#context.writer.states(this.#name), this.#unreadSince),
      unmatched: this.#rediscovery.unmatched,
    };
  }

  /** Parked reflectors try again at once. */
  probe(): void {
    this.#reflectors?.probe();
  }

  /** Removes Events beyond their retention. */
  retain(): void {
    const { events } = this.#context;
    if (events !== undefined) this.#reflectors?.retain('events', events);
  }

  async #run(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      let connection: Connection | null = null;
      try {
        connection = await this.#context.open(this.#context.cluster);
        this.#claim(connection.cluster);
        this.#remember();
        await this.#keep(connection, new RestClient(connection), stop);
      } catch (error) {
        if (stop.aborted) break;
        await this.#fail(error, connection, stop).catch(() => {});
      } finally {
        await this.#reflectors?.stop();
        this.#reflectors = null;
        this.#known = false;
        await connection?.close().catch(() => {});
      }
    }
  }

  /**
   * Records whether the stored collections of the cluster match the selection: all are selected, and no selected namespace is missing.
   * If so, the stored catalog can be read before the cluster is reached.
   */
  #remember(): void {
    const { namespaces, selection, writer } = this.#context;
    const states = writer.states(this.#name);
    const held = new Set(states.map(({ handle }) => `${handle.key} ${handle.namespace}`));
    this.#remembered =
      states.length > 0 &&
      states.every(({ described: { resource }, handle }) => {
        const wanted = collectionsOf(resource, namespaces);
        const kept = wanted.every((namespace) => held.has(`${handle.key} ${namespace}`));
        return selects(resource, selection) && wanted.includes(handle.namespace) && kept;
      });
    this.#context.changed();
  }

  /** Runs rounds on one connection until another cluster responds; rejects on a stop. */
  async #keep(connection: Connection, client: RestClient, stop: AbortSignal): Promise<void> {
    const { writer } = this.#context;
    this.#uid = await clusterUid(client, stop);
    writer.openCluster(this.#name, this.#uid);
    this.#begin(client);
    const guard = new RewindGuard(client, this.#context.log.child({ cluster: this.#name }));
    this.#schedule.atOnce();
    for (;;) {
      await this.#schedule.wait(stop);
      try {
        if (!(await this.#sameCluster(client, stop))) return;
        const set = this.#reflectors;
        if (set !== null && (await guard.wentBack(set.versions(), stop))) set.rewind();
        await this.#round(client, stop);
        const version = await serverVersion(client, stop);
        this.#error = null;
        this.#unreadSince = null;
        this.#record({ version, error: null });
        this.#schedule.afterRound(this.#rediscovery.complete);
      } catch (error) {
        if (stop.aborted) throw error;
        this.#report(error, connection);
        this.#schedule.afterFailure(
          this.#backoff.next(error instanceof ApiError ? error.retryAfterSeconds : undefined),
        );
      } finally {
        this.#onTried();
      }
    }
  }

  async #sameCluster(client: RestClient, stop: AbortSignal): Promise<boolean> {
    const { log, writer } = this.#context;
    const uid = await clusterUid(client, stop);
    if (uid === null || uid === this.#uid) return true;
    const other = this.#uid !== null;
    this.#uid = uid;
    if (!other) {
      writer.openCluster(this.#name, uid);
      return true;
    }
    log.warn(
      { cluster: this.#name },
      'another cluster answers under this name; the stored data of the former is dropped',
    );
    return false;
  }

  /** Starts the reflectors of the stored resources. They resume without a discovery. */
  #begin(client: RestClient): void {
    const { clock, log, namespaces, random, reflector, selection, writer } = this.#context;
    const set = new ReflectorSet({
      client,
      writer,
      clock,
      random,
      log: log.child({ cluster: this.#name }),
      settings: reflector,
      parser: this.#context.parser,
      namespaces,
      changed: () => this.#context.changed(),
      missing: () => this.#schedule.afterMissing(this.#rediscovery.lastRoundAt),
      seen: (key) => this.#observer(key),
    });
    this.#reflectors = set;
    this.#rediscovery.begin();
    const remembered = writer.states(this.#name);
    for (const { described, handle } of remembered) {
      const { resource } = described;
      const wanted = selects(resource, selection);
      if (wanted && set.described(handle.key) === undefined) set.declare(described, 'resume');
      if (!wanted || !set.namespacesOf(resource).includes(handle.namespace)) set.discard(handle);
    }
    this.#known = set.size > 0;
    this.#context.changed();
  }

  async #round(client: RestClient, stop: AbortSignal): Promise<void> {
    const set = this.#reflectors;
    if (set === null) return;
    await this.#rediscovery.round({ client, set, cluster: this.#name }, stop);
    this.#known = true;
    if (this.#probeDue) set.probe();
    this.#probeDue = false;
  }

  /** Returns the observer of this resource's stored objects, if they may change which resources are served or readable. */
  #observer(key: string): ((objects: readonly SeenObject[]) => void) | undefined {
    if (key === crdKey) {
      return (objects) => {
        if (this.#rediscovery.seeDefinitions(objects)) this.#onChange();
      };
    }
    if (key === apiServiceKey) return () => this.#onChange();
    if (key.endsWith(`.${accessGroup}`)) return () => this.#onAccess();
    return undefined;
  }

  /** The served resources have changed. */
  #onChange(): void {
    this.#probeDue = true;
    this.#schedule.afterChange();
  }

  /** Access rules have changed: the server may now accept parked requests. */
  #onAccess(): void {
    if (this.#reflectors?.parked !== true) return;
    this.#probeDue = true;
    this.#schedule.soon();
  }

  #claim(name: string): void {
    if (this.#claimed) return;
    this.#name = this.#context.cluster.name ?? name;
    if (!this.#context.claimName(this.#name)) {
      throw new PortolanError('CONFIGURATION', `Two clusters are called ${this.#name}: give each a name of its own.`);
    }
    this.#claimed = true;
  }

  async #fail(error: unknown, connection: Connection | null, stop: AbortSignal): Promise<void> {
    this.#report(error, connection);
    this.#onTried();
    await this.#context.clock.sleep(this.#backoff.next(), stop);
  }

  #onTried(): void {
    this.#tried = true;
    this.#context.changed();
  }

  #report(error: unknown, connection: Connection | null): void {
    const message = messageOf(connection === null ? error : explainConnectionFailure(error, connection));
    if (message !== this.#error) {
      // One warning is enough for an outage that the reflectors have reported together.
      const level = this.#reflectors?.outageReported === true ? 'info' : 'warn';
      this.#context.log[level]({ cluster: this.#name, error: message }, 'a cluster cannot be read; it is tried again');
    }
    this.#error = message;
    this.#unreadSince ??= this.#context.clock.now();
    if (this.#claimed) this.#record({ version: null, error: message });
  }

  /** Saves the status for readers. A failure of the store must not stop the supervisor. */
  #record(status: ClusterStatus): void {
    const { log, writer } = this.#context;
    try {
      writer.setClusterStatus(this.#name, status);
    } catch (error) {
      log.warn({ cluster: this.#name, error: messageOf(error) }, 'the status of a cluster cannot be saved');
    }
  }
}
