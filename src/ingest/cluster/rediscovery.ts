/**
 * Starts, restarts and ends the reflectors of a cluster so that they match the resources that its server serves. Works in rounds.
 *
 *   a round: discovery -> new and changed kinds are described and declared -> reflectors start, restart, or end
 *
 * A kind is described if it is new or unfinished. It is described again if its definition, its served version or its stable schema
 * changed. The next round repeats the work of a failed round.
 *
 * A resource is not removed only because discovery omits it: its collection must also respond with 404. A kind with an invalid
 * schema does not prevent other kinds from starting.
 */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { configuredPath } from '../../catalog/describe/redacted-paths.ts';
import type { RelationSet } from '../../catalog/describe/relation-set.ts';
import { groupOf } from '../../catalog/groups/api-group.ts';
import type { ReadHealthRules } from '../../catalog/health/read-health-rules.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { apiVersionOf, type Resource, resourceKey, splitResourceKey } from '../../catalog/resources/resource.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { openApiMarks } from '../../kube/discovery/openapi.ts';
import type { UnmatchedNames } from '../context/progress.ts';
import type { SeenObject } from '../context/reflector-context.ts';
import { type Selection, selects, unmatchedNames } from '../context/selection.ts';
import { isMistake } from '../context/unmatched-kinds.ts';
import type { ReflectorSet } from '../reflector/reflector-set.ts';
import { crdKey } from './crd-source.ts';
import { Definitions } from './definitions.ts';
import { type Descriptions, describeResources, type Problem } from './describe-resources.ts';
import { type Inventory, isGone, takeInventory } from './inventory.ts';
import { NewNeighbours } from './new-neighbours.ts';
import { SchemaWatch } from './schema-watch.ts';
import { UnfinishedKinds } from './unfinished-kinds.ts';

export const apiServiceKey = 'apiservices.apiregistration.k8s.io';

interface RediscoveryContext {
  readonly selection: Selection;
  /** The declared relations; absent: none. */
  readonly relations: RelationSet | undefined;
  /** The declared health rules. */
  readonly healthRules: readonly ReadHealthRules[];
  /** The values of --redact. */
  readonly redact: readonly string[];
  /** Adds diagnostics that are not of the schema. */
  readonly diagnosed: (described: DescribedResource) => DescribedResource;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds for which a changed schema of a group version must stay the same before its kinds are described again. */
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
  readonly #neighbours: NewNeighbours;
  #problems: readonly Problem[] = [];
  #unread: readonly Problem[] = [];
  #declaring = false;
  #unmatched: UnmatchedNames | null = null;
  /** No round on this connection has succeeded. Stored descriptions may be outdated, so every kind is described again. */
  #firstRound = true;
  #lastRoundAt = Number.NEGATIVE_INFINITY;

  constructor(context: RediscoveryContext) {
    this.#context = context;
    this.#schemas = new SchemaWatch(context.clock, context.schemaStableMs);
    this.#unfinished = new UnfinishedKinds(context.clock);
    this.#neighbours = new NewNeighbours(context.clock);
  }

