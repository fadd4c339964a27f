/** What a Pod requests and what bounds it, as the scheduler and quotas count it. Pure. */
import { asArray, asObject, asString, at, isObject, type JsonObject } from '../objects/json.ts';
import { quantityOf } from '../resources/quantity.ts';

/** In thousandths: of a core, of a byte. */
export interface PodResources {
  readonly cpu: number;
  readonly memory: number;
  readonly cpuLimit: number;
  readonly memoryLimit: number;
}

const none: PodResources = { cpu: 0, memory: 0, cpuLimit: 0, memoryLimit: 0 };
/** By spec: all versions of a Pod with the same spec share it. */
const known = new WeakMap<JsonObject, PodResources>();

function ofContainer(container: JsonObject): PodResources {
  const { requests, limits } = asObject(container.resources);
  const [wanted, most] = [asObject(requests), asObject(limits)];
  return {
    cpu: quantityOf(wanted.cpu ?? most.cpu),
    memory: quantityOf(wanted.memory ?? most.memory),
    cpuLimit: quantityOf(most.cpu),
    memoryLimit: quantityOf(most.memory),
  };
}

function combine(a: PodResources, b: PodResources, by: (a: number, b: number) => number): PodResources {
  return {
    cpu: by(a.cpu, b.cpu),
    memory: by(a.memory, b.memory),
    cpuLimit: by(a.cpuLimit, b.cpuLimit),
    memoryLimit: by(a.memoryLimit, b.memoryLimit),
  };
}

const add = (a: number, b: number): number => a + b;

/**
 * The sum over the containers, and over the init containers that keep running; at least what each other init container needs.
 */
export function podResources(spec: JsonObject): PodResources {
  const before = known.get(spec);
  if (before) return before;
  let total = none;
  let most = none;
  for (const item of asArray(spec.containers).filter(isObject)) total = combine(total, ofContainer(item), add);
  for (const item of asArray(spec.initContainers).filter(isObject)) {
    if (item.restartPolicy === 'Always') total = combine(total, ofContainer(item), add);
    else most = combine(most, ofContainer(item), Math.max);
  }
  const found = combine(total, most, Math.max);
  known.set(spec, found);
  return found;
}

/** Whether a Pod takes up space on its node and in quotas: it has not ended. */
export function takesSpace(pod: JsonObject): boolean {
  const phase = asString(at(pod, 'status', 'phase'));
  return phase !== 'Succeeded' && phase !== 'Failed';
}
