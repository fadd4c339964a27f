/**
 * Prepares listed objects for the store: extracts the indexed metadata and the promoted keys, and makes the stored bodies. Runs in the
 * writer's thread, or in the parse thread (src/ingest/parse/parse.worker.ts) with its own in-memory SQLite database without tables.
 *
 *   FirstSync.recipe -> Preparer.prepare(objects) -> the writer's thread -> FirstSync.putPrepared
 *
 * An object's bytes become JSONB in one pass (jsonb-encoder.ts). The indexed values are read from the JSONB (jsonb-reader.ts), because
 * parsing the whole object to JavaScript would take longer than any other step. Some objects are read like a single event instead
 * (incoming.ts). Examples are objects that the encoder refuses, kinds with redacted paths, and synthetic identities.
 *
 * Invariant: a prepared object has the same rows as the same object in an event. Exceptions are texts with a repeated name or with
 * `kind: null`; no API server writes them.
 */

import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { must } from '../../base/must.ts';
import { healthRuleOf } from '../../catalog/health/health.ts';
import type { LeafType } from '../../catalog/tree/field-tree.ts';
import { type HealthName, type ListFold, type Path, parsePath } from '../../catalog/tree/path.ts';
import { foldValues } from '../../catalog/values/fold-values.ts';
import { withMembersBefore } from '../jsonb/jsonb.ts';
import { encodeJsonb } from '../jsonb/jsonb-encoder.ts';
import { JsonbPaths, JsonbValues } from '../jsonb/jsonb-reader.ts';
import { JsonbWalk, splitPath } from '../jsonb/jsonb-walk.ts';
import { Database, refusesJson } from '../sqlite/database.ts';
import { keysAt, storedKey } from '../sqlite/stored-keys.ts';
import type { StoredBody } from '../types/followed-log.ts';
import type { IncomingObject } from '../types/incoming-object.ts';
import type { PreparedObject, Recipe } from '../types/prepared-object.ts';
import type { SqlValue } from '../types/statement.ts';
import { HealthReader } from './health-reader.ts';
import {
  indexedMetadata,
  type MetadataMembers,
  type ObjectReading,
  type ReceivedObject,
  readIncoming,
} from './incoming.ts';
import { createRedaction, droppedPaths } from './redaction.ts';

/**
 * The location of a slot's value. `at` is the index of a path to find in the JSONB, or null for the root. `rest` leads from there to the
 * values.
 */
interface SlotPlace {
  readonly type: LeafType;
  readonly fold: ListFold | undefined;
  readonly at: number | null;
  readonly rest: JsonbWalk;
}

/** A slot, and the location of its value. */
type SlotSource = SlotPlace | { readonly health: HealthName };

/** The paths to find in every object, in this order. */
const always = [
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...[
    'name',
    'namespace',
    'uid',
    'resourceVersion',
    'creationTimestamp',
    'deletionTimestamp',
    'labels',
    'ownerReferences',
  ].map((name) => ['metadata', name]),
] as const;

const ownerPaths = new JsonbPaths([['uid'], ['controller']]);

interface Identity {
  readonly uid: string;
  readonly resourceVersion: string;
}

export class Preparer {
  readonly recipe: Recipe;
  readonly #database: Database;
  readonly #reading: ObjectReading;
  readonly #slots: readonly { readonly path: Path; readonly type: LeafType }[];
  readonly #places: readonly SlotSource[];
  readonly #paths: JsonbPaths;
  readonly #health: HealthReader;
  /** Indexes of the paths that are removed from all bodies. */
  readonly #dropped: readonly number[];
  readonly #bodySql: string;
  /** JSONB of the members that items of lists lack. */
  readonly #names: Uint8Array;