  /** Group versions that could not be read, and kinds that are left out or incomplete. */
  get problems(): readonly Problem[] {
    return [...this.#unread, ...this.#problems];
  }

  /** True if every group that may have a selected kind could be read. */
  get complete(): boolean {
    return this.#unread.length === 0;
  }

  /** The names of --kinds that match no resource; null before the first discovery on this connection. */
  get unmatched(): UnmatchedNames | null {
    return this.#unmatched;
  }

  /** True while a round changes the catalog. */
  get declaring(): boolean {
    return this.#declaring;
  }

  /** Monotonic milliseconds at which the last round with a successful discovery ended. The round may have failed later. */
  get lastRoundAt(): number {
    return this.#lastRoundAt;
  }

  /** Resets the state for a new connection, which may lead to another cluster. */
  begin(): void {
    this.#definitions.clear();
    this.#unfinished.clear();
    this.#unmatched = null;
    this.#unread = [];
    this.#firstRound = true;
  }

  /** Compares listed or watched definitions with the recorded ones. True if they require a round. */
  seeDefinitions(objects: readonly SeenObject[]): boolean {
    return this.#definitions.see(objects);
  }

  /** Runs one round. Rejects if the cluster cannot be read, or on a stop with the signal's reason. */
  async round(connected: Connected, stop: AbortSignal): Promise<void> {
    const { client, set, cluster } = connected;
    const { clock, selection } = this.#context;
    const inventory = await takeInventory(client, stop);
    this.#unmatched = {
      names: unmatchedNames(inventory.chosen, selection),
      certain: inventory.unknownGroups.size === 0,
    };
    this.#keepUnread(connected, inventory);
    if (this.#firstRound) this.#warnOfRedact(cluster, inventory);
    const wanted = inventory.chosen.filter((resource) => selects(resource, selection));
    await this.#markChangedSchemas(connected, stop);
    const changed = this.#definitions.takeChanged();
    this.#neighbours.see(inventory.chosen);
    try {
      const open = wanted.filter((resource) => this.#needsDescription(set, resource, changed, inventory));
      const found =
        open.length === 0
          ? null
          : await describeResources(client, cluster, open, {
              relations: this.#context.relations,
              healthRules: this.#context.healthRules,
              redact: this.#context.redact,
              kinds: inventory.chosen,
              signal: stop,
            });
      this.#declaring = true;
      if (found !== null) await this.#take(set, found, open, stop);
      this.#neighbours.done();
      await this.#removeGone(connected, wanted, inventory, stop);
      this.#unfinished.retain((key) => mayBeServed(key, inventory));
      this.#keepProblems(connected, found, open);
    } catch (error) {
      this.#definitions.putBack(changed);
      throw error;
    } finally {
      this.#declaring = false;
      this.#lastRoundAt = clock.monotonic();
    }
    this.#firstRound = false;
  }

  /** Marks kinds whose OpenAPI schema has changed and is stable again. Kinds with a CRD are excluded: its version shows changes. */
  async #markChangedSchemas({ client, set }: Connected, stop: AbortSignal): Promise<void> {
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
    if (this.#firstRound || changed.has(key) || this.#neighbours.isDue(resource)) return true;
    if (this.#unfinished.has(key)) return this.#unfinished.due;
    const current = set.described(key)?.resource;
    if (current === undefined) return true;
    // While a version of the group cannot be read, discovery may choose another version for this resource.
    if (unknownGroups.has(resource.group)) return false;
    return JSON.stringify(servedAs(current)) !== JSON.stringify(servedAs(resource));
  }

  async #take(
    set: ReflectorSet,
    found: Descriptions,
    requested: readonly Resource[],
    stop: AbortSignal,
  ): Promise<void> {
    for (const described of startOrder(found.described)) {
      stop.throwIfAborted();
      const key = resourceKey(described.resource);
      const definition = found.crds.get(key);
      const recreated = definition !== undefined && this.#definitions.describe(key, definition);
      // An earlier description with a schema is better than one without.
      if (found.provisional.has(key) && set.described(key) !== undefined) continue;
      await set.take(this.#context.diagnosed(described), recreated);
    }
    this.#unfinished.note(found, requested);
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
      const announced = inventory.announced.has(key);
      if (!announced && inventory.unknownGroups.has(resource.group)) continue;
      const [namespace = ''] = set.namespacesOf(resource);
      if (!announced && !(await isGone(client, resource, namespace, stop))) continue;
      this.#context.log.info({ cluster, resource: key }, 'a resource is no longer served; it is dropped');
      this.#definitions.forget(key);
      await set.remove(key);
    }
  }

  /** Reports group versions that could not be read, if a selected kind may be in them. */
  #keepUnread({ set, cluster }: Connected, { unread }: Inventory): void {
    const { log, selection } = this.#context;
    const { include = [] } = selection;
    const names = this.#unmatched?.names ?? [];
    const groups = new Set(set.keys().map((key) => splitResourceKey(key)[1]));
    const isWanted = (group: string): boolean =>
      include.length === 0 || include.includes('*') || names.length > 0 || groups.has(group);
    const before = new Map(this.#unread.map((problem) => [problem.resource, problem.message]));
    this.#unread = unread
      .filter(({ groupVersion }) => isWanted(groupOf(groupVersion)))
      .map(({ groupVersion, message }) => ({ resource: groupVersion, message, kinds: [] }));
    for (const { resource, message } of this.#unread) {
      if (before.get(resource) === message) continue;
      log.warn(
        { cluster, group: resource, error: message },
        'the kinds of a group cannot be discovered; it is tried again',
      );
    }
    const now = new Set(this.#unread.map(({ resource }) => resource));
    const read = [...before.keys()].filter((resource) => !now.has(resource));
    if (read.length > 0) log.info({ cluster, groups: read }, 'the kinds of a group are discovered again');
  }

  /** A mistake in a name would leave a value in the tables. */
  #warnOfRedact(cluster: string, { chosen, unknownGroups }: Inventory): void {
    const { redact, log } = this.#context;
    if (redact.length === 0 || unknownGroups.size > 0) return;
    const include = redact.map((entry) => configuredPath(entry).resource);
    // Redaction takes no short names and no categories.
    const named = chosen.map(({ group, plural, kind }) => ({ group, plural, kind }));
    const names = unmatchedNames(named, { include }).filter(isMistake);
    if (names.length > 0) log.warn({ cluster, names }, '--redact names resources that the cluster does not serve');
  }

  /** Replaces the problems of the kinds that were just described. Keeps the others while one of their kinds is unfinished. */
  #keepProblems({ set, cluster }: Connected, found: Descriptions | null, requested: readonly Resource[]): void {
    const fresh = found?.problems ?? [];
    const now = new Set(requested.map(resourceKey));
    const before = new Set(this.#problems.map(({ resource, message }) => `${resource} ${message}`));
    for (const { resource, message } of fresh) {
      if (before.has(`${resource} ${message}`)) continue;
      this.#context.log.warn({ cluster, resource, error: message }, 'a kind is left out or incomplete');
    }
    const problems = new Map(fresh.map((problem) => [problem.resource, problem]));
    for (const { resource, message, kinds } of this.#problems) {
      const open = kinds.filter((key) => !now.has(key) && this.#unfinished.has(key));
      const again = problems.get(resource);
      if (again !== undefined) problems.set(resource, { ...again, kinds: [...again.kinds, ...open] });
      else if (open.length > 0) problems.set(resource, { resource, message, kinds: open });
    }
    this.#problems = [...problems.values()].filter(({ resource }) => set.described(resource) === undefined);
  }
}

/** False if discovery knows that the kind is not served. */
function mayBeServed(key: string, { announced, unknownGroups }: Inventory): boolean {
  const [, group] = splitResourceKey(key);
  return announced.has(key) || unknownGroups.has(group);
}

/** The parts of a resource whose change requires another description. */
function servedAs({ group, version, plural, kind, namespaced, verbs }: Resource): unknown {
  return [group, version, plural, kind, namespaced, verbs.includes('watch')];
}

/** Definitions first, since other kinds depend on them. Events last: there are many, and no kind depends on them. */
function startOrder(described: readonly DescribedResource[]): readonly DescribedResource[] {
  const rank = ({ resource }: DescribedResource): number => {
    const key = resourceKey(resource);
    if (key === crdKey || key === apiServiceKey || key === 'namespaces') return 0;
    return key === 'events' ? 2 : 1;
  };
  return described.toSorted((a, b) => rank(a) - rank(b));
}
