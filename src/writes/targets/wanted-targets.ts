/**
 * The objects of a mutation: from manifests, by ids, or by a query.
 *
 *   docs      each manifest -> the resource that the cluster serves for its apiVersion and kind
 *   objects   each id -> the resource; the object of an abstract kind means the object that it is made from
 *   query     kinds and filter -> the objects that match in the tables -> the same filter on each live object before it is written
 *
 * A target that cannot be resolved is an item with an error. It never hides another one.
 */
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { isAbstract } from '../../catalog/groups/api-group.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import { requireClusters, servingClusters } from '../../operation/list-readiness.ts';
import type { Operation } from '../../operation/operation.ts';
import { requireVisible, withSettledRights } from '../../operation/require-visible.ts';
import type { WriteAccess } from '../../operation/write-access.ts';
import { matches } from '../../query/evaluate/matches.ts';
import { conjunction } from '../../query/plan/comparison.ts';
import { clustersIn, type Filter, type Identity } from '../../query/plan/filter.ts';
import { decodeObjectId } from '../../query/plan/object-id.ts';
import { matchingObjects } from '../../query/read/match-ids.ts';
import { requireReady } from '../../query/read/readiness.ts';
import { leasesOf, viewsOf } from '../../query/sql/view.ts';
import type { Manifest } from '../manifests/read-manifests.ts';
import { type WriteError, writeError } from '../outcome/write-error.ts';
import type { Condition } from '../plan/plan-one.ts';
import {
  anyState,
  type Json,
  nameOfTarget,
  type Preconditions,
  type TargetResource,
  type WriteTarget,
} from '../request/write-intent.ts';
import { documentManifests } from './document-manifests.ts';
import { isError, type ServedResources } from './served-resources.ts';
import { dependsOnStatus } from './status-filter.ts';

/** Objects of one operation. */
export const mostObjects = 1000;

/** An object to write, or why it cannot be found. */
export interface ResolvedTarget {
  readonly target: WriteTarget;
  readonly preconditions: Preconditions;
  /** Of a target by query. */
  readonly condition: Condition | null;
  /** Of a manifest: of an edit, what came back; of a revert, the recorded state. */
  readonly manifest: Json | null;
  /** Of a manifest: as it came. `manifest` has the namespace of the target besides. */
  readonly document?: Json;
  /** Of an edit: what the editor was given. */
  readonly base?: Json;
  /** Of a revert: the resourceVersion at which the object is still as recorded; null if it has changed since. */
  readonly unchangedAt?: string | null;
  /** Of a revert: the uid of the object that had the state. */
  readonly stateUid?: string | null;
  readonly error: WriteError | null;
}

/** One document of `docs`: exactly one of `json` and `yaml`. */
export interface ManifestDocument {
  readonly cluster: string | null;
  /** For namespaced objects that name none. */
  readonly namespace: string | null;
  readonly json: unknown;
  readonly yaml: string | null;
}

export interface TargetObject {
  readonly id: string;
  readonly uid: string | null;
  readonly resourceVersion: string | null;
}

/** The objects of these kinds that match now. */
export interface TargetQuery {
  readonly kinds: readonly CatalogKind[];
  readonly filter: Filter;
  /** The number of objects that the caller expects. */
  readonly expect: number;
}

/**
 * @throws PortolanError BAD_USER_INPUT for a document that cannot be read, or without a cluster where there are several; as
 * `Operation.writeClient`, before any document is read
 */
export async function manifestTargets(
  operation: Operation,
  access: WriteAccess,
  served: ServedResources,
  documents: readonly ManifestDocument[],
): Promise<readonly ResolvedTarget[]> {
  const clusters = documents.map(({ cluster }) => clusterOf(operation, cluster));
  await Promise.all([...new Set(clusters)].map((cluster) => operation.writeClient(cluster)));
  const manifests = await documentManifests(operation, access, documents);
  const read = documents.map(({ namespace }, index) => ({
    cluster: must(clusters[index], 'the cluster of a document'),
    namespace,
    manifests: must(manifests[index], 'the manifests of a document'),
    index,
  }));
  requireFew(read.reduce((sum, { manifests }) => sum + manifests.length, 0));
  return Promise.all(
    read.flatMap(({ cluster, namespace, manifests, index }) =>
      manifests.map((manifest) =>
        ofManifest(served, cluster, namespace, manifest, `docs[${index}], ${manifest.place}`),
      ),
    ),
  );
}

