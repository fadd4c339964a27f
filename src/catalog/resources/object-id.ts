/**
 * Object ids: an identity as opaque text. The id is the same in every answer and in every store.
 *
 *   base64url( version byte, JSON [ cluster, resourceKey, namespace or "", name ] )
 *
 * Example: the Pod shop/web of cluster east is the byte 1 and ["east","pods","shop","web"].
 */

export const objectIdVersion = 1;

/** @param namespace empty for cluster-scoped kinds. */
export function objectIdOf(cluster: string, key: string, namespace: string, name: string): string {
  const json = JSON.stringify([cluster, key, namespace, name]);
  return Buffer.concat([Buffer.from([objectIdVersion]), Buffer.from(json)]).toString('base64url');
}
