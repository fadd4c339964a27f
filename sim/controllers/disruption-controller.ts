/**
 * Keeps the status of each PodDisruptionBudget equal to the Pods that it selects. A Pod whose eviction the API server allowed
 * (`disruptedPods`) counts as unhealthy until it is being deleted, or for two minutes.
 */
import { asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { labelSelectorOf } from '../resources/label-selector.ts';
import { metadataOf } from '../resources/served-resource.ts';
import { conditionOf } from '../world/conditions.ts';
import type { Controller } from '../world/controller-loop.ts';
import { keysSelecting, podsSelected, type SelectorOf } from '../world/selected.ts';
import { controllerOf, hasCondition, isDeleting, numberAt, type World } from '../world/world.ts';
import { isActive } from './workload-controllers.ts';

const budgets = 'poddisruptionbudgets.policy';

const selectorOf: SelectorOf = (budget) => labelSelectorOf(at(budget, 'spec', 'selector'));

/** The number of Pods that the controllers of these Pods want: each workload counts once. */
function expectedPods(world: World, pods: readonly Stored[]): number {
  const scales = new Map<string, number>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    const storage = owner?.kind === 'StatefulSet' ? 'statefulsets.apps' : 'replicasets.apps';
    const set = owner && world.get(storage, pod.namespace, asString(owner.name));
    const above = set && controllerOf(set);
    const workload =
      above?.kind === 'Deployment' ? world.get('deployments.apps', pod.namespace, asString(above.name)) : set;
    scales.set(workload?.uid ?? pod.uid, workload ? numberAt(workload.object, 'spec', 'replicas') : 1);
  }
  return [...scales.values()].reduce((sum, count) => sum + count, 0);
}

/** A number, or a percentage of a number rounded up. */
function share(value: unknown, of: number): number {
  if (typeof value === 'number') return value;
  return Math.ceil((Number.parseInt(asString(value), 10) / 100) * of);
}

const deletionTimeoutMs = 120_000;

/** The Pods whose eviction was allowed and whose deletion has not begun. */
function stillDisrupted(world: World, budget: Stored, pods: readonly Stored[]): JsonObject {
  const known = asObject(at(budget.object, 'status', 'disruptedPods'));
  const left = pods.filter((pod) => {
    const since = Date.parse(asString(known[pod.name]));
    return !isDeleting(pod) && since + deletionTimeoutMs > world.clock.now();
  });
  return Object.fromEntries(left.map(({ name }) => [name, known[name]]));
}

export function disruptionController(world: World): Controller {
  return {
    name: 'disruption',
    storage: budgets,
    watches: { pods: keysSelecting(world, budgets, selectorOf) },
    reconcile: (budget) => {
      const selector = selectorOf(budget.object);
      if (isDeleting(budget) || !selector) return;
      const pods = podsSelected(world, budget.namespace, selector).filter(isActive);
      const { minAvailable, maxUnavailable } = asObject(budget.object.spec);
      // A number of Pods is one of those that exist; all else is a share of what their workloads want.
      const expected = typeof minAvailable === 'number' ? pods.length : expectedPods(world, pods);
      const disruptedPods = stillDisrupted(world, budget, pods);
      const healthy = pods.filter((pod) => hasCondition(pod.object, 'Ready') && !(pod.name in disruptedPods)).length;
      const desired =
        maxUnavailable === undefined
          ? share(minAvailable, expected)
          : Math.max(0, expected - share(maxUnavailable, expected));
      const allowed = expected === 0 ? 0 : Math.max(0, healthy - desired);
      const status: JsonObject = {
        observedGeneration: metadataOf(budget.object).generation ?? 1,
        currentHealthy: healthy,
        desiredHealthy: desired,
        expectedPods: expected,
        disruptionsAllowed: allowed,
        ...(Object.keys(disruptedPods).length > 0 ? { disruptedPods } : {}),
        conditions: [
          conditionOf(
            world,
            budget,
            'DisruptionAllowed',
            allowed > 0,
            allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
            '',
          ),
        ],
      };
      world.setStatus(budget, status, 'kube-controller-manager');
    },
  };
}
