/** The parent values of the resolvers of the types Resource and Cluster. */
import type { CatalogKind, DescribedResource } from '../../catalog/resources/catalog.ts';
import type { Operation } from '../../operation/operation.ts';
import type { ClusterRow } from '../../store/read/cluster-rows.ts';
import type { KindLayout } from '../../store/types/kind-layout.ts';
import type { ResourceProgress } from '../../store/types/progress.ts';

/** A resource of one cluster. */
export interface ResourceSource {
  /** Reads what a field needs besides. In a subscription it is that of the event. */
  readonly operation: Operation;
  readonly state: ResourceProgress;
  described(): Promise<DescribedResource>;
  readonly kind: CatalogKind | undefined;
  readonly layout: KindLayout | undefined;
}

export interface ClusterSource extends ClusterRow {
  readonly resources: readonly ResourceProgress[];
}
