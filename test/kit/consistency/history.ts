/**
 * What clients held at their cursors, beside the history of the store: the present objects, with the entries of the change log undone.
 *
 *   objects at revision R -> entries after S undone -> objects at S -> filter, rights -> what a client at S must hold
 *
 * The rights of a live list are those of its cursor or newer. So a client may hold what one of the later bindings lets its user see.
 */
import { readChanges } from '../../../src/store/read/changes.ts';
import { leaseOn } from '../log-follower.ts';
import { type HeldView, linesOf } from './followed-list.ts';
import { administrator, type Binding, lineOf, maySee, type Shown } from './watched-objects.ts';

const bindingKeys = ['rolebindings.rbac.authorization.k8s.io', 'clusterrolebindings.rbac.authorization.k8s.io'];
const kindOfKey: Readonly<Record<string, string>> = { configmaps: 'ConfigMap', serviceaccounts: 'ServiceAccount' };

export interface CheckedViews {
  readonly checked: number;
  /** The log does not reach back to these, or they are of another store. */
  readonly unreachable: number;
}

/** @throws for a view that the store never had at its cursor. */
export async function checkViews(file: string, views: readonly HeldView[]): Promise<CheckedViews> {
  const history = await readHistory(file);
  const reachable = views.filter(({ list, epoch, sequence }) => {
    const keys = [
      ...Object.keys(kindOfKey).filter((key) => list.question.kinds.includes(kindOfKey[key] ?? '')),
      ...(list.user === administrator ? [] : bindingKeys),
    ];
    return epoch === history.epoch && keys.every((key) => sequence >= (history.floors.get(key) ?? 0));
  });
  const states: (readonly Binding[])[] = [];
  for (const view of [...reachable].sort((a, b) => b.sequence - a.sequence)) {
    history.undoTo(view.sequence, (bindings) => states.push(bindings));
    requireHeld(view, history.objects(), [history.bindings(), ...states]);
  }
  return { checked: reachable.length, unreachable: views.length - reachable.length };
}

/** The objects of the followed kinds in the store. */
export async function storedObjects(file: string): Promise<readonly Shown[]> {
  return (await readHistory(file, false)).objects();
}

function requireHeld(
  { list, sequence, byId }: HeldView,
  objects: readonly Shown[],
  bindings: readonly (readonly Binding[])[],
): void {
  const { question, user } = list;
  const { kinds, selection } = question;
  const matching = objects.filter((object) => kinds.includes(object.kind ?? '') && question.matches(object));
  const held = linesOf(byId, selection).join('\n');
  const possible = (user === administrator ? bindings.slice(0, 1) : bindings).map((each) =>
    matching
      .filter((object) => maySee(user, each, object))
      .map((object) => lineOf(object, selection))
      .sort()
      .join('\n'),
  );
  if (possible.includes(held)) return;
  throw new Error(
    `${user} at ${sequence} with ${JSON.stringify(question.filter)} of ${kinds} held\n${held}\nbut the store had\n${possible[0]}`,
  );
}

class History {
  readonly epoch: string;
  /** The log is whole after these sequence numbers, by resourceKey. */
  readonly floors: ReadonlyMap<string, number>;
  readonly #tables: ReadonlyMap<string, Map<string, Shown>>;
  /** Newest last. */
  readonly #entries: Entry[];

  constructor(
    epoch: string,
    floors: ReadonlyMap<string, number>,
    tables: ReadonlyMap<string, Map<string, Shown>>,
    entries: Entry[],
  ) {
    this.epoch = epoch;
    this.floors = floors;
    this.#tables = tables;
    this.#entries = entries;
  }

  objects(): readonly Shown[] {
    return Object.keys(kindOfKey).flatMap((key) => [...(this.#tables.get(key)?.values() ?? [])]);
  }

  bindings(): readonly Binding[] {
    return bindingKeys.flatMap((key) => [...(this.#tables.get(key)?.values() ?? [])] as unknown as Binding[]);
  }

  /** @param left gets the bindings before a change of them is undone */
  undoTo(sequence: number, left: (bindings: readonly Binding[]) => void): void {
    for (let entry = this.#entries.at(-1); entry !== undefined && entry.seq > sequence; entry = this.#entries.at(-1)) {
      this.#entries.pop();
      const { key, id, before } = entry;
      const table = this.#tables.get(key);
      if (table === undefined || entry.seq <= (this.floors.get(key) ?? 0)) continue;
      if (bindingKeys.includes(key)) left(this.bindings());
      if (before === null) table.delete(id);
      else table.set(id, objectOf(key, before));
    }
  }
}

interface Entry {
  readonly seq: number;
  readonly key: string;
  readonly id: string;
  /** Null if the object was added. */
  readonly before: string | null;
}

function objectOf(key: string, text: string): Shown {
  return { ...(JSON.parse(text) as Shown), kind: kindOfKey[key] ?? key };
}

/** @param withLog else it ends with the present objects: a test asks for them again and again */
async function readHistory(file: string, withLog = true): Promise<History> {
  const lease = leaseOn(file);
  try {
    const tables = new Map<string, Map<string, Shown>>();
    const floors = new Map<string, number>();
    const keys = new Map<number, string>();
    const known = await lease.all({
      sql: 'SELECT k.id, k.key, coalesce(l.floor, 0) FROM kind k LEFT JOIN kind_log l ON l.kind = k.id',
      params: [],
    });
    for (const [id, key, floor] of known) {
      keys.set(Number(id), String(key));
      tables.set(String(key), new Map());
      floors.set(String(key), Number(floor));
    }
    const rows = await lease.all({
      sql: `SELECT o.kind, o.namespace, o.name, coalesce(b.text, json(b.body)) FROM object o JOIN body b USING (id)
            WHERE o.rowset IN (SELECT rowset FROM resource r WHERE r.kind = o.kind AND r.cluster = o.cluster AND synced = 1)`,
      params: [],
    });
    for (const [kind, namespace, name, text] of rows) {
      const key = keys.get(Number(kind)) ?? '';
      tables.get(key)?.set(`${namespace}/${name}`, objectOf(key, String(text)));
    }
    const changes = withLog ? await readChanges(lease, { after: 0, limit: 1_000_000 }) : [];
    const entries = changes.flatMap(({ seq, type, kindId, namespace, name, before }): Entry[] => {
      const key = keys.get(kindId) ?? '';
      if (type === 'RESET') floors.set(key, Math.max(seq, floors.get(key) ?? 0));
      return type === 'RESET' ? [] : [{ seq, key, id: `${namespace ?? ''}/${name}`, before }];
    });
    return new History(lease.epoch, floors, tables, entries);
  } finally {
    lease.end();
  }
}
