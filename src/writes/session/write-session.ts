/**
 * The session of one mutation: its caller's clients, its limits, its audit, and its plan.
 *
 *   withWriteSession -> targets -> plan (plan-items.ts)              -> report (session-report.ts)
 *                               -> write (run/run-writes.ts), perhaps several times   -> report
 *
 * A mutation may plan and write in several steps. They share the session, so the bounds hold for all of them together.
 *
 * Owns: the audit and the limits around each request, and the binding of plans. Never: writes as the gateway.
 */
import { PortolanError } from '../../base/errors.ts';
import { configuredPath } from '../../catalog/describe/redacted-paths.ts';
import { isNamed, resourceKey } from '../../catalog/resources/resource.ts';
import type { Operation } from '../../operation/operation.ts';
import { requireWrites, type WriteAccess, type WriteNote } from '../../operation/write-access.ts';
import { storedVersions } from '../../query/read/fetch.ts';
import { pathOfChange, type ValueChange } from '../diff/field-changes.ts';
import { requestedPaths } from '../diff/requested-paths.ts';
import { openPlan, type Plan, type PlanScope, tagOf } from '../plan/plan-id.ts';
import { subresourceOf, type TargetResource, type WriteIntent } from '../request/write-intent.ts';
import type { RunContext } from '../run/write-item.ts';
import { checkOptions, type WriteOptions } from '../run/write-options.ts';
import { MergeSchemas } from '../targets/merge-schemas.ts';
import { isError, ServedResources } from '../targets/served-resources.ts';
import { identityOf, mostObjects } from '../targets/wanted-targets.ts';
import { type ReportedItem, reportedItem } from './reported-item.ts';

/** Who follows a mutation while it is carried out. */
export interface Follower {
  /** Ends the mutation: what is not begun is SKIPPED. */
  readonly signal: AbortSignal | undefined;
  /** Called when the objects are known. */
  begun(total: number): void;
  /** Called for each object that is written or planned, with `seen` false; once more for one that was undone. */
  told(item: ReportedItem): void;
  /** Called at the end. @param release to be called when the items are dropped: until then their bytes count */
  ended(release: () => void): void;
}

interface SessionStart {
  /** The name of the mutation: a plan is bound to it. */
  readonly verb: string;
  /** The operation's name in its document. */
  readonly operationName: string | null;
  /** All arguments that change what is written: a plan is bound to them. */
  readonly args: unknown;
  readonly options: WriteOptions;
  /** Absent: there is none, and the signal of the operation ends the mutation. */
  readonly follower?: Follower | undefined;
}

export interface WriteSession {
  readonly operation: Operation;
  readonly access: WriteAccess;
  readonly options: WriteOptions;
  readonly scope: PlanScope;
  /** The plan that is carried out. */
  readonly plan: Plan | null;
  readonly served: ServedResources;
  readonly context: RunContext;
  readonly follower: Follower;
}

/** The manager of fields, if the caller names none. */
const defaultManager = 'portolan';

/**
 * Does the work of one mutation.
 * @throws PortolanError FORBIDDEN for a read-only gateway; BAD_USER_INPUT for options or a plan that cannot be used.
 */
export async function withWriteSession<T>(
  operation: Operation,
  { verb, operationName, args, options, follower: given }: SessionStart,
  work: (session: WriteSession) => Promise<T>,
): Promise<T> {
  const access = requireWrites(operation.source.writes, operation);
  checkOptions(options);
  const { signal } = operation;
  const follower = given ?? { signal, begun: () => {}, told: () => {}, ended: (release) => release() };
  const held = access.gate.held();
  try {
    const scope: PlanScope = { key: access.planKey, caller: operation.caller, verb, args };
    const plan = options.plan === null ? null : openPlan(scope, options.plan);
    const client = clientsOf(operation);
    const served = new ServedResources(client, follower.signal);
    const context = contextOf({ operation, access, options, operationName, client, served, scope, held, follower });
    return await work({ operation, access, options, scope, plan, served, context, follower });
  } finally {
    follower.ended(() => held.end());
  }
}

/** One client for each cluster. */
function clientsOf(operation: Operation): RunContext['client'] & Operation['writeClient'] {
  const clients = new Map<string, ReturnType<Operation['writeClient']>>();
  return (cluster) => {
    const known = clients.get(cluster) ?? operation.writeClient(cluster);
    clients.set(cluster, known);
    return known;
  };
}