  constructor(recipe: Recipe, database: Database = new Database(':memory:')) {
    this.recipe = recipe;
    this.#database = database;
    const { names, health } = recipe;
    this.#reading = { names, redaction: createRedaction(recipe.redacted), health };
    this.#slots = recipe.slots.map(({ path, type }) => ({ path: parsePath(path), type }));
    this.#bodySql = `SELECT ${this.#reading.redaction.sql}`;
    const paths: (readonly string[])[] = [...always];
    // A path that is used several times is found once.
    const indexOf = (path: readonly string[]): number => {
      const known = paths.findIndex((each) => isDeepStrictEqual(each, path));
      return known === -1 ? paths.push(path) - 1 : known;
    };
    this.#places = this.#slots.map(({ path, type }) => {
      const [step] = path.steps;
      if (step?.kind === 'health') return { health: step.name };
      const { start, rest } = splitPath(path);
      return { type, fold: path.fold, at: start.length === 0 ? null : indexOf(start), rest: new JsonbWalk(rest) };
    });
    this.#dropped = droppedPaths.map(indexOf);
    this.#health = new HealthReader(healthRuleOf(names, health), indexOf);
    this.#paths = new JsonbPaths(paths);
    const { apiVersion, kind } = recipe.names;
    this.#names = this.#toJsonb('SELECT jsonb(?)', JSON.stringify({ apiVersion, kind })) ?? new Uint8Array();
  }

  /** Reads objects for the writer in this thread. Throws INVALID. */
  read(objects: readonly IncomingObject[]): readonly (PreparedObject | ReceivedObject)[] {
    return objects.map((object) => this.#find(object) ?? readIncoming(object, this.#reading));
  }

  /**
   * Prepares objects for another thread. Throws INVALID. Null where the writer needs the text itself: SQLite refuses it, or the
   * redacted paths depend on the object.
   */
  prepare(objects: readonly IncomingObject[]): readonly (PreparedObject | null)[] {
    return this.read(objects).map((object) => {
      if ('body' in object) return object;
      const body = object.redactedPaths.length > 0 ? null : this.#toJsonb(this.#bodySql, object.text);
      if (body === null) return null;
      const { text: _, value: __, redactedPaths: ___, managedFields: ____, ...indexed } = object;
      return { ...indexed, keys: keysAt(this.#slots, object), body };
    });
  }

  /**
   * Reads a body that a store of the same kind has, so that it is redacted already. Throws INVALID.
   * @param identity of the object; synthetic ones are not in the body
   */
  readStored(body: StoredBody, identity: Identity): PreparedObject | ReceivedObject {
    if (typeof body === 'string') return readIncoming({ text: body, ...identity }, this.#reading);
    const found = this.#findIn(Buffer.from(body.buffer, body.byteOffset, body.length), false, identity);
    if (found !== null) return found;
    return readIncoming({ text: String(this.#row('SELECT json(?)', body)?.[0]), ...identity }, this.#reading);
  }

  /** Prepares an object from its bytes; null when it must be read by readIncoming. */
  #find(object: IncomingObject): PreparedObject | null {
    const { value, uid, resourceVersion } = object;
    if (this.#reading.redaction.redacts || value !== undefined || uid !== undefined || resourceVersion !== undefined)
      return null;
    const encoded = encodeJsonb(object.bytes ?? Buffer.from(object.text));
    if (encoded === null) return null;
    const { jsonb, isAscii } = encoded;
    if (!isAscii && object.bytes !== undefined && !isUtf8(object.bytes)) return null;
    return this.#findIn(jsonb, isAscii);
  }

  /** Prepares an object from its JSONB; null when it must be read by readIncoming. */
  #findIn(jsonb: Buffer, isAscii: boolean, known: Partial<Identity> = {}): PreparedObject | null {
    const places = this.#paths.find(jsonb);
    const [apiVersion = -1, kind = -1, metadata = -1, ...members] = places;
    // Items of lists lack both apiVersion and kind. An object with only one of them needs readIncoming.
    if ((apiVersion === -1) !== (kind === -1) || members[0] === -1) return null;
    const values = new JsonbValues(jsonb, isAscii ? metadata : -1);
    const { names } = this.recipe;
    if (kind !== -1 && (values.value(kind) !== names.kind || values.value(apiVersion) !== names.apiVersion))
      return null;
    const health = this.#health.read(jsonb, values, places);
    return {
      ...indexedMetadata({ ...metadataOf(jsonb, values, members), ...known }),
      health,
      keys: this.#places.map((source) => {
        if ('health' in source) return health[source.health];
        return keyAt(source, values, places);
      }),
      body: this.#body(kind === -1 ? withMembersBefore(this.#names, jsonb) : Buffer.from(jsonb), places),
    };
  }

  /** The body without the paths that are dropped from all bodies. */
  #body(jsonb: Uint8Array, places: readonly number[]): Uint8Array {
    if (this.#dropped.every((at) => places[at] === -1)) return jsonb;
    return must(this.#toJsonb(this.#bodySql, jsonb), 'an object that is JSONB');
  }

  #toJsonb(sql: string, json: string | Uint8Array): Uint8Array | null {
    const body = this.#row(sql, json)?.[0];
    return body instanceof Uint8Array ? body : null;
  }

  #row(sql: string, json: string | Uint8Array): readonly SqlValue[] | undefined | null {
    try {
      return this.#database.statement(sql).get(json);
    } catch (error) {
      if (refusesJson(error)) return null;
      throw error;
    }
  }
}

function keyAt({ type, fold, at, rest }: SlotPlace, values: JsonbValues, places: readonly number[]): SqlValue {
  const found = rest.find(values, at === null ? 0 : (places[at] ?? -1));
  if (fold !== undefined)
    return storedKey(
      type,
      foldValues(
        fold,
        type,
        found.map((place) => values.value(place)),
      ),
    );
  const [only = -1] = found;
  return storedKey(type, values.value(only));
}

function metadataOf(jsonb: Buffer, values: JsonbValues, places: readonly number[]): MetadataMembers {
  const [name = -1, namespace = -1, uid = -1, version = -1, created = -1, deleting = -1, labels = -1, owners = -1] =
    places;
  return {
    name: values.value(name),
    namespace: values.value(namespace),
    uid: values.value(uid),
    resourceVersion: values.value(version),
    creationTimestamp: values.value(created),
    deletionTimestamp: values.value(deleting),
    labels: values.entries(labels),
    ownerReferences: values.elements(owners).map((owner) => {
      const [ownerUid = -1, controller = -1] = ownerPaths.find(jsonb, owner);
      return { uid: values.value(ownerUid), controller: values.value(controller) };
    }),
  };
}
