/**
 * A generation: one immutable schema built from one catalog.
 *
 * The static part comes from Pothos, each kind's part from plain graphql-js, and one GraphQLSchema joins them. A kind that cannot be
 * built costs itself and nothing else: it is left out with a diagnostic.
 */

import { createHash } from 'node:crypto';
import {
  type GraphQLFieldConfigMap,
  type GraphQLInputType,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  isInterfaceType,
  specifiedDirectives,
} from 'graphql';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import type { Catalog, CatalogKind, Diagnostic } from '../../catalog/resources/catalog.ts';
import { namePattern } from '../../catalog/resources/name-pattern.ts';
import { FilterInputs } from '../filter/filter-inputs.ts';
import type { Generation } from '../operation/generation.ts';
import type { OperationContext } from '../operation/operation.ts';
import { buildKind, type Shared } from './kind-types.ts';
import { objectRoots } from './object-roots.ts';
import { type FieldConfig, ShapeTypes } from './shape-types.ts';
import { buildStaticSchema } from './static-schema.ts';
import { WholeTypes } from './whole-types.ts';

type Fields = GraphQLFieldConfigMap<unknown, OperationContext>;

/** Builds the schema of a catalog. Never throws for a single kind. */
export function buildGeneration(catalog: Catalog): Generation {
  const base = buildStaticSchema();
  const object = must(
    base.getType('KubernetesObject'),
    'the static schema has KubernetesObject',
  ) as GraphQLInterfaceType;
  if (!isInterfaceType(object)) throw new Error('invariant broken: KubernetesObject is an interface');
  const staticType = (name: string): GraphQLNamedType => must(base.getType(name), `the static schema has ${name}`);
  const filters = new FilterInputs((leaf) => staticType(leaf) as GraphQLInputType);
  const shared: Shared = {
    shapes: new ShapeTypes((name) => base.getType(name)),
    filters,
    type: staticType,
    object,
  };

  const overKinds = objectRoots(shared);
  const query: Fields = { ...(base.getQueryType()?.toConfig().fields as Fields | undefined) };
  const subscription: Fields = {};
  const kinds = new Map<string, CatalogKind>();
  const diagnostics: Diagnostic[] = [];
  const objects: GraphQLObjectType[] = [];
  const whole = new WholeTypes();
  for (const kind of catalog.kinds) {
    try {
      const roots = buildKind(kind, shared);
      refuseTaken(kind, roots.query, { ...query, ...overKinds });
      refuseTaken(kind, roots.subscription, subscription);
      whole.add(Object.values({ ...roots.query, ...roots.subscription }));
      Object.assign(query, roots.query);
      Object.assign(subscription, roots.subscription);
      objects.push(roots.object);
      kinds.set(kind.key, kind);
    } catch (error) {
      diagnostics.push({ cluster: kind.clusters.join(', '), resource: kind.key, message: messageOf(error) });
    }
  }

  const byWord = wordsOf([...kinds.values()]);
  const generation: Generation = {
    id: createHash('sha256').update(catalog.hash).digest('hex').slice(0, 16),
    catalog,
    diagnostics,
    clusters: new Set([...kinds.values()].flatMap(({ clusters }) => clusters).sort()),
    schema: new GraphQLSchema({
      query: new GraphQLObjectType({ name: 'Query', fields: { ...query, ...overKinds } }),
      ...(kinds.size === 0
        ? {}
        : { subscription: new GraphQLObjectType({ name: 'Subscription', fields: subscription }) }),
      types: [object, ...objects],
      directives: specifiedDirectives,
    }),
    kind: (key) => kinds.get(key),
    kinds: (words) =>
      words.flatMap((word) => (word.includes('*') ? kindsOfPattern(kinds, word) : kindOfWord(byWord, word))),
  };
  return generation;
}

function refuseTaken(kind: CatalogKind, fields: Record<string, FieldConfig>, taken: Fields): void {
  const clash = Object.keys(fields).find((name) => Object.hasOwn(taken, name));
  if (clash !== undefined)
    throw new PortolanError('INVALID', `Another kind has the root field ${clash}; ${kind.key} is left out.`);
}

function wordsOf(kinds: readonly CatalogKind[]): ReadonlyMap<string, readonly CatalogKind[]> {
  const words = new Map<string, CatalogKind[]>();
  for (const kind of kinds) {
    const exact = new Set([kind.names.type, kind.names.list, kind.key]);
    for (const word of exact) words.set(word, [kind]);
  }
  for (const kind of kinds) {
    const { kind: name } = kind.resource;
    const known = words.get(name);
    if (known === undefined) words.set(name, [kind]);
    else if (!known.includes(kind) && known.every((other) => other.names.type !== name)) known.push(kind);
  }
  return words;
}

function kindsOfPattern(kinds: ReadonlyMap<string, CatalogKind>, pattern: string): readonly CatalogKind[] {
  const fits = namePattern(pattern);
  const found = [...kinds.values()].filter(({ key, names }) =>
    [names.type, names.list, key].some((name) => fits.test(name)),
  );
  if (found.length > 0) return found;
  throw new PortolanError('BAD_USER_INPUT', `No kind fits ${JSON.stringify(pattern)}.`);
}

function kindOfWord(words: ReadonlyMap<string, readonly CatalogKind[]>, word: string): CatalogKind {
  const found = words.get(word) ?? [];
  const [only] = found;
  if (only === undefined) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `There is no kind ${JSON.stringify(word)}; name it by its type (Pod), its list (pods) or plural.group (deployments.apps).`,
    );
  }
  if (found.length > 1) {
    const types = found.map(({ names }) => names.type).join(', ');
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${JSON.stringify(word)} is the kind of several groups; say which: ${types}.`,
    );
  }
  return only;
}
