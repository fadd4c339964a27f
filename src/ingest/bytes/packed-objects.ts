/**
 * Packs the parse thread's prepared objects into one flat list. A message of nested objects repeats every field name, which takes both
 * threads several times as long. Unpacking returns equal objects.
 *
 * A prepared object has these values, each list after its length:
 *   name, namespace, uid, resourceVersion, created, deleting, marks, the parts of the health, bytes of the body
 *   labels, owners, keys of slots
 *
 * An object that is stored from its text has null and the text.
 */

import type { IncomingObject } from '../../store/types/incoming-object.ts';
import { healthValues, storedHealth } from '../../store/types/kind-layout.ts';
import type { PreparedObject } from '../../store/types/prepared-object.ts';
import type { SqlValue } from '../../store/types/statement.ts';

export interface PackedObjects {
  readonly values: readonly SqlValue[];
  /** The concatenated bodies. */
  readonly bodies: Uint8Array<ArrayBuffer>;
}

export type SentObject = PreparedObject | IncomingObject;

export function packObjects(objects: readonly SentObject[]): PackedObjects {
  const values: SqlValue[] = [];
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (const object of objects) {
    if (!('body' in object)) {
      values.push(null, object.text);
      continue;
    }
    const { name, namespace, uid, resourceVersion, created, deleting, marks, health, body } = object;
    values.push(name, namespace, uid, resourceVersion, created, deleting, marks, ...healthValues(health), body.length);
    values.push(object.labels.length);
    for (const [key, value] of object.labels) values.push(key, value);
    values.push(object.owners.length);
    for (const owner of object.owners) values.push(owner.uid, owner.controller ? 1 : 0);
    values.push(object.keys.length, ...object.keys);
    parts.push(body);
    bytes += body.length;
  }
  const bodies = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    bodies.set(part, at);
    at += part.length;
  }
  return { values, bodies };
}

export function unpackObjects({ values, bodies }: PackedObjects): readonly SentObject[] {
  const objects: SentObject[] = [];
  let at = 0;
  let from = 0;
  const next = (): SqlValue => {
    at += 1;
    return values[at - 1] ?? null;
  };
  const text = (): string => String(next());
  const time = (): bigint | null => {
    const value = next();
    return typeof value === 'bigint' ? value : null;
  };
  const body = (): Uint8Array => {
    const bytes = Number(next());
    from += bytes;
    return bodies.subarray(from - bytes, from);
  };
  const list = <T>(item: () => T): T[] => {
    const items: T[] = [];
    for (let left = Number(next()); left > 0; left -= 1) items.push(item());
    return items;
  };
  while (at < values.length) {
    const first = next();
    if (first === null) {
      objects.push({ text: text() });
      continue;
    }
    objects.push({
      name: String(first),
      namespace: text(),
      uid: text(),
      resourceVersion: text(),
      created: time(),
      deleting: time(),
      marks: text(),
      health: storedHealth([next(), next(), next(), next()]),
      body: body(),
      labels: list((): readonly [string, string] => [text(), text()]),
      owners: list(() => ({ uid: text(), controller: next() === 1 })),
      keys: list(next),
    });
  }
  return objects;
}
