/** Walks over GraphQL types in the order in which graphql-js puts a schema together. */
import {
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { messageOf } from '../../base/errors.ts';
import type { Steps } from '../../base/steps.ts';

/** Thrown when the fields of a type cannot be made. */
export class TypeFailure extends Error {
  readonly type: GraphQLNamedType;

  constructor(type: GraphQLNamedType, cause: unknown) {
    super(messageOf(cause), { cause });
    this.type = type;
  }
}

/**
 * All types that `roots` lead to, each once, depth first. A type leads to its interfaces, then to each field's type and arguments.
 * The walk makes the fields of these types. It leaves out a type for which `isOutside` holds, and does not enter it.
 * @throws TypeFailure for a type whose fields cannot be made.
 */
export function* reachableTypes(
  roots: readonly GraphQLNamedType[],
  isOutside: (type: GraphQLNamedType) => boolean,
): Steps<readonly GraphQLNamedType[]> {
  const visited = new Set<GraphQLNamedType>();
  // A stack: the last type is visited next.
  const waiting = roots.toReversed();
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (visited.has(type) || isOutside(type)) continue;
    yield;
    visited.add(type);
    waiting.push(...mentionedTypes(type).reverse());
  }
  return [...visited];
}

/** The named types that a type's interfaces, fields and arguments have, in that order. Makes its fields. @throws TypeFailure */
export function mentionedTypes(type: GraphQLNamedType): GraphQLNamedType[] {
  const found: GraphQLNamedType[] = [];
  const add = (mentioned: GraphQLType): void => void found.push(getNamedType(mentioned));
  try {
    if (isUnionType(type)) for (const member of type.getTypes()) add(member);
    else if (isObjectType(type) || isInterfaceType(type)) {
      for (const each of type.getInterfaces()) add(each);
      for (const field of Object.values(type.getFields())) {
        add(field.type);
        for (const argument of field.args) add(argument.type);
      }
    } else if (isInputObjectType(type)) for (const field of Object.values(type.getFields())) add(field.type);
  } catch (error) {
    throw new TypeFailure(type, error);
  }
  return found;
}
