/** The JSON text of an object of the model's API server, which differs with each write. */
import { apiVersionOf, type ModelObject, type ModelResource } from './model-storage.ts';

/** The text has characters that are easily damaged, and a count that no double can hold. */
export function objectText(
  resource: ModelResource,
  { namespace, name, uid, version }: Omit<ModelObject, 'text'>,
  write: number,
): string {
  return JSON.stringify({
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion: version,
      creationTimestamp: '2026-01-31T12:00:00Z',
      labels: { turn: String(write % 3) },
    },
    data: { value: `${write} π \u{1f6a2} \u2028 \u0000 "\\`, count: 0 },
  }).replace('"count":0', `"count":${9_007_199_254_740_993n + BigInt(write)}`);
}
