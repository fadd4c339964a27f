/** A Pod that a controller makes from the template of its owner. */
import { asObject, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import type { World } from '../world/world.ts';
import { quotaRefusal } from './quota-controller.ts';

interface CreatedPod {
  readonly template: JsonObject;
  readonly spec: JsonObject;
  /** Beside those of the template. */
  readonly labels?: JsonObject;
  readonly manager: string;
  /** The source of the Event. */
  readonly component: string;
}

/** Creates a Pod of `owner`, with an Event. Returns why a quota refuses it, or undefined. */
export function createPod(
  world: World,
  owner: Stored,
  { template, spec, labels, manager, component }: CreatedPod,
): string | undefined {
  const refused = quotaRefusal(world, owner.namespace, owner.name, spec);
  if (refused !== undefined) return refused;
  const metadata = {
    generateName: `${owner.name}-`,
    namespace: owner.namespace,
    labels: { ...asObject(at(template, 'metadata', 'labels')), ...labels },
    annotations: asObject(at(template, 'metadata', 'annotations')),
    ownerReferences: [world.ownerReference(owner)],
  };
  const pod = world.create('', 'pods', { metadata, spec }, manager);
  world.emit(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${pod.name}`, component);
  return undefined;
}
