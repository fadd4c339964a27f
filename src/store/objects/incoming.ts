/**
 * Reads a received object for the writer: identity, version, times and indexed metadata.
 *
 * The text is authoritative. The parsed value may have rounded numbers, so only names, labels and similar strings come from it.
 */

import { messageOf, PortolanError } from '../../base/errors.ts';
import { isText, record, recordOr, records } from '../../base/json.ts';
import type { HealthRules } from '../../catalog/health/declared-health.ts';
import { healthOf } from '../../catalog/health/health.ts';
import { parseExact, scalarText } from '../../catalog/values/values.ts';
import { storedKey } from '../sqlite/stored-keys.ts';
import type { IncomingObject } from '../types/incoming-object.ts';
import type { IndexedMetadata, IndexedObject, KindNamesOnWire, Owner } from '../types/prepared-object.ts';
import type { Redaction } from './redaction.ts';

export interface ReceivedObject extends IndexedObject {
  /** The object as JSON, with apiVersion and kind. */
  readonly text: string;
  /** The parsed object without its redacted paths. */
  readonly value: Readonly<Record<string, unknown>>;
  /** SQLite paths to remove from the text, besides the paths that the redaction's SQL removes. */
  readonly redactedPaths: readonly string[];
  /** metadata.managedFields, or its JSON text; undefined if the object came without. */
  readonly managedFields: unknown;
}

/** The knowledge for reading the objects of a kind. */
export interface ObjectReading {
  readonly names: KindNamesOnWire;
  readonly redaction: Redaction;
  /** The declared rules of the health. */
  readonly health: HealthRules | undefined;
}

/** Reads a received object. Throws INVALID when it is no object, or has no name, uid or resourceVersion. */
export function readIncoming(incoming: IncomingObject, { names, redaction, health }: ObjectReading): ReceivedObject {
  // Redaction changes the value, and the caller's value must not change. So the text is parsed again.
  const parsed = incoming.value === undefined || redaction.redacts ? parse(incoming.text) : incoming.value;
  const redactedPaths = redaction.redacts ? redaction.redact(parsed) : [];
  const value = record(parsed);
  if (value === undefined) throw invalid('has no metadata');
  return {
    text: withKind(incoming.text, value, names),
    value,
    redactedPaths,
    managedFields: incoming.managedFields ?? record(value['metadata'])?.['managedFields'],
    ...readMetadata(value['metadata'], incoming),
    health: healthOf(value, health, names),
  };
}

/** The indexed metadata of an object. Members of `known` take precedence. Throws INVALID as readIncoming does. */
function readMetadata(received: unknown, known: Pick<IncomingObject, 'uid' | 'resourceVersion'> = {}): IndexedMetadata {
  const metadata = record(received);
  if (metadata === undefined) throw invalid('has no metadata');
  return indexedMetadata({
    name: metadata['name'],
    namespace: metadata['namespace'],
    uid: known.uid ?? metadata['uid'],
    resourceVersion: known.resourceVersion ?? metadata['resourceVersion'],
    creationTimestamp: metadata['creationTimestamp'],
    deletionTimestamp: metadata['deletionTimestamp'],
    labels: Object.entries(recordOr(metadata['labels'])),
    ownerReferences: records(metadata['ownerReferences']),
  });
}

/** The members of an object's metadata that are indexed, not yet validated. */
export interface MetadataMembers {
  readonly name: unknown;
  readonly namespace: unknown;
  readonly uid: unknown;
  readonly resourceVersion: unknown;
  readonly creationTimestamp: unknown;
  readonly deletionTimestamp: unknown;
  /** In the order of Object.entries, each name once. */
  readonly labels: readonly (readonly [string, unknown])[];
  readonly ownerReferences: readonly ({ readonly uid?: unknown; readonly controller?: unknown } | null)[];
}

/** Validates the members and makes the indexed metadata of them. Throws INVALID as readIncoming does. */
export function indexedMetadata(members: MetadataMembers): IndexedMetadata {
  const { name, namespace, uid, resourceVersion } = members;
  if (!isText(name)) throw invalid('has no name');
  if (!isText(uid)) throw invalid(`${name} has no uid`, { lacks: 'uid' });
  if (!isText(resourceVersion)) throw invalid(`${name} has no resourceVersion`, { lacks: 'resourceVersion' });
  const labels = textEntries(members.labels);
  const owners = readOwners(members.ownerReferences);
  return {
    namespace: isText(namespace) ? namespace : '',
    name,
    uid,
    resourceVersion,
    created: time(members.creationTimestamp),
    deleting: time(members.deletionTimestamp),
    labels,
    owners,
    marks: JSON.stringify([Object.fromEntries(labels), owners]),
  };
}

/** `details` tells which member is lacking, for a reader that can do without it. */
function invalid(what: string, details: Readonly<Record<string, unknown>> = {}): PortolanError {
  return new PortolanError('INVALID', `The API server sent an object that ${what}; it cannot be stored.`, { details });
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    throw new PortolanError('INVALID', `The API server sent an object that is not JSON: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

/** Adds apiVersion and kind, which items of a list lack. They come first, as Kubernetes writes them. */
function withKind(text: string, value: Readonly<Record<string, unknown>>, names: KindNamesOnWire): string {
  const missing: string[] = [];
  if (value['apiVersion'] === undefined) missing.push(`"apiVersion":${JSON.stringify(names.apiVersion)}`);
  if (value['kind'] === undefined) missing.push(`"kind":${JSON.stringify(names.kind)}`);
  if (missing.length === 0) return text;
  return `{${missing.join(',')},${text.slice(text.indexOf('{') + 1)}`;
}

function readOwners(references: MetadataMembers['ownerReferences']): Owner[] {
  const owners = new Map<string, Owner>();
  for (const reference of references) {
    if (!isText(reference?.uid)) continue;
    const uid = reference.uid.toWellFormed();
    owners.set(uid, { uid, controller: reference.controller === true });
  }
  return [...owners.values()];
}

/** The labels as texts. A label that is a number or a boolean counts as the text that a String shows. */
function textEntries(members: MetadataMembers['labels']): [string, string][] {
  const entries: [string, string][] = [];
  let sound = true;
  for (const [key, entry] of members) {
    const text = scalarText(entry);
    if (text === null) continue;
    entries.push([key, text.toWellFormed()]);
    sound &&= key.isWellFormed();
  }
  return sound ? entries : [...new Map(entries.map(([key, entry]) => [key.toWellFormed(), entry]))];
}

function time(value: unknown): bigint | null {
  if (typeof value !== 'string') return null;
  const key = storedKey('DateTime', value);
  return typeof key === 'bigint' ? key : null;
}
