/**
 * pods/eviction: removes a Pod, unless a PodDisruptionBudget forbids it. Source: the eviction storage of kube-apiserver.
 *
 * - A Pod that is Pending, has ended or is being deleted needs no budget.
 * - Other Pods need the budget that selects them, if there is one. Two budgets are an error.
 * - A Pod that is not ready is no disruption if the rest is healthy enough, or if the budget always allows it.
 * - A disruption lowers `disruptionsAllowed` and puts the Pod into `disruptedPods`, until the disruption controller counts again.
 * - The Pod gets the condition DisruptionTarget and is deleted with the options of the eviction.
 *
 * A dry run checks the same and writes nothing. Never: waits for a budget; the caller asks again.
 */
import { subresourceKind } from '../builtin/builtin-resources.ts';
import { asArray, asObject, asString, at, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { StatusError, statusErrors } from '../objects/status-error.ts';
import { labelSelectorOf } from '../resources/label-selector.ts';
import { nowText } from '../resources/object-metadata.ts';
import type { ResourceRegistry } from '../resources/resource-registry.ts';
import { metadataOf, metadataString, type ServedResource } from '../resources/served-resource.ts';
import { admit } from './admission.ts';
import { readDeleteOptions } from './delete-options.ts';
import type { ObjectApi } from './object-api.ts';
import { checkIdentity } from './request-checks.ts';
import type { DeleteRequest, WriteOptions } from './write-options.ts';

const budgets = 'poddisruptionbudgets.policy';
/** More Pods than this in `disruptedPods` mean that no controller counts them. */
const maxDisruptedPods = 2000;

export class Evictions {
  readonly #api: ObjectApi;
  readonly #registry: ResourceRegistry;

  constructor(api: ObjectApi, registry: ResourceRegistry) {
    this.#api = api;
    this.#registry = registry;
  }

  /** Evicts the Pod of that name. Throws a Status of 429 when a budget forbids it now, of 500 when it has several budgets. */
  evict(pods: ServedResource, namespace: string, name: string, body: JsonObject, options: WriteOptions): void {
    const request = readEviction(namespace, name, body, options);
    const pod = this.#api.get(pods, namespace, name);
    const wasUnhealthy = needsBudget(pod.object) && this.#disrupt(pod, request.dryRun === true);
    // Of a Pod that goes because it is not healthy, real servers want the version that they saw, and not that of the caller.
    const resourceVersion = wasUnhealthy ? { resourceVersion: String(pod.revision) } : {};
    this.#delete(pods, pod, { ...request, preconditions: { ...request.preconditions, ...resourceVersion } });
  }

  /** Asks the budget of a Pod, and counts the disruption. True if the Pod goes because it is not healthy. */
  #disrupt(pod: Stored, dryRun: boolean): boolean {
    const [budget, ...others] = this.#budgetsOf(pod);
    if (!budget) return false;
    if (others.length > 0) {
      const message =
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
      throw new StatusError(500, '', message);
    }
    if (!isReady(pod.object) && mayLoseUnhealthy(budget.object)) return true;
    refuseDisruption(budget);
    if (dryRun) return false;
    const status = asObject(budget.object.status);
    const left = numberOf(status, 'disruptionsAllowed') - 1;
    const disruptedPods = { ...asObject(status.disruptedPods), [pod.name]: nowText(this.#api.clock) };
    const changed: JsonObject = { ...status, disruptionsAllowed: left, disruptedPods };
    if (left === 0) changed.conditions = withoutDisruptions(budget.object, nowText(this.#api.clock));
    const resource = this.#registry.findStorage(budget.storage);
    if (!resource) return false;
    const trusted = { trusted: true, subresource: 'status', fieldManager: 'kube-apiserver' } as const;
    this.#api.update(resource, budget.namespace, budget.name, { ...budget.object, status: changed }, trusted);
    return false;
  }

  #budgetsOf(pod: Stored): Stored[] {
    const labels = asObject(metadataOf(pod.object).labels);
    return this.#api.store.list(budgets, pod.namespace).filter((budget) => {
      const selector = at(budget.object, 'spec', 'selector');
      return isObject(selector) && labelSelectorOf(selector)(labels);
    });
  }

  #delete(pods: ServedResource, pod: Stored, request: DeleteRequest): void {
    const { namespace, name } = pod;
    // A deletion that is not meant for this Pod is refused before the Pod is marked.
    this.#api.delete(pods, namespace, name, { ...request, dryRun: true });
    if (request.dryRun === true) return;
    const status = asObject(pod.object.status);
    const conditions = [
      ...asArray(status.conditions).filter((item) => asObject(item).type !== 'DisruptionTarget'),
      {
        type: 'DisruptionTarget',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: nowText(this.#api.clock),
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      },
    ];
    const trusted = { trusted: true, subresource: 'status' } as const;
    const marked = this.#api.update(
      pods,
      namespace,
      name,
      { ...pod.object, status: { ...status, conditions } },
      trusted,
    );
    const { uid, resourceVersion } = request.preconditions ?? {};
    const preconditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion: String(marked.revision) }),
    };
    this.#api.delete(pods, namespace, name, { ...request, preconditions });
  }
}

