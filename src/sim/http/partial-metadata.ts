/** PartialObjectMetadata: any object reduced to its identity and metadata, as clients that count and audit ask for it. */
import type { ServedResource } from '../api/served-resource.ts';
import type { Stored } from '../object-store.ts';

/** Whether an Accept header asks for `kind` of meta.k8s.io as JSON before anything else. */
export function wantsMetadataOnly(accept: string | undefined, kind: string): boolean {
  const first = (accept ?? '').split(',').find((part) => part.trim().startsWith('application/json'));
  return first?.split(';').some((part) => part.trim() === `as=${kind}`) ?? false;
}

/** The reduced object as JSON text. */
export function metadataOnlyText(stored: Stored, resource: ServedResource): string {
  const { metadata } = resource.view.convert(stored.object);
  return JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
}
