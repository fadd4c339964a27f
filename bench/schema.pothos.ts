/**
 * Makes the same schema of many types by Pothos, and by graphql-js alone, in turns. Each type has twelve fields.
 *
 *   argv: turns -> message: the figures -> exit
 */
import SchemaBuilder from '@pothos/core';
import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { threadCpuMs } from './support/loop-turns.ts';
import { median } from './support/page-load.ts';

export interface BuilderFigures {
  /** Types of each schema. */
  readonly types: number;
  /** Processor time for a field, in microseconds; the median of the turns. */
  readonly pothosUs: number;
  readonly rawUs: number;
  /** The median of the quotients. */
  readonly pothosOverRaw: number;
}

const types = 1000;
const names = Array.from({ length: 12 }, (_, at) => `field${at}`);

function byPothos(): GraphQLSchema {
  const builder = new SchemaBuilder({});
  const made = Array.from({ length: types }, (_, at) =>
    builder.objectRef<Readonly<Record<string, string>>>(`Type${at}`).implement({
      fields: (t) => Object.fromEntries(names.map((name) => [name, t.exposeString(name)])),
    }),
  );
  builder.queryType({
    fields: (t) => Object.fromEntries(made.map((type, at) => [`root${at}`, t.field({ type, resolve: () => ({}) })])),
  });
  return builder.toSchema({ sortSchema: false });
}

function byGraphqlJs(): GraphQLSchema {
  const made = Array.from(
    { length: types },
    (_, at) =>
      new GraphQLObjectType<Readonly<Record<string, string>>>({
        name: `Type${at}`,
        fields: () =>
          Object.fromEntries(
            names.map((name) => [
              name,
              { type: GraphQLString, resolve: (source: Readonly<Record<string, string>>) => source[name] },
            ]),
          ),
      }),
  );
  const fields = (): Record<string, { type: GraphQLObjectType; resolve: () => object }> =>
    Object.fromEntries(made.map((type, at) => [`root${at}`, { type, resolve: () => ({}) }]));
  return new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) });
}

/** Microseconds of processor time for a field. */
function perField(make: () => GraphQLSchema): number {
  const began = threadCpuMs();
  const schema = make();
  const elapsed = threadCpuMs() - began;
  if (Object.keys(schema.getTypeMap()).length < types) throw new Error('a schema lacks types');
  return (elapsed * 1000) / (types * names.length);
}

const turns = Number(process.argv[2]);
const pothos: number[] = [];
const raw: number[] = [];
for (let turn = 0; turn < turns; turn += 1) {
  // Each of them is first as often as the other.
  const both = [() => pothos.push(perField(byPothos)), () => raw.push(perField(byGraphqlJs))];
  for (const one of turn % 2 === 0 ? both : both.reverse()) one();
}
process.send?.({
  types,
  pothosUs: median(pothos),
  rawUs: median(raw),
  pothosOverRaw: median(pothos.map((each, turn) => each / (raw[turn] ?? Number.NaN))),
} satisfies BuilderFigures);
process.disconnect?.();
