/**
 * Keeps one cluster: its connection and identity, what it serves, and a reflector for each resource of it.
 *
 *   connect -> the store's catalog may be read -> uid -> resources that the store remembers start at once -> rounds, as long as it lives
 *   a round: identity -> has its storage gone back? -> discovery -> new and changed kinds are described and declared -> reflectors start, restart, or end
 *
 * A round comes every minute or so, and about a second after a CustomResourceDefinition, an APIService or a rule of access control
 * changed (the reflectors of those resources tell), with a few more behind it, because servers take their time to serve what was
 * defined. A round that fails changes nothing: reflectors go on, and it is tried again.
 *
 * Never: takes a resource away because discovery is silent about it; only the server's own 404 does that. Never: harms another
 * cluster, or lets one kind that cannot be understood keep the others from starting.
 */
import type { Clock, Random } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { apiVersionOf, type Resource, resourceKey } from '../../catalog/resources/resource.ts';
import type { Connection } from '../../kube/client/connection.ts';
import { explainConnectionFailure } from '../../kube/client/explain.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { clusterUid } from '../../kube/discovery/identity.ts';
import { openApiMarks } from '../../kube/discovery/openapi.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import type { Writer } from '../../store/types/writer.ts';
import type { ClusterOptions } from '../context/cluster-options.ts';
import type { ClusterProgress } from '../context/progress.ts';
import type { ReflectorSettings, SeenObject } from '../context/reflector-context.ts';
import { collectionsOf, type Selection, selects } from '../context/selection.ts';
import { Alarm } from '../flow/alarm.ts';
import { Backoff } from '../flow/backoff.ts';
import type { ParseThread } from '../parse/parse-thread.ts';
import { ReflectorSet } from '../reflector/reflector-set.ts';
import { crdKey, crdOf } from './crd-source.ts';
import { type Descriptions, describeResources, type Problem } from './describe-resources.ts';
import { type Inventory, isGone, takeInventory } from './inventory.ts';
import { RewindGuard } from './rewind-guard.ts';
import { SchemaWatch } from './schema-watch.ts';
import { apiServiceKey, startOrder } from './start-order.ts';

export interface SupervisorSettings {
  /** Milliseconds between rounds; each is up to a fifth shorter or longer. */
  readonly rediscoverMs: number;
  /** Milliseconds from a change of what is served to the round that looks at it. */
  readonly debounceMs: number;
  /** Milliseconds after which a cluster that has not answered yet counts as tried: nobody waits longer for its catalog. */
  readonly patienceMs: number;
  /** Milliseconds that another schema of a group version must have stood before it is taken. */
  readonly schemaStableMs: number;
  /** Milliseconds to the rounds that follow such a round. */
  readonly settleMs: readonly number[];
}

export const defaultSupervisorSettings: SupervisorSettings = {
  rediscoverMs: 60_000,
  debounceMs: 1000,
  patienceMs: 5000,
  schemaStableMs: 300_000,
  settleMs: [1000, 2000, 5000, 10_000],
};

export interface SupervisorContext {
  readonly cluster: ClusterOptions;
  readonly selection: Selection;
  /** Namespaced resources are read in these alone; empty: in all at once. */
  readonly namespaces: readonly string[];
  /** Bounds of what is kept of Events. */
  readonly events: { readonly maxObjects: number; readonly maxAgeMs: number } | undefined;
  readonly open: (options: ClusterOptions) => Promise<Connection>;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settings: SupervisorSettings;
  readonly reflector: ReflectorSettings;
  readonly parser?: ParseThread | undefined;
  /** Takes a cluster's name; false when another cluster has it. */
  readonly claimName: (name: string) => boolean;
  readonly changed: () => void;
}

/** Milliseconds until a description that is not finished is tried again: twice as long each time, up to an hour. */
const firstRetryMs = 5000;
const lastRetryMs = 3_600_000;

/** Milliseconds between rounds that are made because a collection was not found. */
const missingMs = 10_000;