/** Counts the objects that one operation writes, in all its fields. @throws PortolanError QUERY_TOO_COSTLY */
export function chargeObjects(operation: Operation, count: number): void {
  const total = operation.sharedByRepeats('objects written', () => ({ count: 0 }));
  total.count += count;
  if (total.count <= mostObjects) return;
  throw new PortolanError(
    'QUERY_TOO_COSTLY',
    `An operation writes at most ${mostObjects} objects; these are ${total.count}. Send several.`,
  );
}

interface Parts {
  readonly operation: Operation;
  readonly access: WriteAccess;
  readonly options: WriteOptions;
  readonly operationName: string | null;
  readonly client: ReturnType<typeof clientsOf>;
  readonly served: ServedResources;
  readonly scope: PlanScope;
  readonly held: ReturnType<WriteAccess['gate']['held']>;
  readonly follower: Follower;
}

function contextOf(parts: Parts): RunContext {
  const { operation, access, options, operationName, client, served, scope, held, follower } = parts;
  const { caller } = operation;
  const { signal } = follower;
  const schemas = new MergeSchemas(client, operation.source.openApi.documents, signal);
  const redacted = (resource: TargetResource) => redactedPathsOf(operation, access, resource);
  const note = async (
    stage: WriteNote['stage'],
    intent: WriteIntent,
    { changes, sent }: { readonly changes: readonly ValueChange[]; readonly sent: WriteIntent },
    outcome?: string,
  ) => {
    const { cluster, resource, namespace, name } = intent.target;
    const changedPaths =
      changes.length > 0 ? changes.map(({ steps }) => pathOfChange(steps)) : requestedPaths(sent.action);
    await access.audit?.note({
      stage,
      caller,
      operation: operationName,
      verb: intent.action.verb,
      dryRun: false,
      planId: options.plan,
      requestId: options.requestId,
      cluster,
      resource: resourceKey(resource),
      namespace,
      name,
      subresource: subresourceOf(intent.action),
      changedPaths,
      ...(outcome === undefined ? {} : { outcome }),
    });
  };
  // An object counts once, however often others change it meanwhile, and when it is undone.
  const charged = new WeakSet<object>();
  return {
    client,
    enter: (cluster) => access.gate.enter(cluster, caller.name, signal),
    hold: (bytes) => held.add(bytes),
    evictionVersion: (cluster) => served.evictionVersion(cluster),
    redacted,
    mergeSchema: (cluster, resource) => schemas.ofResource(cluster, resource),
    async resourceOf(cluster, apiVersion, kind) {
      const found = await served.ofManifest(cluster, apiVersion, kind);
      return isError(found) ? null : found;
    },
    meter: access.meter,
    told: (outcome) => follower.told(reportedItem(redacted, outcome, false)),
    fieldManager: options.fieldManager ?? defaultManager,
    signal,
    async before(intent, changes, sent = intent) {
      if (!charged.has(intent.target)) await access.charge(caller, 1);
      charged.add(intent.target);
      await note('intended', intent, { changes, sent });
    },
    after: (intent, outcome, changes, sent = intent) => note('outcome', intent, { changes, sent }, outcome),
    tag: ({ target, uid }, changes) => tagOf(scope, target, uid, changes),
    async storedVersion({ target, action: { verb } }) {
      if (verb === 'delete' || verb === 'evict' || target.name === null) return null;
      const identity = identityOf(target, target.name);
      const [found] = await operation
        .at(identity.cluster)
        .source.feed.lease((lease) => storedVersions(lease, [identity]));
      return found?.resourceVersion ?? null;
    },
  };
}

/**
 * The paths of the kind in the catalog. For a kind that is not ingested, the data of Secrets and the paths that --redact has for its
 * name.
 */
function redactedPathsOf(
  { generation }: Operation,
  { redact }: WriteAccess,
  resource: TargetResource,
): readonly string[] {
  const key = resourceKey(resource);
  const known = generation.kind(key);
  if (known !== undefined) return known.redacted;
  const configured = redact.map(configuredPath).filter((entry) => isNamed(resource, entry.resource));
  return [...(key === 'secrets' ? ['data', 'stringData'] : []), ...configured.map(({ path }) => path)];
}