/** @throws PortolanError BAD_USER_INPUT for a text that is no id. */
export async function objectTargets(
  operation: Operation,
  served: ServedResources,
  objects: readonly TargetObject[],
): Promise<readonly ResolvedTarget[]> {
  requireFew(objects.length);
  const wanted = objects.map(({ id, uid, resourceVersion }) => ({
    identity: decodeObjectId(id),
    uid,
    resourceVersion,
  }));
  return Promise.all(
    wanted.map(async ({ identity, uid, resourceVersion }) => ({
      ...(await ofIdentity(operation, served, identity)),
      preconditions: { uid, resourceVersion },
    })),
  );
}

/** An object, and two states of it: what an editor was given, and what came back. */
export interface EditedObject {
  readonly object: TargetObject;
  readonly base: ManifestDocument;
  readonly edited: ManifestDocument;
}

/**
 * The object of an edit.
 * @throws PortolanError BAD_USER_INPUT for a text that is no id, and for `base` or `edited` that is not exactly one object
 */
export async function editedTarget(
  operation: Operation,
  access: WriteAccess,
  served: ServedResources,
  { object, base, edited }: EditedObject,
): Promise<ResolvedTarget> {
  const [target] = await objectTargets(operation, served, [object]);
  // Before a text is read, as in manifestTargets.
  await operation.writeClient(must(target, 'a target').target.cluster);
  const names = ['base', 'edited'];
  const read = await documentManifests(operation, access, [base, edited], (index) => `\`${names[index]}\``);
  const [before, after] = read.map((manifests, index) => {
    const [only] = manifests;
    if (only !== undefined && manifests.length === 1) return only;
    throw new PortolanError(
      'BAD_USER_INPUT',
      `\`${names[index]}\` has ${manifests.length} objects; it is exactly one.`,
    );
  });
  return {
    ...must(target, 'a target'),
    base: must(before, 'a base').object,
    manifest: must(after, 'an edited object').object,
  };
}

/** An object, and how its recorded state is found. */
export interface RevertedObject {
  readonly object: TargetObject;
  /** @param now in milliseconds since the epoch @throws PortolanError for a state that is not recorded, or that the caller may not get */
  state(kind: CatalogKind, identity: Identity, now: number): Promise<RecordedState>;
}

interface RecordedState {
  readonly body: Json;
  readonly uid: string | null;
  readonly unchangedAt: string | null;
}

/** The object of a revert. @throws PortolanError BAD_USER_INPUT for a text that is no id, and as `state` */
export async function revertedTarget(
  operation: Operation,
  served: ServedResources,
  { object, state }: RevertedObject,
  now: number,
): Promise<ResolvedTarget> {
  const [found] = await objectTargets(operation, served, [object]);
  const resolved = must(found, 'a target');
  const { target, error } = resolved;
  if (error !== null || target.name === null) return resolved;
  const identity = identityOf(target, target.name);
  const kind = operation.generation.kind(identity.key);
  if (kind === undefined || !kind.clusters.includes(identity.cluster)) {
    const why = `Portolan does not read ${identity.key} of the cluster ${identity.cluster}, so it has no history of it.`;
    return { ...resolved, error: writeError('UNSUPPORTED', why) };
  }
  const { body, uid, unchangedAt } = await withSettledRights(operation, () => state(kind, identity, now));
  return { ...resolved, manifest: body, stateUid: uid, unchangedAt };
}

