/** A generation: one immutable GraphQL schema, built from one catalog, and the kinds that it serves. */
import type { GraphQLSchema } from 'graphql';
import type { Diagnostic } from '../../catalog/resources/catalog.ts';
import type { Operation } from '../../operation/operation.ts';
import type { OperationSource } from '../../operation/operation-source.ts';
import type { ServedKinds } from '../../operation/served-kinds.ts';
import type { CommonResults, PushOutlet } from './shared-results.ts';

export interface Generation extends ServedKinds {
  readonly schema: GraphQLSchema;
  /** Diagnostics of kinds that could not be built, in addition to the catalog's own. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Makes operations that run on a GraphQL schema. */
export type GraphQLSource = OperationSource<Generation>;

/** The context of resolvers. */
export interface OperationContext {
  readonly portolan: Operation<Generation>;
  /** Takes results of a subscription that need no turn of its event stream. Absent where the transport has none. */
  readonly outlet?: PushOutlet | undefined;
  /** Of a subscription whose results may go to the outlet. */
  readonly common?: CommonResults<Operation<Generation>> | undefined;
}
