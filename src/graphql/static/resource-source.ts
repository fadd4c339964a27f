/** The parent value of the resolvers of the type Resource: a resource of one cluster. */
import type { CatalogKind, DescribedResource } from '../../catalog/resources/catalog.ts';
import type { KindLayout } from '../../store/types/kind-layout.ts';
import type { ResourceProgress } from '../../store/types/progress.ts';

export interface ResourceSource {
  readonly state: ResourceProgress;
  described(): Promise<DescribedResource>;
  readonly kind: CatalogKind | undefined;
  readonly layout: KindLayout | undefined;
}