/** @throws PortolanError FORBIDDEN, CACHE_NOT_READY; BAD_USER_INPUT for a query that writes must not have, or if the count differs. */
export async function queryTargets(
  operation: Operation,
  served: ServedResources,
  { kinds, filter, expect }: TargetQuery,
): Promise<readonly ResolvedTarget[]> {
  requireFew(expect);
  const matching = () =>
    operation.readCells(
      async (cells) => {
        requireVisible(
          viewsOf(cells),
          kinds.map(({ key }) => key),
          filter,
        );
        const identities: Identity[] = [];
        for (const kind of kinds) {
          const clusters = servingClusters(operation, kind, filter);
          if (clusters.length === 0) continue;
          await requireReady(leasesOf(cells), [kind.key], clusters);
          for (const { lease, view } of cells) {
            const matched = await matchingObjects(lease, view, kind, filter, { limit: expect + 1, access: 'list' });
            identities.push(...matched.map(({ identity }) => identity));
          }
        }
        return identities;
      },
      [],
      clustersIn(filter),
    );
  const found = await withSettledRights(operation, matching);
  if (found.length !== expect) {
    const count = found.length > expect ? `more than ${expect}` : found.length;
    throw new PortolanError(
      'BAD_USER_INPUT',
      `The query finds ${count} objects and \`expect\` is ${expect}. Look at the list again, and give its totalCount.`,
    );
  }
  const condition = conditionOf(operation, kinds, filter);
  return Promise.all(
    found.map(async (identity) => ({
      ...(await ofIdentity(operation, served, identity)),
      condition: condition(identity),
    })),
  );
}

/**
 * The condition of each object that a query found: the filter, on the live object.
 * @throws PortolanError BAD_USER_INPUT for a filter that one object alone does not decide.
 */
export function conditionOf(
  { generation }: Pick<Operation, 'generation'>,
  kinds: readonly CatalogKind[],
  filter: Filter,
): (identity: Identity) => Condition {
  requireOwn(filter);
  const health = new Map(kinds.map((kind) => [kind.key, kind.health]));
  const ofStatus = dependsOnStatus(filter);
  return (identity) => ({
    dependsOnStatus: ofStatus,
    refusal(live) {
      const object = { ...identity, body: live, health: health.get(identity.key) };
      if (matches(filter, object)) return null;
      const target = { ...identity, resource: resourceOf(generation.kind(identity.key), identity.key), place: null };
      return writeError('SKIPPED', `The ${nameOfTarget(target)} no longer matches the filter.`);
    },
  });
}

/** Kinds that no query may write: the loss would be too large. */
const neverByQuery = ['namespaces', 'customresourcedefinitions.apiextensions.k8s.io'];

/** @throws PortolanError BAD_USER_INPUT for kinds that no query may write. */
export function requireNamedKinds(words: readonly string[], kinds: readonly CatalogKind[]): void {
  const abstract = kinds.find(isAbstract);
  if (abstract !== undefined) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${abstract.key} is an abstract kind: name the kinds of its members, or give the ids of the objects.`,
    );
  }
  const wide = words.find((word) => word.includes('*'));
  const refused = kinds.find(({ key }) => neverByQuery.includes(key));
  if (wide === undefined && refused === undefined) return;
  const message =
    wide === undefined
      ? `${refused?.key} are never written by a query: give the ids of the objects, or manifests that name them.`
      : `${JSON.stringify(wide)} is never written by a query: name the kinds, or give the ids of the objects.`;
  throw new PortolanError('BAD_USER_INPUT', message);
}

/** The filter of a query: its own and the clusters and namespaces beside it. */
export function filterOf(
  operation: Pick<Operation, 'generation' | 'source'>,
  filter: Filter,
  {
    clusters,
    namespaces,
  }: { readonly clusters: readonly string[] | null; readonly namespaces: readonly string[] | null },
): Filter {
  if (clusters !== null) requireClusters(operation, clusters);
  return conjunction([
    filter,
    ...(clusters === null ? [] : [{ kind: 'clusters', in: clusters } as const]),
    ...(namespaces === null ? [] : [{ kind: 'namespaces', in: namespaces } as const]),
  ]);
}

function requireOwn(filter: Filter): void {
  switch (filter.kind) {
    case 'and':
    case 'or':
      for (const part of filter.of) requireOwn(part);
      return;
    case 'not':
    case 'some':
      requireOwn(filter.of);
      return;
    case 'related':
    case 'relatedCount':
    case 'used':
      break;
    case 'compare':
    case 'exists':
      if (filter.path.steps[0]?.kind !== 'rollUp') return;
      break;
    default:
      return;
  }
  throw new PortolanError(
    'BAD_USER_INPUT',
    'The filter depends on other objects. Before each write it is evaluated on the live object alone: query the ids first, and give these as `objects`.',
  );
}

function requireFew(count: number): void {
  if (count <= mostObjects) return;
  throw new PortolanError(
    'QUERY_TOO_COSTLY',
    `A mutation writes at most ${mostObjects} objects; these are ${count}. Send several.`,
  );
}

/** The cluster of a document or a set. @throws PortolanError BAD_USER_INPUT, CACHE_NOT_READY without one */
export function clusterOf(operation: Pick<Operation, 'generation' | 'source'>, given: string | null): string {
  if (given !== null) {
    requireClusters(operation, [given]);
    return given;
  }
  const { clusters } = operation.generation;
  const [only, ...others] = clusters;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) {
    throw new PortolanError('CACHE_NOT_READY', 'No cluster is known yet; try again in a moment.');
  }
  throw new PortolanError(
    'BAD_USER_INPUT',
    `There are several clusters; say \`cluster\`: one of ${[...clusters].join(', ')}.`,
  );
}

