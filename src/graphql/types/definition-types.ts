/** The types of the definitions that several kinds share: object types (PodSpec) and filter inputs (PodSpec_Filter). */
import type { GraphQLNamedType } from 'graphql';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';

export class DefinitionTypes {
  /** The kinds that have definitions, in the order of their catalog. */
  readonly kinds: readonly CatalogKind[];
  readonly #types = new Map<string, GraphQLNamedType>();
  readonly #owners = new Map<GraphQLNamedType, string>();

  constructor(kinds: readonly CatalogKind[]) {
    this.kinds = kinds;
  }

  /**
   * The definition's type of this name. The first call makes it.
   * @param owner the key of the kind whose tree it is made from.
   */
  type<T extends GraphQLNamedType>(name: string, owner: string, make: () => T): T {
    const known = this.#types.get(name);
    // A name belongs to one way of making a type: object types and inputs have different names.
    if (known !== undefined) return known as T;
    const made = make();
    this.#types.set(name, made);
    this.#owners.set(made, owner);
    return made;
  }

  /** The key of the kind whose tree a definition's type was made from; undefined for other types. */
  ownerOf(type: GraphQLNamedType): string | undefined {
    return this.#owners.get(type);
  }
}
