/**
 * The SDL with `@semanticNonNull` on the fields that an API server's schema requires (the directive of Apollo's nullability specification,
 * which Relay and graphql-code-generator read). GraphQL's own nullability stays: a stored object may be older than the schema of its
 * kind, and an answer shows it as it is.
 *
 *   type PodSpec {
 *     containers: [Container!] @semanticNonNull
 */
import {
  type ConstDirectiveNode,
  type DocumentNode,
  type GraphQLSchema,
  isNonNullType,
  isObjectType,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  printSchema,
} from 'graphql';
import { factsOf } from '../selection/field-facts.ts';

const definition = 'directive @semanticNonNull(levels: [Int] = [0]) on FIELD_DEFINITION';
const directive: ConstDirectiveNode = { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'semanticNonNull' } };

export function printSemanticNonNull(schema: GraphQLSchema): string {
  const { definitions, ...document } = parse(printSchema(schema), { noLocation: true });
  const marked: DocumentNode = {
    ...document,
    definitions: [
      ...parse(definition, { noLocation: true }).definitions,
      ...definitions.map((each) => (each.kind === Kind.OBJECT_TYPE_DEFINITION ? markFields(each, schema) : each)),
    ],
  };
  return print(marked);
}

function markFields(node: ObjectTypeDefinitionNode, schema: GraphQLSchema): ObjectTypeDefinitionNode {
  const type = schema.getType(node.name.value);
  if (!isObjectType(type)) return node;
  const known = type.getFields();
  const fields = (node.fields ?? []).map((field) => {
    const found = known[field.name.value];
    if (found === undefined || isNonNullType(found.type) || !factsOf(found).required) return field;
    return { ...field, directives: [directive] };
  });
  return { ...node, fields };
}