async function ofManifest(
  served: ServedResources,
  cluster: string,
  namespaceGiven: string | null,
  { apiVersion, kind, namespace, name, object }: Manifest,
  place: string,
): Promise<ResolvedTarget> {
  const found = await served.ofManifest(cluster, apiVersion, kind);
  const failed = (error: WriteError, resource: TargetResource): ResolvedTarget => ({
    target: { cluster, resource, namespace, name, place },
    preconditions: anyState,
    condition: null,
    manifest: null,
    error,
  });
  if (isError(found)) {
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion];
    return failed(found, { group, version, plural: '', kind, namespaced: namespace !== null });
  }
  const own = namespace ?? (found.namespaced ? namespaceGiven : null);
  if (found.namespaced && own === null) {
    return failed(
      writeError(
        'INVALID_FIELD',
        `The ${kind} names no namespace: write metadata.namespace, or give \`namespace\` beside the document (--namespace on the command line).`,
        'metadata.namespace',
      ),
      found,
    );
  }
  if (!found.namespaced && own !== null) {
    return failed(
      writeError(
        'INVALID_FIELD',
        `A ${kind} belongs to no namespace: remove metadata.namespace.`,
        'metadata.namespace',
      ),
      found,
    );
  }
  const { uid, resourceVersion } = recordOf(object['metadata']) ?? {};
  return {
    target: { cluster, resource: found, namespace: own, name, place },
    preconditions: {
      uid: typeof uid === 'string' ? uid : null,
      resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : null,
    },
    condition: null,
    manifest: own === namespace ? object : withNamespace(object, own),
    document: object,
    error: null,
  };
}

function withNamespace(object: Json, namespace: string | null): Json {
  return { ...object, metadata: { ...(recordOf(object['metadata']) ?? {}), namespace } };
}

async function ofIdentity(operation: Operation, served: ServedResources, given: Identity): Promise<ResolvedTarget> {
  const { generation } = operation;
  const named = generation.kind(given.key);
  const origin = named === undefined ? null : generation.origin(named, given);
  const identity = origin?.identity ?? given;
  const kind = origin?.kind ?? named;
  const { cluster, namespace, name } = identity;
  const known = resourceOf(kind, identity.key);
  const isFirst = kind?.clusters[0] === cluster;
  const found = isFirst || !generation.clusters.has(cluster) ? known : await served.inCluster(cluster, known);
  const error = !generation.clusters.has(cluster)
    ? writeError('NOT_FOUND', `There is no cluster ${JSON.stringify(cluster)}.`)
    : isError(found)
      ? found
      : null;
  const resource = isError(found) ? known : found;
  return {
    target: { cluster, resource, namespace, name, place: null },
    preconditions: anyState,
    condition: null,
    manifest: null,
    error,
  };
}

/** The resource of a kind of the catalog; without one, only what its key says. */
function resourceOf(kind: CatalogKind | undefined, key: string): TargetResource {
  if (kind !== undefined) return kind.resource;
  const [plural = '', ...group] = key.split('.');
  return { group: group.join('.'), version: 'v1', plural, kind: plural, namespaced: true };
}

/** The identity of a target whose name is known. */
export function identityOf({ cluster, resource, namespace }: WriteTarget, name: string): Identity {
  return { cluster, key: resourceKey(resource), namespace, name };
}
