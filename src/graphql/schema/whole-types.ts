/**
 * Types whose fields are known to be buildable.
 *
 * Fields of types are made when they are first looked at, which is when GraphQLSchema puts all types together: what fails there
 * fails for all kinds. So each kind's types are looked at before, one kind at a time, and what fails costs that kind alone.
 */
import {
  type GraphQLFieldConfig,
  type GraphQLNamedType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';

export class WholeTypes {
  readonly #whole = new Set<GraphQLNamedType>();

  /** Looks at everything that can be reached from these fields. Throws what the building of a type throws. */
  add(roots: readonly GraphQLFieldConfig<never, never>[]): void {
    const met = new Set<GraphQLNamedType>();
    const waiting: GraphQLNamedType[] = roots.flatMap(({ type, args }) => [
      getNamedType(type),
      ...Object.values(args ?? {}).map((argument) => getNamedType(argument.type)),
    ]);
    for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
      if (met.has(type) || this.#whole.has(type)) continue;
      met.add(type);
      if (isInputObjectType(type)) {
        for (const field of Object.values(type.getFields())) waiting.push(getNamedType(field.type));
      } else if (isObjectType(type) || isInterfaceType(type)) {
        for (const field of Object.values(type.getFields())) {
          waiting.push(getNamedType(field.type), ...field.args.map((argument) => getNamedType(argument.type)));
        }
      }
    }
    for (const type of met) this.#whole.add(type);
  }
}
