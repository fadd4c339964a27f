/**
 * The playground's examples for one generation. The page opens the first one in a tab and offers all of them in a panel.
 *
 * The first example has rows on every cluster that has objects. It is the first of these that there is:
 *
 *   1. The first written example about custom resources that the generation can answer. On the demo world, this is the app store.
 *   2. A custom resource with its objects of another custom resource, if both have objects.
 *   3. The newest Pods.
 *   4. The newest Nodes.
 *   5. The newest objects of the kind with the most objects.
 *
 * A written example stands as it is if the generation can answer it: its document is valid, and every kind that it names is served.
 * Otherwise a document of the same sort, made from a kind of the catalog, takes its place.
 *
 *   list, changes, groups, filter menu   the kind with the most objects
 *   what objects own                     a custom resource: with objects and conditions if there is one, then with the most objects;
 *                                        behind all others, because it may have no rows
 *   objects and related objects          the first kind with relations to served kinds: custom resources, then those with the most objects
 *   what uses it                         the kind with the most objects; there is no replacement of the filter through a relation
 *   several kinds in one list            the three kinds with the most objects; no example with one kind
 *   mutations, logs                      none
 *
 * A read-only gateway has no examples with mutations. One that sends no requests as its callers has none with logs.
 */
import { type ArgumentNode, type DocumentNode, Kind, type ObjectFieldNode, parse, validate, visit } from 'graphql';
import { isOwnGroup } from '../../catalog/names/reserved-names.ts';
import { resolvePath } from '../../catalog/paths/resolve-path.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import type { Generation } from '../../graphql/generation/generation.ts';
import {
  groupsExample,
  listExample,
  menuExample,
  objectsExample,
  ownedExample,
  relatedExample,
  usersExample,
  watchExample,
} from './kind-examples.ts';

/** An example that a person wrote. */
export interface PlaygroundExample {
  /** The sort of the example, which its replacement has too: `pods-that-wait`. */
  readonly name: string;
  readonly query: string;
}

/** The kinds that can be shown, those with the most objects first. */
type Ranked = readonly CatalogKind[];

/** The replacement of a written example, by its name; null when no kind is suitable. */
type Replacement = (kinds: Ranked, objects: ObjectsOfKinds) => string | null;

/** The number of objects of each kind, by resourceKey. Kinds that are missing have none. */
export type ObjectsOfKinds = ReadonlyMap<string, number>;

/** The name of the written example that is first where Pods are the first choice. */
const newestPods = 'newest-pods';

const replacements: Readonly<Record<string, Replacement>> = {
  [newestPods]: ofFirst(listExample),
  'foo-and-what-it-owns': (kinds, objects) => ofFirst(ownedExample)(customKinds(kinds, objects), objects),
  'watch-pods': ofFirst(watchExample),
  'several-kinds-in-one-list': (kinds) => (kinds.length < 2 ? null : objectsExample(kinds.slice(0, 3))),
  'what-nodes-carry': ofFirst(groupsExample),
  'filter-menu': ofFirst(menuExample),
  'objects-and-related-objects': (kinds, objects) => ofFirstRelated([...customKinds(kinds, objects), ...kinds]),
  'what-uses-it': ofFirst(usersExample),
};

/**
 * The written examples that a gateway can carry out.
 * @param writes does it take mutations?
 * @param authenticates does it know its callers? One that writes knows them too, by the start token.
 */
export function offeredExamples(
  written: readonly PlaygroundExample[],
  { writes, authenticates }: { readonly writes: boolean; readonly authenticates: boolean },
): readonly PlaygroundExample[] {
  if (writes) return written;
  return written.filter(({ name, query }) => (authenticates || name !== ofLogs) && !hasMutation(parse(query)));
}

function hasMutation({ definitions }: DocumentNode): boolean {
  return definitions.some((each) => each.kind === Kind.OPERATION_DEFINITION && each.operation === 'mutation');
}

