/** The interface of a generation: one immutable schema, built from one catalog. */
import type { GraphQLSchema } from 'graphql';
import type { Catalog, CatalogKind, Diagnostic } from '../../catalog/resources/catalog.ts';

export interface Generation {
  /** Changes exactly when the catalog does. */
  readonly id: string;
  readonly schema: GraphQLSchema;
  readonly catalog: Catalog;
  /** What could not be built, beyond the catalog's own diagnostics. */
  readonly diagnostics: readonly Diagnostic[];
  /** Names of all clusters that serve a kind, sorted. */
  readonly clusters: ReadonlySet<string>;
  /** The kind of a resourceKey, if it is in this generation. */
  kind(key: string): CatalogKind | undefined;
  /**
   * The kinds that a caller's words name: a GraphQL type, a list root, a resourceKey, or a Kind that only one kind has. With `*`, which
   * stands for any text, all whose type, list or key it fits.
   */
  kinds(words: readonly string[]): readonly CatalogKind[];
}
