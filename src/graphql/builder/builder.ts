/** The Pothos builder of the static schema, and the TypeScript types of its GraphQL types. */

import type SchemaBuilder from '@pothos/core';
import type { AggregateSource } from '../../reads/aggregates/aggregate-source.ts';
import type { FacetSource } from '../../reads/aggregates/facet-source.ts';
import type { ConnectionSource, EdgeSource, PageInfoSource } from '../../reads/lists/list-connection.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import type { RolledUpHealth } from '../../reads/related/rolled-up-health.ts';
import type { OperationContext } from '../generation/generation.ts';
import type { ClusterSource, ResourceSource } from './resource-source.ts';

type Passed<T> = { Input: T; Output: T };

export interface StaticTypes {
  Context: OperationContext;
  DefaultFieldNullability: true;
  Scalars: {
    ID: Passed<string>;
    DateTime: Passed<string>;
    Duration: Passed<string>;
    Quantity: Passed<string | number>;
    IntOrString: Passed<string | number>;
    Int64: Passed<unknown>;
    Path: Passed<string>;
    JSON: Passed<unknown>;
    StringMap: Passed<unknown>;
    QuantityMap: Passed<unknown>;
  };
  Interfaces: { KubernetesObject: ObjectSource };
  Objects: {
    PageInfo: PageInfoSource;
    KubernetesObjectConnection: ConnectionSource;
    KubernetesObjectEdge: EdgeSource;
    ObjectMeta: ObjectSource;
    Resource: ResourceSource;
    Aggregate: AggregateSource;
    Facet: FacetSource;
    Cluster: ClusterSource;
    Health: RolledUpHealth;
  };
}

export type Builder = InstanceType<typeof SchemaBuilder<StaticTypes>>;

/** What makes the fields of an object type with this parent. */
export type ObjectFields<T> = PothosSchemaTypes.ObjectFieldBuilder<Builder['$inferSchemaTypes'], T>;
