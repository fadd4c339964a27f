/**
 * Keeps the reflectors of a cluster in step with what its server serves, in rounds.
 *
 *   a round: discovery -> new and changed kinds are described and declared -> reflectors start, restart, or end
 *
 * A kind is described when it is new or unfinished, and when its definition, served version or settled schema has changed. A round
 * that fails is repeated by the next one.
 *
 * Never: takes a resource away because discovery is silent about it; only the server's own 404 does that. Never: lets one kind that
 * cannot be understood keep the others from starting.
 */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { apiVersionOf, type Resource, resourceKey } from '../../catalog/resources/resource.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { openApiMarks } from '../../kube/discovery/openapi.ts';
import type { SeenObject } from '../context/reflector-context.ts';
import { type Selection, selects } from '../context/selection.ts';
import type { ReflectorSet } from '../reflector/reflector-set.ts';
import { crdKey } from './crd-source.ts';
import { Definitions } from './definitions.ts';
import { type Descriptions, describeResources, type Problem } from './describe-resources.ts';
import { type Inventory, isGone, takeInventory } from './inventory.ts';
import { SchemaWatch } from './schema-watch.ts';
import { UnfinishedKinds } from './unfinished-kinds.ts';

export const apiServiceKey = 'apiservices.apiregistration.k8s.io';

interface RediscoveryContext {
  readonly selection: Selection;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds that another schema of a group version must have stood before it is taken. */
  readonly schemaStableMs: number;
}

/** One connection to the cluster. */
interface Connected {
  readonly client: RestClient;
  readonly set: ReflectorSet;
  /** The cluster's name. */
  readonly cluster: string;
}

export class Rediscovery {
  readonly #context: RediscoveryContext;
  readonly #schemas: SchemaWatch;
  readonly #definitions = new Definitions();
  readonly #unfinished: UnfinishedKinds;
  #problems: readonly Problem[] = [];
  #declaring = false;
  /** No round on this connection has been made: what the store remembers may be of another age. */
  #firstRound = true;
  #lastRoundAt = Number.NEGATIVE_INFINITY;

  constructor(context: RediscoveryContext) {
    this.#context = context;
    this.#schemas = new SchemaWatch(context.clock, context.schemaStableMs);
    this.#unfinished = new UnfinishedKinds(context.clock);
  }

  /** Kinds that are left out or incomplete. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }

  /** True while several resources are being declared: the catalog is in motion. */
  get declaring(): boolean {
    return this.#declaring;
  }

  /** Monotonic milliseconds when a round had last compared what is served, whatever came of it. */
  get lastRoundAt(): number {
    return this.#lastRoundAt;
  }

  /** Begins anew: another connection may be to another cluster. */
  begin(): void {
    this.#definitions.clear();
    this.#unfinished.clear();
    this.#firstRound = true;
  }

  /** Looks at definitions that pass by in a watch; true when a round is due for them. */
  seeDefinitions(objects: readonly SeenObject[]): boolean {
    return this.#definitions.see(objects);
  }

  /** Throws when the cluster cannot be asked, or the stop's reason. */
  async round(connected: Connected, stop: AbortSignal): Promise<void> {
    const { client, set, cluster } = connected;
    const { clock, log, selection } = this.#context;
    const inventory = await takeInventory(client, stop);
    const wanted = inventory.chosen.filter((resource) => selects(resource, selection));
    await this.#lookAtSchemas(connected, stop);
    const changed = this.#definitions.takeChanged();
    try {
      const open = wanted.filter((resource) => this.#needsDescription(set, resource, changed, inventory));
      const found = open.length === 0 ? null : await describeResources(client, cluster, open, stop);
      this.#declaring = true;
      if (found !== null) await this.#take(set, found, open, stop);
      await this.#removeGone(connected, wanted, inventory, stop);
      this.#keepProblems(connected, found, open);
    } catch (error) {
      this.#definitions.putBack(changed);
      throw error;
    } finally {
      this.#declaring = false;
      this.#lastRoundAt = clock.monotonic();
    }
    this.#firstRound = false;
    for (const problem of inventory.problems) log.debug({ cluster, problem }, 'discovery is not complete');
  }

  /** Marks kinds for another description whose schema has changed and settled. Kinds with a definition are left to it. */
  async #lookAtSchemas({ client, set }: Connected, stop: AbortSignal): Promise<void> {
    const due = this.#schemas.look(await openApiMarks(client, stop).catch(() => new Map<string, string>()));
    for (const key of due.length === 0 ? [] : set.keys()) {
      const resource = set.described(key)?.resource;
      if (resource === undefined || this.#definitions.describes(key)) continue;
      if (due.includes('*') || due.includes(apiVersionOf(resource))) this.#definitions.markChanged(key);
    }
  }

  #needsDescription(
    set: ReflectorSet,
    resource: Resource,
    changed: ReadonlySet<string>,
    { unknownGroups }: Inventory,
  ): boolean {
    const key = resourceKey(resource);
    if (this.#firstRound || changed.has(key)) return true;
    if (this.#unfinished.has(key)) return this.#unfinished.due;
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
      const definition = found.crds.get(key);
      const recreated = definition !== undefined && this.#definitions.describe(key, definition);
      // An earlier description with a schema is better than one without.
      if (found.provisional.has(key) && set.described(key) !== undefined) continue;
      await set.take(described, recreated);
    }
    this.#unfinished.note(found, asked);
  }

  async #removeGone(
    { client, set, cluster }: Connected,
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
      this.#context.log.info({ cluster, resource: key }, 'a resource is no longer served; it is dropped');
      this.#definitions.forget(key);
      this.#unfinished.forget(key);
      await set.remove(key);
    }
  }

  /** Problems of kinds that were asked about are new; those of others stay as they were. */
  #keepProblems({ set, cluster }: Connected, found: Descriptions | null, asked: readonly Resource[]): void {
    const fresh = found?.problems ?? [];
    const now = new Set([...asked.map(resourceKey), ...fresh.map(({ resource }) => resource)]);
    const before = new Set(this.#problems.map(({ resource, message }) => `${resource} ${message}`));
    for (const { resource, message } of fresh) {
      if (before.has(`${resource} ${message}`)) continue;
      this.#context.log.warn({ cluster, resource, error: message }, 'a kind is left out or incomplete');
    }
    this.#problems = [...this.#problems.filter(({ resource }) => !now.has(resource)), ...fresh].filter(
      ({ resource }) => set.described(resource) === undefined,
    );
  }
}

/** The parts of a resource that make another description necessary when they change. */
function servedAs({ group, version, plural, kind, namespaced, verbs }: Resource): unknown {
  return [group, version, plural, kind, namespaced, verbs.includes('watch')];
}

/** Definitions first, since others depend on them; Events last, since there are many and nothing does. */
function startOrder(described: readonly DescribedResource[]): readonly DescribedResource[] {
  const rank = ({ resource }: DescribedResource): number => {
    const key = resourceKey(resource);
    if (key === crdKey || key === apiServiceKey || key === 'namespaces') return 0;
    return key === 'events' ? 2 : 1;
  };
  return described.toSorted((a, b) => rank(a) - rank(b));
}
