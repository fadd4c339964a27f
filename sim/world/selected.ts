/** Which objects select a Pod by its labels: for controllers that follow the Pods of a selector. */
import { asObject, type JsonObject } from '../objects/json.ts';
import type { Stored, StoreEvent } from '../objects/object-store.ts';
import type { LabelPredicate } from '../resources/label-selector.ts';
import { metadataOf } from '../resources/served-resource.ts';
import type { World } from './world.ts';

/** The selector of an object; undefined when it selects nothing. */
export type SelectorOf = (object: JsonObject) => LabelPredicate | undefined;

const labelsOf = (pod: Stored | undefined): JsonObject => (pod ? asObject(metadataOf(pod.object).labels) : {});

/** The Pods in a namespace that a selector matches. */
export function podsSelected(world: World, namespace: string, selector: LabelPredicate): Stored[] {
  return world.list('pods', namespace).filter((pod) => selector(labelsOf(pod)));
}

/** Maps an event of a Pod to the keys of the objects that select it, before or after the event. */
export function keysSelecting(
  world: World,
  storage: string,
  selectorOf: SelectorOf,
): (event: StoreEvent) => readonly string[] {
  const selectors = new WeakMap<Stored, LabelPredicate | undefined>();
  const selectorFor = (stored: Stored): LabelPredicate | undefined => {
    if (!selectors.has(stored)) selectors.set(stored, selectorOf(stored.object));
    return selectors.get(stored);
  };
  return ({ stored, previous }) => {
    const [now, before] = [labelsOf(stored), labelsOf(previous)];
    return world
      .list(storage, stored.namespace)
      .filter((item) => {
        const selector = selectorFor(item);
        return selector !== undefined && (selector(now) || (previous !== undefined && selector(before)));
      })
      .map((item) => item.key);
  };
}
