/** What kubectl says of the objects of a namespace: the facts with which tests compare. Nothing here is read from Portolan. */
import type { ControlPlane } from '../kit/control-plane.ts';

/** An object as `kubectl get -o json` prints it. */
export interface Item {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly ownerReferences?: readonly { readonly uid: string; readonly name: string }[];
  };
  readonly [field: string]: unknown;
}

/** A table as kubectl prints it: the cells of each row by the column's heading, in capital letters. */
export type Table = readonly Readonly<Record<string, string>>[];

export class Facts {
  readonly items: readonly Item[];
  constructor(items: readonly Item[]) {
    this.items = items;
  }

  /** In the order of their names. */
  ofKind(kind: string): readonly Item[] {
    return this.items
      .filter((item) => item.kind === kind)
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  names(kind: string, where: (item: Item) => boolean = () => true): readonly string[] {
    return this.ofKind(kind)
      .filter(where)
      .map((item) => item.metadata.name);
  }

  /** Null where there is none. */
  find(kind: string, name: string): Item | null {
    return this.items.find((item) => item.kind === kind && item.metadata.name === name) ?? null;
  }

  /** The object and all that it owns, over any number of steps. */
  withOwned(root: Item): ReadonlySet<string> {
    const uids = new Set([root.metadata.uid]);
    for (let before = 0; before < uids.size; ) {
      before = uids.size;
      for (const item of this.items) if (ownersOf(item).some((uid) => uids.has(uid))) uids.add(item.metadata.uid);
    }
    return uids;
  }

  eventsAbout(uids: ReadonlySet<string>): readonly Item[] {
    return this.ofKind('Event').filter(({ involvedObject }) => uids.has((involvedObject as { uid: string }).uid));
  }
}

export function ownersOf({ metadata }: Item): readonly string[] {
  return (metadata.ownerReferences ?? []).map(({ uid }) => uid);
}

/** The objects of these resources. Those of cluster-scoped resources are all of the cluster. */
export async function factsOf(plane: ControlPlane, namespace: string, resources: readonly string[]): Promise<Facts> {
  const text = await plane.kubectl(['get', resources.join(','), '-n', namespace, '-o', 'json']);
  return new Facts((JSON.parse(text) as { items: readonly Item[] }).items);
}

/** What `kubectl get` prints for people. */
export async function tableOf(plane: ControlPlane, namespace: string, resource: string): Promise<Table> {
  const lines = (await plane.kubectl(['get', resource, '-n', namespace])).split('\n').filter((line) => line !== '');
  const [head = '', ...rows] = lines;
  // Headings stand three blanks apart, above their cells.
  const columns = [...head.matchAll(/\S+(?: \S+)*/g)].map(({ 0: name, index }) => ({ name, index }));
  return rows.map((row) =>
    Object.fromEntries(columns.map(({ name, index }, at) => [name, row.slice(index, columns[at + 1]?.index).trim()])),
  );
}
