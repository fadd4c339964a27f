/**
 * The storage of the model's API server: one counter of revisions, objects by collection, and all that ever was.
 *
 * It forgets nothing, whatever was compacted: `stateAt` is the oracle that tables are compared with.
 */
import { must } from '../../src/base/must.ts';

/** A collection that the model serves. */
export interface ModelResource {
  /** resourceKey */
  readonly key: string;
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  /** Path of the whole collection. */
  readonly path: string;
  /** Its resourceVersions have no order. */
  readonly opaque: boolean;
}

export interface ModelObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** As the server shows it. */
  readonly version: string;
  /** The whole object as JSON. */
  readonly text: string;
}

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface ModelEvent {
  readonly revision: number;
  readonly resource: ModelResource;
  readonly type: EventType;
  readonly object: ModelObject;
  /** No watch is told of it (F36). */
  readonly hidden: boolean;
}

type Objects = ReadonlyMap<string, ModelObject>;

/** What a run can go back to. */
export interface Backup {
  readonly revision: number;
  readonly collections: ReadonlyMap<string, Objects>;
}

export class ModelStorage {
  revision: number;
  /** Watches and tokens below it are refused. */
  compacted: number;
  readonly #collections = new Map<string, Objects>();
  readonly #events: ModelEvent[] = [];
  /** By resourceKey, rising. */
  readonly #states = new Map<string, { readonly revision: number; readonly objects: Objects }[]>();

  constructor(revision: number, backup?: Backup) {
    this.revision = revision;
    this.compacted = revision;
    for (const [key, objects] of backup?.collections ?? []) {
      this.#collections.set(key, objects);
      this.#states.set(key, [{ revision: 0, objects }]);
    }
  }

  objects(key: string): Objects {
    return this.#collections.get(key) ?? new Map();
  }

  write(resource: ModelResource, type: EventType, object: ModelObject, hidden = false): ModelEvent {
    this.revision += 1;
    const objects = new Map(this.objects(resource.key));
    if (type === 'DELETED') objects.delete(idOf(object));
    else objects.set(idOf(object), object);
    this.#collections.set(resource.key, objects);
    const states = this.#states.get(resource.key) ?? [{ revision: 0, objects: new Map() }];
    states.push({ revision: this.revision, objects });
    this.#states.set(resource.key, states);
    const event = { revision: this.revision, resource, type, object, hidden };
    this.#events.push(event);
    return event;
  }

  /** What the collection was at this revision, in order of namespace and name. */
  stateAt(key: string, revision: number): readonly ModelObject[] {
    const objects = this.#states.get(key)?.findLast((state) => state.revision <= revision)?.objects ?? new Map();
    return [...objects.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** Events of a collection behind one revision and up to another, in order. */
  events(key: string, after: number, upTo: number = this.revision): readonly ModelEvent[] {
    const from = this.#events.findIndex(({ revision }) => revision > after);
    if (from === -1) return [];
    return this.#events.slice(from).filter(({ resource, revision }) => resource.key === key && revision <= upTo);
  }

  /** The newest event of a collection that is not newer than this revision. */
  lastEvent(key: string, upTo: number): ModelEvent | undefined {
    return this.#events.findLast(({ resource, revision }) => resource.key === key && revision <= upTo);
  }

  /** True of a revision that no watch is told of. */
  isHidden(revision: number): boolean {
    return this.#events.findLast((event) => event.revision <= revision)?.hidden === true;
  }

  backup(): Backup {
    return { revision: this.revision, collections: new Map(this.#collections) };
  }
}

export function idOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** How the server shows a revision: its number, or for collections without an order its digits from the end. */
export function shown({ opaque }: ModelResource, revision: number): string {
  return opaque ? `x${[...String(revision)].reverse().join('')}` : String(revision);
}

/** The revision behind what was shown; NaN for what was not. */
export function revisionOf(version: string): number {
  if (!version.startsWith('x')) return Number(version);
  return Number([...version.slice(1)].reverse().join(''));
}

const served = (group: string, plural: string, kind: string, opaque = false): ModelResource => ({
  key: group === '' ? plural : `${plural}.${group}`,
  group,
  plural,
  kind,
  path: group === '' ? `/api/v1/${plural}` : `/apis/${group}/v1/${plural}`,
  opaque,
});

export const configMaps = served('', 'configmaps', 'ConfigMap');
export const widgets = served('shop.example.com', 'widgets', 'Widget');
export const readings = served('opaque.example.com', 'readings', 'Reading', true);
export const modelResources: readonly ModelResource[] = [configMaps, widgets, readings];

export function apiVersionOf({ group }: ModelResource): string {
  return group === '' ? 'v1' : `${group}/v1`;
}

/** The collection that a path names, if any. */
export function resourceAt(path: string): ModelResource | undefined {
  return modelResources.find((resource) => resource.path === path);
}

export function withoutKind({ text }: ModelObject): string {
  return `{${must(/"metadata".*$/s.exec(text), 'an object with metadata')[0]}`;
}