/** The options of the deletion in an Eviction. Throws a Status for another kind or name, or for options that contradict. */
function readEviction(namespace: string, name: string, body: JsonObject, options: WriteOptions): DeleteRequest {
  const kind = subresourceKind('Eviction');
  const apiVersion = body.apiVersion === 'policy/v1beta1' ? 'policy/v1' : body.apiVersion;
  const { onUnknownFields } = options;
  const given = checkIdentity(kind, namespace, '', { ...body, apiVersion });
  const eviction = admit(kind, given, 'object', onUnknownFields ? { onUnknownFields } : {});
  if (metadataString(eviction, 'name') !== name) {
    throw statusErrors.badRequest('name in URL does not match name in Eviction object');
  }
  const deletion = asObject(eviction.deleteOptions);
  if (deletion.ignoreStoreReadErrorWithClusterBreakingPotential === true) {
    const field = 'deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential';
    const message = 'Invalid value: true: can not be set for pod eviction, try after removing the option';
    throw statusErrors.invalid('policy', 'Eviction', name, [{ reason: 'FieldValueInvalid', message, field }]);
  }
  const asked = asArray(deletion.dryRun);
  if (options.dryRun === true && asked.length > 1) {
    const message = `Non-matching dry-run options in request and content: [All] and [${asked.map(asString).join(' ')}]`;
    throw new StatusError(500, '', message);
  }
  const request = readDeleteOptions(deletion);
  return { ...request, dryRun: options.dryRun === true || request.dryRun === true };
}

function needsBudget(pod: JsonObject): boolean {
  const phase = asString(at(pod, 'status', 'phase'));
  return !['Pending', 'Succeeded', 'Failed'].includes(phase) && metadataOf(pod).deletionTimestamp === undefined;
}

function isReady(pod: JsonObject): boolean {
  return asArray(at(pod, 'status', 'conditions')).some(
    (item) => asObject(item).type === 'Ready' && asObject(item).status === 'True',
  );
}

/** Whether the deletion of a Pod that is not healthy is no disruption of its budget. */
function mayLoseUnhealthy(budget: JsonObject): boolean {
  if (at(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const status = asObject(budget.status);
  const desired = numberOf(status, 'desiredHealthy');
  return desired > 0 && numberOf(status, 'currentHealthy') >= desired;
}

/** Throws a Status when the budget allows no disruption. */
function refuseDisruption(budget: Stored): void {
  const status = asObject(budget.object.status);
  const { name } = budget;
  const refuse = (message: string, retryAfterSeconds: number): StatusError =>
    statusErrors.tooManyRequests(
      "Cannot evict pod as it would violate the pod's disruption budget.",
      [{ reason: 'DisruptionBudget', message }],
      retryAfterSeconds,
    );
  if (numberOf(status, 'observedGeneration') < Number(metadataOf(budget.object).generation ?? 0)) {
    throw refuse(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (Object.keys(asObject(status.disruptedPods)).length > maxDisruptedPods) {
    const why = 'too many pending evictions not confirmed by PDB controller';
    const about = { group: 'policy', plural: 'poddisruptionbudget' };
    throw statusErrors.forbidden(
      about,
      name,
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
      [
        {
          reason: 'DisruptionBudget',
          message: `The disruption budget ${name} does not allow evicting pods currently: ${why}`,
        },
      ],
    );
  }
  if (numberOf(status, 'disruptionsAllowed') > 0) return;
  throw refuse(whyForbidden(name, status), 0);
}

function whyForbidden(name: string, status: JsonObject): string {
  const condition = conditionsOf(status).find((item) => item.type === 'DisruptionAllowed');
  const why = condition?.status === 'False' ? asString(condition.message) : '';
  const not = `The disruption budget ${name} does not allow evicting pods currently`;
  if (why !== '' && condition?.reason === 'SyncFailed') return `${not} because it failed sync: ${why}`;
  const [desired, current] = [numberOf(status, 'desiredHealthy'), numberOf(status, 'currentHealthy')];
  if (current <= desired)
    return `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`;
  return why === '' ? not : `${not} (${asString(condition?.reason)}): ${why}`;
}

/** The conditions of a budget whose last disruption was given away. */
function withoutDisruptions(budget: JsonObject, now: string): JsonObject[] {
  const conditions = conditionsOf(asObject(budget.status));
  const known = conditions.find((item) => item.type === 'DisruptionAllowed');
  return [
    ...conditions.filter((item) => item !== known),
    {
      type: 'DisruptionAllowed',
      status: 'False',
      reason: 'InsufficientPods',
      message: '',
      lastTransitionTime: known?.status === 'False' ? known.lastTransitionTime : now,
      observedGeneration: at(budget, 'status', 'observedGeneration'),
    },
  ];
}

function conditionsOf(status: JsonObject): JsonObject[] {
  return asArray(status.conditions).filter(isObject);
}

function numberOf(object: JsonObject, key: string): number {
  return Number(object[key] ?? 0);
}
