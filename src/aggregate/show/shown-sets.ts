/**
 * Sets in the form that a client asks for (accept.ts): whole, as rows of a table, or their metadata alone.
 *
 *   list    ShadowResourceList            Table                  PartialObjectMetadataList
 *   one     ShadowResource                Table of one row       PartialObjectMetadata
 *   event   {type, object: the same as one}; a table has its columns in the first event of a watch
 *   bookmark {type, object: metadata with resourceVersion}
 */
import type { Shown } from '../protocol/accept.ts';
import { apiVersionOf, kind, listKind, type ServedApi } from '../protocol/served-api.ts';
import { statusError } from '../protocol/status.ts';
import type { ShadowResource } from '../sets/shadow-resource.ts';
import { humanDuration } from './human-duration.ts';

type Json = Readonly<Record<string, unknown>>;

/** The part of the objects that the rows of a table carry. */
type IncludedObject = 'None' | 'Metadata' | 'Object';

export interface ShowOptions {
  readonly api: ServedApi;
  readonly shown: Shown;
  readonly included: IncludedObject;
  /** Milliseconds since the epoch, for ages. */
  readonly now: () => number;
}

interface ListMeta {
  readonly version: bigint;
  readonly continue: string | null;
  readonly remaining: number | null;
}

const columns = [
  { name: 'Name', type: 'string', format: 'name', description: 'The name of the set.', priority: 0 },
  {
    name: 'Ready',
    type: 'string',
    format: '',
    description: 'Members that are present and Current, of how many.',
    priority: 0,
  },
  { name: 'Phase', type: 'string', format: '', description: 'Applying, Applied or Deleting.', priority: 0 },
  { name: 'Status', type: 'string', format: '', description: 'The reason of the condition Ready.', priority: 0 },
  { name: 'Age', type: 'string', format: '', description: 'The time since the set was made.', priority: 0 },
  { name: 'Message', type: 'string', format: '', description: 'The message of the condition Ready.', priority: 1 },
] as const;

/** @throws PortolanError that means 400 for another value of `includeObject`. */
export function includedObject(query: URLSearchParams): IncludedObject {
  const value = query.get('includeObject') || 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw statusError('BadRequest', `unrecognized includeObject value: ${JSON.stringify(value)}`);
}

/** A list in the form that the client accepts: a Table, a PartialObjectMetadataList or a ShadowResourceList. */
export function showList(options: ShowOptions, items: readonly ShadowResource[], meta: ListMeta): Json {
  const { api, shown } = options;
  const metadata = {
    resourceVersion: String(meta.version),
    ...(meta.continue === null ? {} : { continue: meta.continue }),
    ...(meta.remaining === null ? {} : { remainingItemCount: meta.remaining }),
  };
  switch (shown.as) {
    case 'table':
      return table(options, items, metadata, true);
    case 'metadata': {
      const apiVersion = `meta.k8s.io/${shown.version}`;
      return {
        kind: 'PartialObjectMetadataList',
        apiVersion,
        metadata,
        items: items.map((item) => partial(options, item)),
      };
    }
    case 'object':
      return { kind: listKind, apiVersion: apiVersionOf(api), metadata, items };
  }
}

/** @param withColumns of a table; default true */
export function showOne(options: ShowOptions, item: ShadowResource, withColumns = true): Json {
  switch (options.shown.as) {
    case 'table':
      return table(options, [item], { resourceVersion: item.metadata['resourceVersion'] }, withColumns);
    case 'metadata':
      return partial(options, item);
    case 'object':
      return { ...item };
  }
}

/** The object of a bookmark. @param isInitial it ends the present sets of a watch */
export function showBookmark(options: ShowOptions, version: bigint, isInitial: boolean): Json {
  const { api, shown } = options;
  const metadata = {
    resourceVersion: String(version),
    creationTimestamp: null,
    ...(isInitial ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
  switch (shown.as) {
    case 'table': {
      // A client finds the annotation in the object of the row.
      const object = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${shown.version}`, metadata };
      const rows = [{ cells: columns.map(() => ''), object }];
      return {
        kind: 'Table',
        apiVersion: `meta.k8s.io/${shown.version}`,
        metadata: { resourceVersion: String(version) },
        rows,
      };
    }
    case 'metadata':
      return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${shown.version}`, metadata };
    case 'object':
      return { kind, apiVersion: apiVersionOf(api), metadata, spec: { flowList: [] } };
  }
}

function partial({ shown }: ShowOptions, { metadata }: ShadowResource): Json {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${shown.version}`, metadata };
}

function table(options: ShowOptions, items: readonly ShadowResource[], metadata: Json, withColumns: boolean): Json {
  const { shown, included, now } = options;
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${shown.version}`,
    metadata,
    columnDefinitions: withColumns ? columns : null,
    rows: items.map((item) => ({
      cells: cellsOf(item, now()),
      object: included === 'None' ? null : included === 'Object' ? item : partial(options, item),
    })),
  };
}

function cellsOf({ metadata, status }: ShadowResource, now: number): readonly string[] {
  const [ready] = status.conditions;
  const madeAt = Date.parse(String(metadata['creationTimestamp']));
  const age = Number.isNaN(madeAt) ? '<unknown>' : humanDuration(now - madeAt);
  return [metadata.name, status.ready, status.phase, ready?.reason ?? '', age, ready?.message ?? ''];
}
