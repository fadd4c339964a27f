/**
 * Adds to an error of graphql-js what to write instead.
 *
 *   Unknown argument "where" on field "Query.pods".       Write filter: {metadata: {name: {eq: "web"}}}.
 *   Cannot query field "items" on type "PodConnection".   Write nodes.
 *   Cannot query field "foos" on type "Query".            Write samplecontrollerK8sIoFoos for the list of Foo.
 *
 * Owns: the rules, by the message of graphql-js. The same message comes for a literal (validation) and for a variable (execution).
 * Never: names anything but types, fields and values of the schema, which introspection shows to every caller.
 *
 * Cost: an error reads the fields of its type, and of the types below it. Only an unknown root field reads the fields of the roots.
 * The number of errors of a document is bounded (documents.ts).
 */
import {
  GraphQLError,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { shortList } from '../../base/text/short-list.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { factsOf } from '../selection/field-facts.ts';
import { rootNames } from '../types/root-types.ts';
import { argumentWords, fieldWords, leafWords, operatorWords, rootWords } from './hint-words.ts';

type Fields = Readonly<Record<string, GraphQLField<unknown, unknown>>>;
type InputFields = Readonly<Record<string, GraphQLInputField>>;

interface Rule {
  /** The message up to a suggestion of graphql-js, which a hint replaces. */
  readonly message: RegExp;
  /** The hint by the groups of `message`; null for none. */
  readonly hint: (schema: GraphQLSchema, ...found: string[]) => string | null;
  /** The hint if graphql-js suggests nothing either. */
  readonly otherwise?: Rule['hint'];
}

/** A message about a value: of a literal, or after the place in a variable. */
function ofValue(message: string): RegExp {
  return new RegExp(String.raw`^(?:Variable "\$\w+" has invalid value(?: at [^:]*)?: )?${message}`, 's');
}

function expected(message: string): RegExp {
  return ofValue(String.raw`Expected value of type "(\w+)" ${message}`);
}

const rules: readonly Rule[] = [
  {
    message: /^Unknown argument "(\w+)" on field "(\w+)\.(\w+)"\./,
    hint: (schema, argument = '', type = '', field = '') => {
      const takes = argumentsOf(schema, type, field);
      const known = argumentWords.find(({ words, needs }) => words.includes(argument) && takes.includes(needs));
      return known === undefined ? null : `Write ${known.instead}.`;
    },
    otherwise: (schema, _argument, type = '', field = '') => {
      const takes = argumentsOf(schema, type, field);
      return `${field} takes ${takes.length === 0 ? 'no arguments' : takes.join(', ')}.`;
    },
  },
  {
    message: /^Argument "Query\.(\w+)\(namespace:\)" of type "String!" is required, but it was not provided\.$/,
    hint: (schema, field = '') => {
      const kind = kindsIn(schema).find(({ names }) => names.one === field);
      if (kind === undefined) return null;
      return oneOf([
        `${field}(namespace: "…", name: "…")`,
        `${kind.names.list}(filter: {metadata: {name: {eq: "…"}}}) for all namespaces`,
      ]);
    },
  },
  {
    message: /^Cannot query field "(\w+)" on type "(\w+)"\./,
    hint: (schema, field = '', type = '') => {
      const found = schema.getType(type);
      if (found === schema.getQueryType()) return rootHint(schema, field);
      if (found === schema.getSubscriptionType()) return subscriptionHint(schema, field);
      const fields = fieldsOf(found);
      const word = fieldWords.get(field)?.find((each) => Object.hasOwn(fields, each));
      return oneOf(word === undefined ? selectionsOf(fields, field) : [word]);
    },
    otherwise: (schema, _field, type = '') =>
      type !== rootNames.mutation && Object.values<string>(rootNames).includes(type)
        ? 'The root fields of the kinds are those of resources { key list one subscription }.'
        : named(`${type} has`, Object.keys(fieldsOf(schema.getType(type)))),
  },
  {
    message: /^Field "(\w+)" of type "\W*(\w+)\W*" must have a selection of subfields\./,
    hint: (schema, field = '', type = '') => oneOf([`${field} ${exampleOf(fieldsOf(schema.getType(type)))}`]),
  },
  {
    message: /^Field "(\w+)" must not have a selection since type "\w+!?" has no subfields\.$/,
    hint: (_schema, field = '') => oneOf([leafWords.get(field) ?? `${field} alone`]),
  },
  {
    message: expected(String.raw`to be an object, found: (.*)\.$`),
    hint: (schema, type = '', value = '') => {
      const fields = inputFieldsOf(schema, type);
      return oneOf(wrapped(fields, value.length > 40 ? '…' : value)) ?? named(`${type} has`, Object.keys(fields));
    },
  },
  {
    message: expected('to include required field "path"'),
    hint: (schema, type = '') => (isOrder(inputFieldsOf(schema, type)) ? oneOf([anOrder]) : null),
  },
  {
    message: expected('not to include unknown field "([^"]*)"'),
    hint: (schema, type = '', field = '') => {
      const fields = inputFieldsOf(schema, type);
      const instead = oneOf(insteadOf(fields, field));
      // A suggestion among operators is seldom right: `notIn` for `contains`.
      return instead ?? (Object.hasOwn(fields, 'eq') ? named(`${type} has`, Object.keys(fields)) : null);
    },
    otherwise: (schema, type = '') => named(`${type} has`, Object.keys(inputFieldsOf(schema, type))),
  },
  {
    message: ofValue(String.raw`Value "[^"]*" does not exist in "(\w+)" enum\.`),
    hint: (schema, type = '') => named('Its values are', valuesOf(schema, type)),
  },
  {
    message: ofValue(String.raw`Enum "(\w+)" cannot represent non-enum value: .*?\.(?=$| Did you mean)`),
    hint: (schema, type = '') => named('Its values are', valuesOf(schema, type), ', without quotes'),
  },
  {
    message: /^(?:Anonymous Subscription|Subscription "\w+") must select only one top level field\.$/,
    hint: () => 'Send one subscription for each, or objectChanges(kinds: ["Pod", "Node"]) for several kinds.',
  },
];

/** The error with a hint, if there is one for it. @param schema that the document is for */
export function withHint(schema: GraphQLSchema, error: GraphQLError): GraphQLError {
  for (const { message, hint, otherwise } of rules) {
    const match = message.exec(error.message);
    if (match === null) continue;
    const [head, ...found] = match;
    const sentence = head.endsWith('.') ? head : `${head}.`;
    const better = hint(schema, ...found);
    const suggests = error.message.includes('Did you mean');
    const text = better ?? (suggests ? null : (otherwise?.(schema, ...found) ?? null));
    if (text === null) return error;
    const { nodes = null, source = null, positions = null, path = null, originalError = null, extensions } = error;
    const place = { nodes, source, positions, path };
    return new GraphQLError(`${better === null ? error.message : sentence} ${text}`, {
      ...place,
      originalError,
      extensions,
    });
  }
  return error;
}

function fieldsOf(type: GraphQLNamedType | null | undefined): Fields {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields() : {};
}

function inputFieldsOf(schema: GraphQLSchema, type: string): InputFields {
  const found = schema.getType(type);
  return isInputObjectType(found) ? found.getFields() : {};
}

function valuesOf(schema: GraphQLSchema, type: string): readonly string[] {
  const found = schema.getType(type);
  return isEnumType(found) ? found.getValues().map(({ name }) => name) : [];
}

function argumentsOf(schema: GraphQLSchema, type: string, field: string): readonly string[] {
  return (own(fieldsOf(schema.getType(type)), field)?.args ?? []).map(({ name }) => name);
}

const mostNames = 20;
const mostChoices = 3;

function named(what: string, names: readonly string[], how = ''): string | null {
  return names.length === 0 ? null : `${what} ${shortList(names, mostNames).join(', ')}${how}.`;
}

function oneOf(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : `Write ${texts.slice(0, mostChoices).join(' or ')}.`;
}

/** The kinds of a schema, by the root fields of their lists. */
function kindsIn(schema: GraphQLSchema): readonly CatalogKind[] {
  return Object.values(fieldsOf(schema.getQueryType())).flatMap((field) => {
    const { plain } = factsOf(field);
    return plain?.is === 'list' ? [plain.kind] : [];
  });
}

/** The kinds that a name may mean: `foos`, `Foo`, `listFoos`, `foos_by_pk`, `po`. */
function kindsNamed(schema: GraphQLSchema, written: string): readonly CatalogKind[] {
  const name = plain(written);
  const bare = plain(
    written.replace(/^(?:get|list|all|find|watch)(?=[A-Z_])|(?:_by_pk|_aggregate|List|Connection)$/g, ''),
  );
  return kindsIn(schema).filter(({ key, names, resource: { plural, singular, kind, shortNames } }) => {
    const own = [key, plural, singular, kind, ...shortNames, names.list, names.one, names.type, names.subscription];
    return own.some((each) => plain(each) === name || plain(each) === bare);
  });
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function rootHint(schema: GraphQLSchema, written: string): string | null {
  if (written === 'sets') return 'Sets need the definition of ShadowRecord in a cluster: portolan shadow install.';
  const word = rootWords.get(written);
  if (word !== undefined) return oneOf([word]);
  const kinds = kindsNamed(schema, written);
  if (kinds.some(({ names }) => names.subscription === written)) return oneOf([`subscription { ${written} { … } }`]);
  const fields = fieldsOf(schema.getQueryType());
  return oneOf(
    kinds.map(({ resource, names: { list, one } }) => {
      const args = (own(fields, one)?.args ?? []).filter(isRequiredArgument).map(({ name }) => `${name}: "…"`);
      return `${list} for the list of ${resource.kind}, ${one}(${args.join(', ')}) for one`;
    }),
  );
}

function subscriptionHint(schema: GraphQLSchema, written: string): string | null {
  if (written === 'objects') return oneOf(['objectChanges(kinds: ["Pod"])']);
  return oneOf(kindsNamed(schema, written).map(({ names }) => names.subscription));
}

/**
 * The selections that lead to a field of this name below these fields, by one step or by two:
 *
 *   name of a Pod            metadata { name }
 *   metadata of Pods         nodes { metadata }
 *   name of Pods             nodes { metadata { name } }
 */
function selectionsOf(fields: Fields, name: string): readonly string[] {
  const near = stepsTo(fields, name);
  if (near.length > 0) return near;
  return objectsBelow(fields).flatMap(({ step, fields: below }) =>
    stepsTo(below, name).map((rest) => `${step} { ${rest} }`),
  );
}

/** Lists only where nothing else has the field. */
function stepsTo(fields: Fields, name: string): readonly string[] {
  const found = objectsBelow(fields).filter((below) => Object.hasOwn(below.fields, name));
  const single = found.filter(({ isList }) => !isList);
  return (single.length > 0 ? single : found).map(({ step }) => `${step} { ${name} }`);
}

interface Below {
  readonly step: string;
  readonly isList: boolean;
  readonly fields: Fields;
}

/** The fields that hold objects, without relations to other objects. */
function objectsBelow(fields: Fields): readonly Below[] {
  return Object.values(fields)
    .filter((field) => field.args.length === 0 && factsOf(field).plain?.is !== 'related')
    .map(({ name, type }) => ({
      step: name,
      isList: isListType(getNullableType(type)),
      fields: fieldsOf(getNamedType(type)),
    }));
}

/** A short selection of a type. */
function exampleOf(fields: Fields): string {
  const nodes = own(fields, 'nodes');
  if (nodes !== undefined) return `{ nodes ${exampleOf(fieldsOf(getNamedType(nodes.type)))} }`;
  if (Object.hasOwn(fields, 'metadata')) return '{ metadata { name } }';
  const leaves = Object.values(fields).filter(({ type, args }) => args.length === 0 && isLeafType(getNamedType(type)));
  const names = leaves.slice(0, mostChoices).map(({ name }) => name);
  return `{ ${names.length === 0 ? '…' : names.join(' ')} }`;
}

/** How a plain value is written for an input object: as an order, with an operator, for a key or for an element. */
function wrapped(fields: InputFields, value: string): readonly string[] {
  if (isOrder(fields)) return [`{path: ${value}, direction: ASC}`];
  if (Object.hasOwn(fields, 'eq'))
    return [Object.hasOwn(fields, 'key') ? `{key: "…", eq: ${value}}` : `{eq: ${value}}`];
  const some = own(fields, 'some');
  return some === undefined ? [] : wrapped(below(some), value).map((inner) => `{some: ${inner}}`);
}

/** Replacements of an unknown field of an input object. */
function insteadOf(fields: InputFields, name: string): readonly string[] {
  if (isOrder(fields)) return [anOrder];
  const bare = name.replace(/^_/, '');
  const operator = Object.hasOwn(fields, bare) ? bare : operatorWords.get(bare);
  if (operator !== undefined && Object.hasOwn(fields, operator)) return [operator];
  if (Object.hasOwn(fields, 'key')) return [`{key: ${JSON.stringify(name)}, eq: "…"}`];
  return Object.values(fields)
    .filter((field) => Object.hasOwn(below(field), name))
    .map((field) => `${field.name}: {${name}: …}`);
}

const anOrder = '{path: "metadata.name", direction: ASC}';

function isOrder(fields: InputFields): boolean {
  return Object.hasOwn(fields, 'path') && Object.hasOwn(fields, 'direction');
}

/** The fields of the input object that a field takes. */
function below({ type }: GraphQLInputField): InputFields {
  const found = getNamedType(type);
  return isInputObjectType(found) ? found.getFields() : {};
}

/** A name of a document may be that of a member of every object. */
function own<T>(fields: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
