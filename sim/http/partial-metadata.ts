/** PartialObjectMetadata: an object reduced to its identity and metadata. */

import type { Stored } from '../objects/object-store.ts';
import type { ServedResource } from '../resources/served-resource.ts';

/** The reduced object as JSON text. */
export function metadataOnlyText(stored: Stored, resource: ServedResource): string {
  const { metadata } = resource.view.convert(stored.object);
  return JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
}
