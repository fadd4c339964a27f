/**
 * Makes listed objects ready for the store: what is indexed of them, and their bodies as they are stored. Runs in the writer's
 * thread, or in one beside it (src/ingest/parse.worker.ts) with an SQLite of its own, in memory and without a table.
 *
 *   FirstSync.recipe -> Preparer.prepare(texts) -> the writer's thread -> FirstSync.putPrepared
 *
 * SQLite has to read the whole text to make the body of it; JavaScript sees only what SQLite finds for it there, what is indexed of
 * the metadata and the promoted paths, because reading all of it a second time would cost more than any other step. What SQLite does not take, and
 * what needs more care, is read as a single event is (incoming.ts).
 *
 * Invariant: the rows of a prepared object are those of the same object when it comes as an event. Texts that are not quite JSON
 * (SQLite knows JSON5), have a name twice or null for their kind are the exception: no API server writes them.
 */
import type { LeafType } from '../catalog/field-tree.ts';
import { type Path, parsePath } from '../catalog/path.ts';
import { valueAt } from '../catalog/value-at.ts';
import { parseExact } from '../catalog/values.ts';
import { Database, refusesJson } from './database.ts';
import {
  type IndexedMetadata,
  type KindNamesOnWire,
  type ReceivedObject,
  readIncoming,
  readMetadata,
} from './incoming.ts';
import { withMembersBefore } from './jsonb.ts';
import { keysAt } from './promoted-table.ts';
import { createRedaction, type Redaction } from './redaction.ts';
import { storedKey } from './sql-functions.ts';
import type { IncomingObject, SqlValue } from './types.ts';

/** What an object's rows depend on besides the object. Plain data; two that are equal as JSON are the same. */
export interface Recipe {
  readonly names: KindNamesOnWire;
  readonly withheld: readonly string[];
  /** In the order of the promoted table's slots. */
  readonly slots: readonly { readonly path: string; readonly type: LeafType }[];
}

export interface PreparedObject extends IndexedMetadata {
  /** Of the promoted slots. */
  readonly keys: readonly SqlValue[];
  /** JSONB, without what is dropped and withheld. */
  readonly body: Uint8Array;
}

/** Where the value of a slot stands in what SQLite finds, and the way from there. */
interface SlotPlace {
  readonly type: LeafType;
  readonly at: number;
  readonly rest: Pick<Path, 'steps'>;
}

/** What readMetadata looks at. */
const indexedMembers = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'labels',
  'ownerReferences',
] as const;

/** Names that stand in a path of SQLite as they are. */
const plainName = /^[A-Za-z0-9_./-]+$/;

export class Preparer {
  readonly recipe: Recipe;
  readonly #database: Database;
  readonly #redaction: Redaction;
  readonly #slots: readonly { readonly path: Path; readonly type: LeafType }[];
  readonly #places: readonly SlotPlace[];
  readonly #bodySql: string;
  readonly #findSql: string;
  /** JSONB of the members that items of lists lack. */
  readonly #names: Uint8Array;

  constructor(recipe: Recipe, database: Database = new Database(':memory:')) {
    this.recipe = recipe;
    this.#database = database;
    this.#redaction = createRedaction(recipe.withheld);
    this.#slots = recipe.slots.map(({ path, type }) => ({ path: parsePath(path), type }));
    this.#bodySql = `SELECT ${this.#redaction.sql}`;
    const found = ['$.apiVersion', '$.kind', ...indexedMembers.map((name) => `$.metadata.${name}`)];
    this.#places = this.#slots.map(({ path, type }) => {
      const { start, rest } = splitPath(path);
      if (!found.includes(start)) found.push(start);
      return { type, at: found.indexOf(start), rest };
    });
    const body = this.#redaction.sql.replace('?', 'text');
    const values = `json_extract(text, ${found.map((path) => `'${path}'`).join(', ')})`;
    // SQLite parses a text once for all functions of a statement, but copies it for each.
    this.#findSql = `SELECT ${body}, ${values} FROM (SELECT ? AS text)`;
    const { apiVersion, kind } = recipe.names;
    this.#names = this.#toJsonb('SELECT jsonb(?)', JSON.stringify({ apiVersion, kind })) ?? new Uint8Array();
  }

  /** The objects as they can be stored. Throws INVALID. */
  read(objects: readonly IncomingObject[]): readonly (PreparedObject | ReceivedObject)[] {
    const { names } = this.recipe;
    return objects.map((object) => this.#find(object) ?? readIncoming(object, names, this.#redaction));
  }

  /** Null where the writer must see the text itself: SQLite refuses it, or what is withheld depends on the object. Throws INVALID. */
  prepare(texts: readonly string[]): readonly (PreparedObject | null)[] {
    return this.read(texts.map((text) => ({ text }))).map((object) => {
      if ('body' in object) return object;
      const body = object.withheldPlaces.length > 0 ? null : this.#toJsonb(this.#bodySql, object.text);
      if (body === null) return null;
      const { text: _, value: __, withheldPlaces: ___, ...indexed } = object;
      return { ...indexed, keys: keysAt(this.#slots, object), body };
    });
  }

  /** The object with what SQLite finds of it; null when it needs more care. */
  #find({ text, value, uid, resourceVersion }: IncomingObject): PreparedObject | null {
    if (this.#redaction.withholds || value !== undefined || uid !== undefined || resourceVersion !== undefined)
      return null;
    const [body, found] = this.#row(this.#findSql, text) ?? [];
    if (!(body instanceof Uint8Array) || typeof found !== 'string') return null;
    const values = parseExact(found) as readonly unknown[];
    const [
      apiVersion,
      kind,
      name,
      namespace,
      objectUid,
      version,
      creationTimestamp,
      deletionTimestamp,
      labels,
      owners,
    ] = values;
    // Items of lists lack both.
    if ((apiVersion === null) !== (kind === null) || name === null) return null;
    const metadata = {
      name,
      namespace,
      uid: objectUid,
      resourceVersion: version,
      creationTimestamp,
      deletionTimestamp,
      labels,
      ownerReferences: owners,
    };
    return {
      ...readMetadata(metadata),
      keys: this.#places.map(({ type, at, rest }) => storedKey(type, valueAt(values[at], rest))),
      body: kind === null ? withMembersBefore(this.#names, body) : body,
    };
  }

  #toJsonb(sql: string, text: string): Uint8Array | null {
    const body = this.#row(sql, text)?.[0];
    return body instanceof Uint8Array ? body : null;
  }

  #row(sql: string, text: string): readonly SqlValue[] | undefined | null {
    try {
      return this.#database.statement(sql).get(text);
    } catch (error) {
      if (refusesJson(error)) return null;
      throw error;
    }
  }
}

/** The longest start of a path that SQLite follows as `valueAt` does, and what is left of it. */
function splitPath(path: Path): { readonly start: string; readonly rest: Pick<Path, 'steps'> } {
  let start = '$';
  let taken = 0;
  for (const step of path.steps) {
    const name = step.kind === 'field' ? step.name : step.kind === 'key' ? step.key : '';
    if (!plainName.test(name)) break;
    start += `."${name}"`;
    taken += 1;
  }
  return { start, rest: { steps: path.steps.slice(taken) } };
}
