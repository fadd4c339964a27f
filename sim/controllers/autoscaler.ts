/**
 * HorizontalPodAutoscalers of Deployments by the processor time of their Pods. The load is made up: `moveLoad` sets it, and the controller
 * spreads it over the Pods that there are.
 */
import { asArray, asObject, asString, at, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { quantityText } from '../resources/quantity.ts';
import { conditionOf } from '../world/conditions.ts';
import type { Controller } from '../world/controller-loop.ts';
import { podResources } from '../world/pod-resources.ts';
import { isDeleting, numberAt, type World } from '../world/world.ts';
import { deployments } from './workload-controllers.ts';

export const autoscalers = 'horizontalpodautoscalers.autoscaling';
const by = 'kube-controller-manager';

/** The Deployment that an autoscaler scales. */
function targetOf(world: World, scaler: Stored): Stored | undefined {
  const { kind, name } = asObject(at(scaler.object, 'spec', 'scaleTargetRef'));
  return kind === 'Deployment' ? world.get(deployments, scaler.namespace, asString(name)) : undefined;
}

/** The percentage of its request that each Pod should use. */
function targetUtilization(scaler: Stored): number {
  const [metric] = asArray(at(scaler.object, 'spec', 'metrics')).filter(isObject);
  return numberAt(metric ?? {}, 'resource', 'target', 'averageUtilization') || 70;
}

function utilizationOf(scaler: Stored): number | undefined {
  const [metric] = asArray(at(scaler.object, 'status', 'currentMetrics')).filter(isObject);
  const found = at(metric ?? {}, 'resource', 'current', 'averageUtilization');
  return typeof found === 'number' ? found : undefined;
}

interface Reading {
  readonly current: number;
  readonly desired: number;
  readonly utilization: number;
  /** Whether the wanted number of Pods is beyond a bound: 'TooManyReplicas' or 'TooFewReplicas'. */
  readonly limited: string | undefined;
  readonly scaled: boolean;
}

function report(world: World, scaler: Stored, deployment: Stored, reading: Reading): void {
  const { current, desired, utilization, limited, scaled } = reading;
  const request = podResources(asObject(at(deployment.object, 'spec', 'template', 'spec'))).cpu;
  const status: JsonObject = {
    ...(scaled ? { lastScaleTime: world.nowText() } : timeOf(scaler)),
    currentReplicas: current,
    desiredReplicas: desired,
    currentMetrics: [
      {
        type: 'Resource',
        resource: {
          name: 'cpu',
          current: {
            averageUtilization: utilization,
            averageValue: quantityText(Math.round((request * utilization) / 100), 'decimal'),
          },
        },
      },
    ],
    conditions: [
      conditionOf(world, scaler, 'AbleToScale', true, 'ReadyForNewScale', 'recommended size matches current size'),
      conditionOf(
        world,
        scaler,
        'ScalingActive',
        true,
        'ValidMetricFound',
        'the HPA was able to compute the replica count',
      ),
      conditionOf(
        world,
        scaler,
        'ScalingLimited',
        limited !== undefined,
        limited ?? 'DesiredWithinRange',
        limited === undefined
          ? 'the desired count is within the acceptable range'
          : 'the desired count is out of range',
      ),
    ].map(({ observedGeneration: _, ...condition }) => condition),
  };
  world.setStatus(scaler, status, by);
}

const timeOf = (scaler: Stored): JsonObject => {
  const lastScaleTime = at(scaler.object, 'status', 'lastScaleTime');
  return lastScaleTime === undefined ? {} : { lastScaleTime };
};

/** Gives the Pods of an autoscaler a new load, in percent of what they request, and scales its Deployment by it. */
export function moveLoad(world: World, scaler: Stored, utilization: number): void {
  const deployment = targetOf(world, scaler);
  if (!deployment) return;
  const current = numberAt(deployment.object, 'spec', 'replicas');
  const wanted = Math.ceil((current * utilization) / targetUtilization(scaler));
  const { minReplicas, maxReplicas } = asObject(scaler.object.spec);
  const desired = Math.min(Number(maxReplicas), Math.max(Number(minReplicas ?? 1), wanted));
  const limited = wanted > desired ? 'TooManyReplicas' : wanted < desired ? 'TooFewReplicas' : undefined;
  const scaled = desired !== current;
  report(world, scaler, deployment, { current, desired, utilization, limited, scaled });
  if (!scaled) return;
  world.emit(
    scaler,
    'Normal',
    'SuccessfulRescale',
    `New size: ${desired}; reason: cpu resource utilization (percentage of request) ${desired > current ? 'above' : 'below'} target`,
    'horizontal-pod-autoscaler',
  );
  world.patchSpec(deployment, { replicas: desired }, 'horizontal-pod-autoscaler');
}

export function autoscalerController(world: World): Controller {
  return {
    name: 'horizontalpodautoscaler',
    storage: autoscalers,
    watches: {
      [deployments]: ({ stored }) =>
        world
          .list(autoscalers, stored.namespace)
          .filter((scaler) => targetOf(world, scaler)?.name === stored.name)
          .map(({ key }) => key),
    },
    reconcile: (scaler) => {
      const deployment = targetOf(world, scaler);
      if (isDeleting(scaler) || !deployment) return;
      const current = numberAt(deployment.object, 'spec', 'replicas');
      const before = numberAt(scaler.object, 'status', 'currentReplicas');
      const known = utilizationOf(scaler);
      if (known !== undefined && before === current) return;
      const target = targetUtilization(scaler);
      const utilization =
        known === undefined || before === 0
          ? Math.round(target * (0.9 + world.random() * 0.1))
          : Math.max(1, Math.round((known * before) / Math.max(1, current)));
      report(world, scaler, deployment, {
        current,
        desired: current,
        utilization,
        limited:
          current >= numberAt(scaler.object, 'spec', 'maxReplicas') && utilization > target
            ? 'TooManyReplicas'
            : undefined,
        scaled: false,
      });
    },
  };
}
