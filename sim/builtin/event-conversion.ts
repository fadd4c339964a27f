/** Event in its two forms: core/v1 (the stored form) and events.k8s.io/v1. Only field names differ. */
import { asObject, type JsonObject } from '../objects/json.ts';
import type { View } from '../objects/object-store.ts';

const names: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];
const toEvents = new Map(names);
const toCore = new Map(names.map(([core, events]) => [events, core] as const));

function rename(object: JsonObject, map: ReadonlyMap<string, string>, apiVersion: string): JsonObject {
  const out: JsonObject = { kind: 'Event', apiVersion, metadata: asObject(object.metadata) };
  for (const [key, value] of Object.entries(object)) {
    if (key !== 'kind' && key !== 'apiVersion' && key !== 'metadata') out[map.get(key) ?? key] = value;
  }
  return out;
}

/** Shows a stored core/v1 Event as events.k8s.io/v1. */
export const eventsV1View: View = {
  convert: (object) => rename(object, toEvents, 'events.k8s.io/v1'),
  text: JSON.stringify,
};

/** An events.k8s.io/v1 Event in the stored form. */
export function eventsV1ToCore(object: JsonObject): JsonObject {
  return rename(object, toCore, 'v1');
}