const accessGroup = 'rbac.authorization.k8s.io';

export class ClusterSupervisor {
  readonly #context: SupervisorContext;
  readonly #stop = new AbortController();
  readonly #alarm: Alarm;
  readonly #backoff: Backoff;
  #name: string;
  #claimed = false;
  #loop: Promise<void> | null = null;
  #reflectors: ReflectorSet | null = null;
  readonly #schemas: SchemaWatch;
  #uid: string | null = null;
  #error: string | null = null;
  #problems: readonly Problem[] = [];
  #known = false;
  #remembered = false;
  #tried = false;
  /** Changing what is declared right now: the catalog is in motion. */
  #declaring = false;
  #settling: number[] = [];
  /** resourceKeys whose definition has changed since they were described. */
  #dirty = new Set<string>();
  /** Described without the schema they should have, or left out: asked for again, ever more seldom. */
  readonly #unfinished = new Set<string>();
  #retry = { at: 0, waitMs: firstRetryMs };
  /** No round on this connection has been made: what the store remembers may be of another age. */
  #firstRound = true;
  /** Something has changed that may let in what is parked. */
  #probeDue = false;
  #lastRoundAt = Number.NEGATIVE_INFINITY;
  readonly #crds = new Map<string, { readonly uid: string; readonly resourceVersion: string }>();

  constructor(context: SupervisorContext) {
    this.#context = context;
    this.#alarm = new Alarm(context.clock);
    this.#schemas = new SchemaWatch(context.clock, context.settings.schemaStableMs);
    this.#backoff = new Backoff(context.clock, context.random);
    const { name, context: contextName, inCluster } = context.cluster;
    this.#name = name ?? contextName ?? (inCluster === true ? 'in-cluster' : 'kubeconfig');
  }

