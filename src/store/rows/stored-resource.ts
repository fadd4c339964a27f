/** Kinds and collections of a store in the writer's memory. */
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import { createRedaction, type Redaction } from '../objects/redaction.ts';
import type { KindNamesOnWire } from '../types/prepared-object.ts';
import type { IngestStatus, ResourceHandle } from '../types/progress.ts';
import type { PromotedTable } from './promoted-table.ts';

export interface StoredKind {
  readonly id: number;
  readonly group: string;
  readonly plural: string;
  readonly key: string;
  readonly promoted: PromotedTable;
}

/** One collection: a resource of a cluster, over all namespaces or in one. */
export interface StoredResource {
  readonly handle: ResourceHandle;
  readonly kind: StoredKind;
  names: KindNamesOnWire;
  redaction: Redaction;
  /** Identifies the inputs of a body besides its object (`shapeOf`). A replace compares it with `bodyShape`. */
  shape: string;
  bodyShape: string;
  /** Null until the first replace is committed. */
  rowset: number | null;
  lastResourceVersion: string | null;
  synced: boolean;
  objects: number;
  status: IngestStatus;
  /** The description that was declared in this process; null when it must be read from its row. */
  described: DescribedResource | null;
}

/** The members of a collection that follow from its description. */
export function derivedFrom(described: DescribedResource): Pick<StoredResource, 'names' | 'redaction' | 'shape'> {
  return {
    names: { apiVersion: apiVersionOf(described.resource), kind: described.resource.kind },
    redaction: createRedaction(described.redacted),
    shape: shapeOf(described),
  };
}

/** A stored body is outdated under another structure hash, served version or set of redacted paths. */
function shapeOf(described: DescribedResource): string {
  return [described.shapeHash, described.resource.version, ...[...described.redacted].sort()].join(' ');
}
