/** Random documents about the kinds of scoped-world.ts: every argument that a caller controls, with values that hit hidden objects. */
import type { Dice } from '../fuzz/dice.ts';
import type { RandomQuery } from './random-query.ts';
import { gadgetNames, idOf, type PlacedObject, worldClusters, worldNames, worldNamespaces } from './scoped-world.ts';

/** A cursor of the list with this field and this order. */
export interface KnownCursor {
  readonly field: string;
  readonly order: string;
  readonly cursor: string;
}

export interface DocumentOptions {
  readonly objects: readonly PlacedObject[];
  /** Cursors of lists without a filter. */
  readonly cursors: readonly KnownCursor[];
  /** Without fields that show single objects to callers who may get but not list them. */
  readonly listsOnly: boolean;
  /** Without fields that tell callers who see a part less than callers who see all, such as the state of a reference. */
  readonly sameForAll: boolean;
}

type KindName = 'widget' | 'gadget' | 'namespace' | 'event';

const lists: Readonly<Record<KindName, string>> = {
  widget: 'exampleComWidgets',
  gadget: 'exampleComGadgets',
  namespace: 'namespaces',
  event: 'events',
};
export const listFields = Object.values(lists);

const toMany = ['tagged', 'taggers', 'selected', 'selectors', 'parts', 'previous'];
const quote = (text: string): string => JSON.stringify(text);
const listed = (texts: readonly string[]): string => `[${texts.map(quote).join(', ')}]`;

export function scopedDocument(dice: Dice, options: DocumentOptions): RandomQuery {
  return { query: `{ ${new Maker(dice, options).root()} }`, variables: {} };
}

class Maker {
  readonly #dice: Dice;
  readonly #options: DocumentOptions;
  #aliases = 0;

  constructor(dice: Dice, options: DocumentOptions) {
    this.#dice = dice;
    this.#options = options;
  }

  root(): string {
    const dice = this.#dice;
    const { listsOnly, sameForAll } = this.#options;
    const one = listsOnly ? 0 : 1;
    return dice.choose<string>([
      [14, () => this.#list(this.#kind())],
      [3, () => this.#objects()],
      [one, () => `object(id: ${quote(this.#id())}) ${this.#anyObject(2)}`],
      [one, () => `objectsById(ids: ${listed(dice.times(3, () => this.#id()))}) ${this.#anyObject(1)}`],
      [one, () => this.#one()],
      [sameForAll ? 0 : 2, () => this.#dangling()],
      [2, () => this.#resources()],
      [sameForAll ? 0 : 1, () => 'clusters { name objects resources reachable error staleSince }'],
    ]);
  }

  #kind(): KindName {
    return this.#dice.choose<KindName>([
      [8, () => 'widget'],
      [3, () => 'gadget'],
      [1, () => 'namespace'],
      [1, () => 'event'],
    ]);
  }

  #alias(): string {
    this.#aliases += 1;
    return `f${this.#aliases}: `;
  }

  #id(): string {
    const { objects } = this.#options;
    const dice = this.#dice;
    if (dice.chance(0.8)) return idOf(dice.pick(objects));
    return idOf({ ...dice.pick(objects), name: 'nobody' });
  }

