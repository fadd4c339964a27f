/** Kinds and collections of a store, as the writer holds them in memory. */
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
  /** What a body depends on besides its object: compared with `bodyShape` at a replace. */
  shape: string;
  bodyShape: string;
  /** Null until the first replace is committed. */
  rowset: number | null;
  lastResourceVersion: string | null;
  synced: boolean;
  objects: number;
  status: IngestStatus;
  /** The description as it was declared in this process; read from its row when it was not. */
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

/** A body may mean something else under another shape, another served version, or other redacted paths. */
function shapeOf(described: DescribedResource): string {
  return [described.shapeHash, described.resource.version, ...[...described.redacted].sort()].join(' ');
}