  /** True while several resources are being declared: what reads the catalog now would read it again at once. */
  get declaring(): boolean {
    return this.#declaring;
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

  /** Ends everything of this cluster; resolves when nothing is left. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the supervisor was stopped'));
    await this.#loop;
  }

  progress(): ClusterProgress {
    const set = this.#reflectors?.progress() ?? { done: 0, total: 0, objects: 0, failing: [] };
    const failing = [
      ...(this.#error === null ? [] : [{ resource: 'everything', error: this.#error }]),
      ...set.failing,
      ...this.#problems.map(({ resource, message }) => ({ resource, error: message })),
    ];
    return {
      cluster: this.#name,
      known: this.#known,
      remembered: this.#remembered,
      tried: this.#tried,
      resourcesDone: set.done,
      resourcesTotal: set.total,
      objects: set.objects,
      failing: failing.map((each) => ({ cluster: this.#name, ...each })),
    };
  }

  /** Holds Events to their bound. */
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

  /** Nobody need wait for a cluster that is in the store, as long as the same of it is wanted. */
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

  /** Rounds on one connection, until the stop, or until another cluster answers. */
  async #keep(connection: Connection, client: RestClient, stop: AbortSignal): Promise<void> {
    const { writer } = this.#context;
    this.#uid = await clusterUid(client, stop);
    writer.openCluster(this.#name, this.#uid);
    this.#begin(client);
    const guard = new RewindGuard(client, this.#context.log.child({ cluster: this.#name }));
    this.#alarm.set(0);
    for (;;) {
      await this.#alarm.wait(stop);
      try {
        if (!(await this.#sameCluster(client, stop))) return;
        const set = this.#reflectors;
        if (set !== null && (await guard.wentBack(set.versions(), stop))) set.rewind();
        await this.#round(client, stop);
        this.#error = null;
        const { rediscoverMs } = this.#context.settings;
        this.#alarm.set(this.#settling.shift() ?? rediscoverMs * (0.8 + 0.4 * this.#context.random()));
      } catch (error) {
        if (stop.aborted) throw error;
        this.#report(error, connection);
        this.#alarm.set(this.#backoff.next(error instanceof ApiError ? error.retryAfterSeconds : undefined));
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
      'another cluster answers under this name; what was kept of the former is dropped',
    );
    return false;
  }

  /** Starts what the store remembers of this cluster: no discovery is needed to go on where it stopped. */
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
      missing: () => this.#onMissing(),
      seen: (key) => this.#watcher(key),
    });
    this.#reflectors = set;
    this.#crds.clear();
    this.#dirty.clear();
    this.#unfinished.clear();
    this.#firstRound = true;
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
    const { clock, log, selection } = this.#context;
    const inventory = await takeInventory(client, stop);
    const wanted = inventory.chosen.filter((resource) => selects(resource, selection));
    await this.#lookAtSchemas(client, set, stop);
    const dirty = this.#dirty;
    this.#dirty = new Set();
    try {
      const open = wanted.filter((resource) => this.#needsDescription(set, resource, dirty, inventory));
      const found = open.length === 0 ? null : await describeResources(client, this.#name, open, stop);
      this.#declaring = true;
      if (found !== null) await this.#take(set, found, open, stop);
      await this.#removeGone(client, set, wanted, inventory, stop);
      this.#keepProblems(found, open);
    } catch (error) {
      for (const key of dirty) this.#dirty.add(key);
      throw error;
    } finally {
      this.#declaring = false;
      this.#lastRoundAt = clock.monotonic();
    }
    this.#known = true;
    this.#firstRound = false;
    for (const problem of inventory.problems) log.debug({ cluster: this.#name, problem }, 'discovery is not complete');
    if (this.#probeDue) set.probe();
    this.#probeDue = false;
  }

  /** Marks kinds for another description whose schema has changed for good; not those that their definitions describe. */
  async #lookAtSchemas(client: RestClient, set: ReflectorSet, stop: AbortSignal): Promise<void> {
    const due = this.#schemas.look(await openApiMarks(client, stop).catch(() => new Map<string, string>()));
    for (const key of due.length === 0 ? [] : set.keys()) {
      const resource = set.described(key)?.resource;
      if (resource === undefined || this.#crds.has(key)) continue;
      if (due.includes('*') || due.includes(apiVersionOf(resource))) this.#dirty.add(key);
    }
  }

  #needsDescription(
    set: ReflectorSet,
    resource: Resource,
    dirty: ReadonlySet<string>,
    { unknownGroups }: Inventory,
  ): boolean {
    const key = resourceKey(resource);
    if (this.#firstRound || dirty.has(key)) return true;
    if (this.#unfinished.has(key)) return this.#context.clock.monotonic() >= this.#retry.at;
    const current = set.described(key)?.resource;
    if (current === undefined) return true;
    // While a version of its group cannot be read, what is preferred now is no news.
    if (unknownGroups.has(resource.group)) return false;
    return JSON.stringify(servedAs(current)) !== JSON.stringify(servedAs(resource));
  }

  async #take(set: ReflectorSet, found: Descriptions, asked: readonly Resource[], stop: AbortSignal): Promise<void> {
    for (const described of startOrder(found.described)) {
      stop.throwIfAborted();
      const key = resourceKey(described.resource);
      const crd = found.crds.get(key);
      const known = this.#crds.get(key);
      if (crd !== undefined) this.#crds.set(key, crd);
      // Better what is remembered of a kind than what can be said of it without its schema.
      if (found.provisional.has(key) && set.described(key) !== undefined) continue;
      await set.take(described, crd !== undefined && known !== undefined && crd.uid !== known.uid);
    }
    this.#planRetry(found, asked);
  }

  /** Notes what is not finished; new entries are tried again soon. */
  #planRetry(found: Descriptions, asked: readonly Resource[]): void {
    const finished = new Set(found.described.map(({ resource }) => resourceKey(resource)));
    const now = this.#context.clock.monotonic();
    const due = now >= this.#retry.at;
    let fresh = false;
    for (const key of asked.map(resourceKey)) {
      if (finished.has(key) && !found.provisional.has(key)) this.#unfinished.delete(key);
      else if (!this.#unfinished.has(key)) {
        this.#unfinished.add(key);
        fresh = true;
      }
    }
    if (!fresh && !due) return;
    const waitMs = fresh ? firstRetryMs : Math.min(this.#retry.waitMs * 2, lastRetryMs);
    this.#retry = { at: now + waitMs, waitMs };
  }

  /** Problems of kinds that were asked about are new; those of others stay as they were. */
  #keepProblems(found: Descriptions | null, asked: readonly Resource[]): void {
    const now = new Set([...asked.map(resourceKey), ...(found?.problems ?? []).map(({ resource }) => resource)]);
    const fresh = found?.problems ?? [];
    const before = new Set(this.#problems.map(({ resource, message }) => `${resource} ${message}`));
    for (const { resource, message } of fresh) {
      if (before.has(`${resource} ${message}`)) continue;
      this.#context.log.warn({ cluster: this.#name, resource, error: message }, 'a kind is left out or incomplete');
    }
    const set = this.#reflectors;
    this.#problems = [...this.#problems.filter(({ resource }) => !now.has(resource)), ...fresh].filter(
      ({ resource }) => set?.described(resource) === undefined,
    );
  }

  async #removeGone(
    client: RestClient,
    set: ReflectorSet,
    wanted: readonly Resource[],
    inventory: Inventory,
    stop: AbortSignal,
  ): Promise<void> {
    const served = new Set(wanted.map(resourceKey));
    for (const key of set.keys()) {
      const resource = set.described(key)?.resource;
      if (resource === undefined || served.has(key)) continue;
      const leftOut = inventory.announced.has(key);
      if (!leftOut && inventory.unknownGroups.has(resource.group)) continue;
      const [namespace = ''] = set.namespacesOf(resource);
      if (!leftOut && !(await isGone(client, resource, namespace, stop))) continue;
      this.#context.log.info({ cluster: this.#name, resource: key }, 'a resource is no longer served; it is dropped');
      this.#crds.delete(key);
      this.#unfinished.delete(key);
      await set.remove(key);
    }
  }

  /** What a change of this resource's objects means for what is served; undefined where nothing. */
  #watcher(key: string): ((objects: readonly SeenObject[]) => void) | undefined {
    if (key === crdKey) return (objects) => this.#onDefinitions(objects);
    if (key === apiServiceKey) return () => this.#look();
    if (key.endsWith(`.${accessGroup}`)) return () => this.#onAccess();
    return undefined;
  }

  #onDefinitions(objects: readonly SeenObject[]): void {
    for (const { object, deleted } of objects) {
      const { name, uid, resourceVersion } = crdOf(object.value ?? parse(object.text));
      const known = this.#crds.get(name);
      if (!deleted && known?.uid === uid && known.resourceVersion === resourceVersion) continue;
      if (!deleted) this.#dirty.add(name);
      this.#look();
    }
  }

  /** Rights have changed: what is parked may be let in now. */
  #onAccess(): void {
    if (this.#reflectors?.parked !== true) return;
    this.#probeDue = true;
    this.#alarm.sooner(this.#context.settings.debounceMs);
  }

  /** The server does not know a collection (any more): discovery says whether that is so. */
  #onMissing(): void {
    const { clock, settings } = this.#context;
    this.#alarm.sooner(Math.max(settings.debounceMs, this.#lastRoundAt + missingMs - clock.monotonic()));
  }

  /** Asks for a round soon, and for some behind it. */
  #look(): void {
    this.#probeDue = true;
    const { debounceMs, settleMs } = this.#context.settings;
    this.#settling = [...settleMs];
    this.#alarm.sooner(debounceMs);
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
      this.#context.log.warn({ cluster: this.#name, error: message }, 'a cluster cannot be read; it is tried again');
    }
    this.#error = message;
  }
}

/** What of a resource, if it changes, makes another description necessary. */
function servedAs({ group, version, plural, kind, namespaced, verbs }: Resource): unknown {
  return [group, version, plural, kind, namespaced, verbs.includes('watch')];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
