/** Kinds and collections of a store in the writer's memory. */
import type { HealthRules } from '../../catalog/health/declared-health.ts';
import { healthVersion } from '../../catalog/health/health.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import { hashText } from '../../catalog/tree/structure-hash.ts';
import { createRedaction, type Redaction } from '../objects/redaction.ts';
import type { KindNamesOnWire, Recipe } from '../types/prepared-object.ts';
import type { IngestStatus, ResourceHandle } from '../types/progress.ts';
import type { PromotedTable } from './promoted-table.ts';

export interface StoredKind {
  readonly id: number;
  readonly group: string;
  readonly plural: string;
  readonly key: string;
  readonly promoted: PromotedTable;
  /** Changes when the rules of the health change. */
  health: HealthFill;
}

/** How far the stored health of a kind follows its rules. */
export interface HealthFill {
  /** The hash of the newest rules. */
  readonly rules: string;
  /** Objects with a greater id may have the health of earlier rules; null if none has. */
  readonly from: number | null;
}

/** One collection: a resource of a cluster, over all namespaces or in one. */
export interface StoredResource {
  readonly handle: ResourceHandle;
  readonly kind: StoredKind;
  names: KindNamesOnWire;
  redaction: Redaction;
  /** The declared rules of the health. */
  health: HealthRules | undefined;
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
export function derivedFrom(
  described: DescribedResource,
): Pick<StoredResource, 'names' | 'redaction' | 'health' | 'shape'> {
  return {
    names: { apiVersion: apiVersionOf(described.resource), kind: described.resource.kind },
    redaction: createRedaction(described.redacted),
    health: described.health,
    shape: shapeOf(described),
  };
}

/** The recipe by which objects of the collection are prepared. */
export function recipeOf({ names, redaction, health, kind }: StoredResource): Recipe {
  const slots = kind.promoted.slots.map(({ path, type }) => ({ path: path.text, type }));
  return { names, redacted: redaction.redacted, ...(health === undefined ? {} : { health }), slots };
}

/** A stored body is outdated under another structure hash, served version or set of redacted paths. */
function shapeOf(described: DescribedResource): string {
  return [described.shapeHash, described.resource.version, ...[...described.redacted].sort()].join(' ');
}

/** The hash of the rules by which the health of a kind is found. */
export function healthRulesHash({ health = [] }: Pick<DescribedResource, 'health'>): string {
  return hashText(`${healthVersion} ${JSON.stringify(health)}`);
}
