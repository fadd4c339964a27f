/** Words of other APIs, and what Portolan has instead. The hints of errors (hints.ts) show it. */

/** The replacement of some arguments, if the field takes the argument `needs`. */
interface ArgumentWords {
  readonly words: readonly string[];
  readonly needs: string;
  readonly instead: string;
}

export const argumentWords: readonly ArgumentWords[] = [
  { words: ['where', 'condition', 'name'], needs: 'filter', instead: 'filter: {metadata: {name: {eq: "web"}}}' },
  { words: ['namespace', 'namespaces'], needs: 'filter', instead: 'filter: {namespaces: ["shop"]}' },
  { words: ['cluster', 'clusters', 'context'], needs: 'filter', instead: 'filter: {clusters: ["east"]}' },
  { words: ['labels', 'labelSelector', 'selector'], needs: 'filter', instead: 'filter: {labelSelector: "app=web"}' },
  { words: ['fieldSelector'], needs: 'filter', instead: 'filter: {fieldSelector: "status.phase=Running"}' },
  { words: ['search', 'query', 'q'], needs: 'filter', instead: 'filter: {search: "web"}' },
  { words: ['id', 'ids'], needs: 'filter', instead: 'filter: {ids: ["…"]}, or object(id: "…") for one' },
  { words: ['id'], needs: 'name', instead: 'object(id: "…")' },
  { words: ['limit', 'take', 'pageSize', 'perPage'], needs: 'first', instead: 'first: 20' },
  {
    words: ['skip', 'page', 'start'],
    needs: 'offset',
    instead: 'offset: 20, or after: "…" with the endCursor of pageInfo',
  },
  { words: ['cursor', 'continue'], needs: 'after', instead: 'after: "…" with the endCursor of pageInfo' },
  {
    words: ['order', 'order_by', 'sort', 'sortBy', 'sort_by'],
    needs: 'orderBy',
    instead: 'orderBy: [{path: "metadata.name", direction: ASC}]',
  },
  { words: ['kind', 'type', 'types', 'resources'], needs: 'kinds', instead: 'kinds: ["Pod"]' },
];

/** Replacements of fields. The first one that the type has is shown. */
export const fieldWords = words<readonly string[]>({
  items: ['nodes', 'changes'],
  data: ['nodes', 'raw'],
  results: ['nodes'],
  rows: ['nodes'],
  count: ['totalCount'],
  total: ['totalCount'],
  resourceVersion: ['changesCursor'],
  ownerReferences: ['owners'],
  children: ['owned'],
  json: ['raw'],
  manifest: ['yaml'],
});

/** Replacements of fields with a selection, if they have no subfields. */
export const leafWords = words({
  labels: 'label(key: "app") for one label, or labels for all',
  annotations: 'annotation(key: "…") for one annotation, or annotations for all',
  raw: 'value(path: "spec.replicas") for one value, or raw for all',
});

/** Replacements of root fields of queries. */
export const rootWords = words({
  node: 'object(id: "…")',
  get: 'object(id: "…")',
  search: 'objects(kinds: ["*"], filter: {search: "web"})',
  all: 'objects(kinds: ["all"])',
  list: 'objects(kinds: ["Pod"])',
  items: 'objects(kinds: ["Pod"])',
  me: 'viewer',
  user: 'viewer',
  apiResources: 'resources',
  shadowResources: 'sets',
});

/** The operators of filters, by the words of other APIs without `_` before them. */
export const operatorWords = words({
  equals: 'eq',
  is: 'eq',
  value: 'eq',
  neq: 'ne',
  not: 'ne',
  nin: 'notIn',
  not_in: 'notIn',
  min: 'gte',
  max: 'lte',
  before: 'lt',
  after: 'gt',
  like: 'contains',
  ilike: 'contains',
  regex: 'matches',
  starts_with: 'startsWith',
  ends_with: 'endsWith',
  is_null: 'exists',
  isNull: 'exists',
  mode: 'ignoreCase',
  AND: 'and',
  OR: 'or',
  NOT: 'not',
});

/** A Map, because a name of a document may be that of a member of every object. */
function words<T = string>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(table));
}