/** The documents: the first example, then the others in the order of the written examples. */
export function examplesFor(
  written: readonly PlaygroundExample[],
  generation: Generation,
  objects: ObjectsOfKinds,
): readonly string[] {
  const kinds = generation.all.toSorted((a, b) => (objects.get(b.key) ?? 0) - (objects.get(a.key) ?? 0));
  const isDemo = written.some(({ name, query }) => ofCustomResources.has(name) && canAnswer(generation, query));
  const join = isDemo ? null : joinOfCustomKinds(kinds, objects);
  const filled = kinds.filter(({ key }) => (objects.get(key) ?? 0) > 0);
  const listed = filled.find(({ key }) => key === 'pods') ?? filled.find(({ key }) => key === 'nodes') ?? filled[0];
  const last: string[] = [];
  const others = written.flatMap(({ name, query }) => {
    if (name === newestPods && listed !== undefined && listed.key !== 'pods') return [listExample(listed)];
    if (canAnswer(generation, query)) return [query];
    const made = replacements[name]?.(kinds, objects) ?? null;
    if (made !== null && ofCustomResources.has(name)) last.push(made);
    return made === null || ofCustomResources.has(name) ? [] : [made];
  });
  return [...new Set([...(join === null ? [] : [join]), ...others, ...last])];
}

/** Rows of both kinds are likely to be related if both have objects. Relations to many objects are preferred: their number orders. */
function joinOfCustomKinds(kinds: Ranked, objects: ObjectsOfKinds): string | null {
  const custom = customKinds(kinds, objects).filter(({ key }) => (objects.get(key) ?? 0) > 0);
  const keys = new Set(custom.map(({ key }) => key));
  const joins = custom.flatMap((kind) => {
    const relations = kind.relations.filter(
      ({ to, weak, way }) => to !== null && to !== kind.key && keys.has(to) && !weak && way.by !== 'namespace',
    );
    return relations.length === 0 ? [] : [{ kind, relations: relations.toSorted((a, b) => +b.many - +a.many) }];
  });
  const best = joins.find(({ relations }) => relations[0]?.many) ?? joins[0];
  return best === undefined ? null : relatedExample(best.kind, best.relations.slice(0, 3));
}

/** The written examples about custom resources of the demo. The others are about built-in kinds of Kubernetes, or about the gateway. */
const ofCustomResources = new Set([
  'app-store',
  'applications',
  'templates-and-plugins',
  'cloud-managers',
  'foo-and-what-it-owns',
]);

/** Its requests are sent as the caller. */
const ofLogs = 'follow-logs';

/** Needs the definition of ShadowRecord, which few clusters have. */
const ofSets = 'an-application-as-a-set';

/** The documents if nothing may be told of the clusters: the same for every gateway. */
export function builtInExamples(written: readonly PlaygroundExample[]): readonly string[] {
  return written.filter(({ name }) => !ofCustomResources.has(name) && name !== ofSets).map(({ query }) => query);
}

function ofFirst(example: (kind: CatalogKind) => string): Replacement {
  return ([first]) => (first === undefined ? null : example(first));
}

function ofFirstRelated(kinds: Ranked): string | null {
  const served = new Set(kinds.map(({ key }) => key));
  for (const kind of kinds) {
    const relations = kind.relations.filter(
      ({ to, weak, way }) => to !== null && served.has(to) && !weak && way.by !== 'namespace',
    );
    if (relations.length > 0) return relatedExample(kind, relations.slice(0, 3));
  }
  return null;
}

/** The best custom resource first. The order of kinds that are equally suitable is kept. */
function customKinds(kinds: Ranked, objects: ObjectsOfKinds): Ranked {
  const suitability = (kind: CatalogKind): number =>
    ((objects.get(kind.key) ?? 0) > 0 ? 2 : 0) + (hasConditions(kind) ? 1 : 0);
  return kinds
    .filter(({ resource }) => !isOwnGroup(resource.group))
    .toSorted((a, b) => suitability(b) - suitability(a));
}

const conditionTypes = parsePath('status.conditions[].type');

function hasConditions({ tree }: CatalogKind): boolean {
  try {
    return resolvePath(tree, conditionTypes).type.kind === 'leaf';
  } catch {
    return false;
  }
}

function canAnswer(generation: Generation, query: string): boolean {
  const document = parse(query);
  return validate(generation.schema, document).length === 0 && kindsIn(document).every(isServed);

  function isServed(word: string): boolean {
    try {
      return generation.kinds([word]).length > 0;
    } catch {
      return false;
    }
  }
}

/** The words of all arguments `kinds`, and of all members `kinds` of arguments. */
function kindsIn(document: DocumentNode): readonly string[] {
  const words: string[] = [];
  const take = ({ name, value }: ArgumentNode | ObjectFieldNode): void => {
    if (name.value !== 'kinds' || value.kind !== Kind.LIST) return;
    for (const each of value.values) if (each.kind === Kind.STRING) words.push(each.value);
  };
  visit(document, { Argument: take, ObjectField: take });
  return words;
}