  #one(): string {
    const dice = this.#dice;
    const [cluster, name] = [dice.pick(worldClusters), dice.pick(dice.chance(0.5) ? worldNames : gadgetNames)];
    return dice.chance(0.5)
      ? `exampleComWidget(namespace: ${quote(dice.pick(worldNamespaces))}, name: ${quote(name)}, cluster: ${quote(cluster)}) ${this.#object('widget', 2)}`
      : `exampleComGadget(name: ${quote(name)}, cluster: ${quote(cluster)}) ${this.#object('gadget', 2)}`;
  }

  #list(kind: KindName): string {
    const dice = this.#dice;
    const field = lists[kind];
    const known = this.#options.cursors.filter((each) => each.field === field);
    if (known.length > 0 && dice.chance(0.25)) {
      const { order, cursor } = dice.pick(known);
      const [size, place] = dice.pick([
        ['first', 'after'],
        ['last', 'before'],
      ]);
      const page = `${order === '' ? '' : `${order}, `}${size}: ${dice.pick([1, 2, 50])}, ${place}: ${quote(cursor)}`;
      return `r: ${field}(${page}) ${this.#connection(kind, 2, true)}`;
    }
    const args = [
      ...(dice.chance(0.7) ? [`filter: ${this.#filter(kind, 2)}`] : []),
      ...(dice.chance(0.5) ? [`orderBy: ${this.#order(kind)}`] : []),
      ...this.#page(),
    ];
    return `r: ${field}${args.length === 0 ? '' : `(${args.join(', ')})`} ${this.#connection(kind, 2, true)}`;
  }

  #page(): string[] {
    const dice = this.#dice;
    const size = dice.pick([0, 1, 2, 3, 50]);
    return dice.choose<string[]>([
      [3, () => []],
      [3, () => [`first: ${size}`]],
      [2, () => [`last: ${size}`]],
      [1, () => [`first: ${size}, offset: ${dice.below(4)}`]],
    ]);
  }

  #objects(): string {
    const dice = this.#dice;
    const kinds = dice.pick([
      ['*'],
      ['*.example.com'],
      ['Widget', 'Gadget'],
      ['namespaces', 'widgets.example.com'],
      ['Event', 'Gadget'],
    ]);
    const filter = dice.chance(0.6) ? `, filter: ${this.#anyFilter()}` : '';
    const order = dice.chance(0.4) ? `, orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }]` : '';
    return `r: objects(kinds: ${listed(kinds)}${filter}${order}, first: ${dice.pick([1, 3, 50])}) ${this.#anyConnection(1, true)}`;
  }

  #anyFilter(): string {
    const dice = this.#dice;
    return dice.pick([
      `{ search: ${quote(dice.pick(['web', 'secret', 'a', 'n1', 'app=x']))} }`,
      `{ namespaces: ${listed(dice.sample([...worldNamespaces, 'none'], 2))} }`,
      `{ clusters: ${listed(dice.sample(worldClusters, 2))} }`,
      `{ ids: ${listed(dice.times(3, () => this.#id()))} }`,
      `{ labelSelector: "app=x" }`,
      `{ metadata: { name: { in: ["a", "g1", "n0"] } } }`,
    ]);
  }

  #dangling(): string {
    const dice = this.#dice;
    const args = [
      ...(dice.chance(0.4) ? ['kinds: ["Widget"]'] : []),
      ...(dice.chance(0.4) ? [`namespaces: ${listed(dice.sample(worldNamespaces, 2))}`] : []),
      `first: ${dice.pick([1, 5, 50])}`,
    ];
    return `danglingReferences(${args.join(', ')}) { nodes { path kind namespace name state from { id } object { id } } pageInfo { hasNextPage endCursor } }`;
  }

  #resources(): string {
    const dice = this.#dice;
    const counts = `counts(by: ${dice.pick(['[]', '[NAMESPACE]', '[HEALTH]', '[NAMESPACE, HEALTH]'])}${
      dice.chance(0.4) ? `, namespaces: ${listed(dice.sample(worldNamespaces, 2))}` : ''
    }) { namespace health objects }`;
    const more = this.#options.sameForAll
      ? ''
      : 'synced phase resourceVersion lastEventAt lastSignAt staleSince error restarts { reason count } collections { objects } relations { name references missing } diagnostics promoted { path ready }';
    return `resources { key cluster objects ${counts} ${more} }`;
  }

  /** One condition or several on objects of the kind. */
  #filter(kind: KindName, depth: number): string {
    const dice = this.#dice;
    const conditions = dice.times(dice.between(1, 2), () => this.#condition(kind, depth));
    const fields = new Map(conditions.map((each) => [each.slice(0, each.indexOf(':')), each]));
    return `{ ${[...fields.values()].join(', ')} }`;
  }

  #condition(kind: KindName, depth: number): string {
    const dice = this.#dice;
    const widget = kind === 'widget' ? 1 : 0;
    const deeper = depth > 0 ? 1 : 0;
    const text = (): string =>
      dice.pick([
        `{ eq: ${quote(dice.pick([...worldNames, ...gadgetNames]))} }`,
        `{ in: ["a", "b", "g1", "n1"] }`,
        `{ startsWith: ${quote(dice.pick(['w', 'g', 'a']))} }`,
        `{ contains: "1" }`,
        `{ matches: ${quote(dice.pick(['^[a-c]$', '1$', '(?i)WEB']))} }`,
        `{ gte: "b", lt: "g2" }`,
        `{ ne: "a" }`,
      ]);
    const related = (of: KindName): string =>
      dice.pick([
        `{ some: ${this.#filter(of, depth - 1)} }`,
        `{ none: ${this.#filter(of, depth - 1)} }`,
        `{ every: ${this.#filter(of, depth - 1)} }`,
        `{ exists: ${dice.pick(['true', 'false'])} }`,
        `{ count: { ${dice.pick(['gt', 'eq', 'lte'])}: ${dice.below(3)} } }`,
      ]);
    const single = (of: KindName): string =>
      dice.pick([`{ is: ${this.#filter(of, depth - 1)} }`, `{ exists: ${dice.pick(['true', 'false'])} }`]);
    const one = this.#options.listsOnly ? 0 : 1;
    return dice.choose<string>([
      [3, () => `metadata: { name: ${text()} }`],
      [1, () => `search: ${quote(dice.pick(['web', 'secret', 'app=x', 'g1', 'a', 'running']))}`],
      [2, () => `namespaces: ${listed(dice.sample([...worldNamespaces, 'none'], 2))}`],
      [1, () => `clusters: ${listed(dice.sample(worldClusters, dice.between(1, 2)))}`],
      [2, () => `ids: ${listed(dice.times(3, () => this.#id()))}`],
      [2, () => `labelSelector: ${quote(dice.pick(['app=x', 'app', '!tier', 'app notin (x)', 'tier=1,app=x']))}`],
      [1, () => `metadata: { creationTimestamp: { lt: "2026-01-31T12:00:01Z" } }`],
      [1, () => `health: { status: { ne: Current } }`],
      [3 * widget, () => `spec: { total: { ${dice.pick(['gte', 'lt', 'eq'])}: ${dice.below(4)} } }`],
      [2 * widget, () => `status: { phase: { ${dice.pick(['eq', 'ne'])}: "secret" } }`],
      [widget, () => `spec: { ports: { some: { number: { gt: 0 } } } }`],
      [widget, () => `compare: [{ path: "spec.total", gte: "spec.replicas" }]`],
      [3 * widget * deeper, () => `${dice.pick(toMany)}: ${related('widget')}`],
      [2 * widget * deeper * one, () => `gadget: ${single('gadget')}`],
      [2 * widget * deeper * one, () => `next: ${single('widget')}`],
      [kind === 'gadget' ? 3 * deeper : 0, () => `widgets: ${related('widget')}`],
      [1, () => `usedBy: { exists: ${dice.pick(['true', 'false'])} }`],
      [deeper, () => `or: [${this.#filter(kind, depth - 1)}, ${this.#filter(kind, depth - 1)}]`],
      [deeper, () => `not: ${this.#filter(kind, depth - 1)}`],
    ]);
  }

  #path(kind: KindName, single: boolean): string {
    const dice = this.#dice;
    const through = this.#options.listsOnly
      ? []
      : ['gadget.spec.total', 'gadget.spec.name', 'next.status.phase', 'next.gadget.spec.total'];
    const own = ['metadata.name', 'metadata.namespace', 'metadata.creationTimestamp', 'cluster', 'health.status'];
    if (kind === 'gadget') return dice.pick([...own, 'spec.total', 'count(widgets)']);
    if (kind !== 'widget') return dice.pick(own);
    const many = single ? [] : ['spec.tags[]', 'spec.ports[].number'];
    return dice.pick([
      ...own,
      ...many,
      ...through,
      'spec.total',
      'status.phase',
      'metadata.labels["app"]',
      'count(tagged)',
      'count(parts)',
      'sum(spec.ports[].number)',
    ]);
  }

  #order(kind: KindName): string {
    const dice = this.#dice;
    const terms = dice.times(dice.between(1, 2), () => {
      const nulls = dice.chance(0.3) ? ', nulls: FIRST' : '';
      return `{ path: ${quote(this.#path(kind, true))}, direction: ${dice.pick(['ASC', 'DESC'])}${nulls} }`;
    });
    return `[${[...new Map(terms.map((term) => [term.split(',')[0], term])).values()].join(', ')}]`;
  }

  #connection(kind: KindName, depth: number, isRoot = false): string {
    return this.#parts(() => this.#object(kind, depth), kind, isRoot);
  }

  #anyConnection(depth: number, isRoot = false): string {
    return this.#parts(() => this.#anyObject(depth), null, isRoot);
  }

  #parts(object: () => string, kind: KindName | null, isRoot: boolean): string {
    const dice = this.#dice;
    const parts: string[] = [];
    if (dice.chance(0.7)) parts.push(`nodes ${object()}`);
    if (dice.chance(0.3)) parts.push(`edges { cursor node ${object()} ${isRoot ? '' : 'via'} }`);
    if (dice.chance(0.5)) parts.push('pageInfo { hasNextPage hasPreviousPage startCursor endCursor }');
    if (dice.chance(0.4)) parts.push(dice.pick(['totalCount', 'totalCount(limit: 2)']));
    if (dice.chance(0.25)) parts.push(this.#aggregate(kind));
    if (dice.chance(0.2)) parts.push(this.#facets(kind));
    if (!this.#options.sameForAll && dice.chance(0.2)) parts.push('changesCursor');
    if (!this.#options.sameForAll && isRoot && dice.chance(0.2)) {
      parts.push('scope { key cluster all namespaces namespaceCount names }');
    }
    return `{ ${parts.length === 0 ? 'totalCount' : parts.join(' ')} }`;
  }

  #aggregate(kind: KindName | null): string {
    const dice = this.#dice;
    const path = kind === null ? 'metadata.namespace' : this.#path(kind, false);
    const having = dice.chance(0.3) ? `, having: [{ gte: ${dice.between(1, 2)} }]` : '';
    const groups = `groups(by: [${quote(path)}]${having}, first: ${dice.pick([1, 2, 50])}) { keys aggregate { count } cursor }`;
    const more = kind === 'widget' ? 'sum(path: "spec.total") { text } max(path: "spec.replicas")' : '';
    return `aggregate { count ${more} ${groups} }`;
  }

  #facets(kind: KindName | null): string {
    const dice = this.#dice;
    const path = kind === null ? 'metadata.namespace' : this.#path(kind, false);
    const contains = dice.chance(0.4) ? `, contains: ${quote(dice.pick(['a', '1', 'n', 'sec']))}` : '';
    return `facets(paths: [${quote(path)}], first: ${dice.pick([1, 2, 50])}${contains}) { path values { value count } more }`;
  }

  #object(kind: KindName, depth: number): string {
    const dice = this.#dice;
    const fields = ['id', 'metadata { name namespace }'];
    if (dice.chance(0.1)) fields.push('raw');
    if (dice.chance(0.1)) fields.push('columns { name value }');
    if (kind === 'widget') fields.push('spec { name total }');
    if (depth > 0 && dice.chance(0.8)) {
      if (kind === 'widget' && dice.chance(0.7)) fields.push(this.#relation(depth));
      if (kind === 'gadget' && dice.chance(0.6)) fields.push(this.#many('widgets', depth));
      if (dice.chance(0.5)) fields.push(this.#common(depth, kind === 'event'));
    }
    return `{ ${fields.join(' ')} }`;
  }

  #anyObject(depth: number): string {
    const common = depth > 0 && this.#dice.chance(0.6) ? this.#common(depth, true) : '';
    return `{ id kind ${common} ... on ExampleComWidget { ${depth > 0 ? this.#relation(depth) : 'spec { total }'} } }`;
  }

  #relation(depth: number): string {
    const dice = this.#dice;
    const one = this.#options.listsOnly ? 0 : 1;
    return dice.choose<string>([
      [5, () => this.#many(dice.pick(toMany), depth)],
      [2, () => `${this.#alias()}sources(first: ${dice.pick([1, 20])}) ${this.#anyConnection(0)}`],
      [2 * one, () => `${this.#alias()}gadget ${this.#object('gadget', depth - 1)}`],
      [2 * one, () => `${this.#alias()}next ${this.#object('widget', depth - 1)}`],
      [one, () => `${this.#alias()}parent ${this.#object('widget', depth - 1)}`],
      [one, () => `${this.#alias()}source ${this.#anyObject(0)}`],
    ]);
  }

  #many(name: string, depth: number): string {
    const dice = this.#dice;
    const args = [
      `first: ${dice.pick([0, 1, 2, 20])}`,
      ...(dice.chance(0.3) ? [`filter: ${this.#filter('widget', 1)}`] : []),
      ...(dice.chance(0.3) ? [`orderBy: ${this.#order('widget')}`] : []),
    ];
    return `${this.#alias()}${name}(${args.join(', ')}) ${this.#connection('widget', depth - 1)}`;
  }

  /** Fields that every object has; `events` is not in the interface. */
  #common(depth: number, isAny = false): string {
    const dice = this.#dice;
    const { listsOnly, sameForAll } = this.#options;
    const inner = Math.min(0, depth - 1);
    return dice.choose<string>([
      [2, () => `${this.#alias()}owners ${this.#anyConnection(inner)}`],
      [2, () => `${this.#alias()}owned(first: ${dice.pick([1, 20])}) ${this.#anyConnection(inner)}`],
      [2, () => `${this.#alias()}usedBy(first: ${dice.pick([1, 20])}) ${this.#anyConnection(inner)}`],
      [
        2,
        () =>
          `${this.#alias()}health(rollUp: ${sameForAll ? 'OWNED' : dice.pick(['OWNED', 'RELATED'])}) { status reason message source culprit { id } chain { id } }`,
      ],
      [
        isAny ? 0 : 1,
        () =>
          `${this.#alias()}events(first: 5${dice.pick(['', ', includeOwned: true'])}) ${this.#connection('event', 0)}`,
      ],
      [
        sameForAll ? 0 : 2,
        () =>
          `${this.#alias()}references${dice.pick(['', '(states: [THERE])', '(states: [MISSING, UNKNOWN])'])} { path kind namespace name state object { id } }`,
      ],
      [
        listsOnly ? 0 : 2,
        () =>
          `${this.#alias()}graph(depth: ${dice.between(1, 3)}, limit: ${dice.pick([2, 5, 100])}) { nodes { id } edges { from to relation } truncated }`,
      ],
    ]);
  }
}
