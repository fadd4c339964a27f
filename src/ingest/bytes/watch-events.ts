/**
 * Reads one line of a watch: an event, a bookmark, or an error. The text of an event's object is exactly as received,
 * except for managedFields, whose text is beside it.
 *
 * It rejects every line that the store cannot identify with a ProtocolError: invalid JSON, an unknown type, or an object of another
 * kind. An object without name, uid or resourceVersion is rejected too. A uid may be missing if the listed objects have none either. The
 * watch ends there, and its resourceVersion stays before the line.
 *
 * Example: `{"type":"ADDED","object":{…}}` becomes an event of type `ADDED` with the text `{…}`.
 */
import { messageOf } from '../../base/errors.ts';
import { isRecord, isText, recordOr } from '../../base/json.ts';
import { apiVersionOf, type Resource } from '../../catalog/resources/resource.ts';
import { syntheticUid } from '../../catalog/resources/synthetic-identity.ts';
import { type ApiError, apiErrorFromStatus } from '../../kube/http/api-error.ts';
import type { IncomingEvent } from '../../store/types/incoming-object.ts';
import { splitManagedFields } from './managed-fields.ts';
import { noUid, noVersion, ProtocolError } from './protocol-error.ts';

export type WatchMessage =
  | { readonly type: 'event'; readonly event: IncomingEvent; readonly resourceVersion: string }
  /** `endsInitial`: all objects that existed at the start have been sent (streaming lists). */
  | { readonly type: 'bookmark'; readonly resourceVersion: string; readonly endsInitial: boolean }
  | { readonly type: 'error'; readonly error: ApiError };

type Json = Readonly<Record<string, unknown>>;

/** The prefix that API servers write; a scanner handles any other form. */
const usualLine = /^\{"type":"([A-Z]+)","object":/;
/** Leading bytes of a line that the prefix is matched against. */
const usualBytes = 40;
const closeBrace = 0x7d;

/** The annotation of the bookmark after the initial events of a streaming list. */
const endOfInitial = 'k8s.io/initial-events-end';

/** Reads a line. `what` names the request in messages. `bare`: an object may lack a uid (bare-object.ts). Throws ProtocolError. */
export function readWatchLine(line: Buffer, resource: Resource, what: string, bare = false): WatchMessage {
  const { type, objectText, object, managedFields } = split(line, what);
  if (type === 'ERROR') return { type: 'error', error: apiErrorFromStatus(object, what) };
  if (type === 'BOOKMARK') {
    const { resourceVersion, annotations } = recordOr(object['metadata']);
    if (!isText(resourceVersion)) throw bad('no resourceVersion', `${what} sent a bookmark without a resourceVersion.`);
    checkKind(object, resource, what);
    return { type: 'bookmark', resourceVersion, endsInitial: recordOr(annotations)[endOfInitial] === 'true' };
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') {
    throw bad('unknown event', `${what} sent an event of the unknown type ${JSON.stringify(type.slice(0, 40))}.`);
  }
  checkKind(object, resource, what);
  const { name, namespace, uid, resourceVersion } = recordOr(object['metadata']);
  if (!isText(name)) throw bad('no name', `${what} sent an object without a name.`);
  if (!isText(resourceVersion)) throw bad(noVersion, `${what} sent ${name} without a resourceVersion.`);
  if (!isText(uid) && !bare) throw bad(noUid, `${what} sent ${name} without a uid.`);
  const made = isText(uid) ? {} : { uid: syntheticUid(isText(namespace) ? namespace : '', name) };
  const received = {
    text: objectText,
    value: object,
    ...made,
    ...(managedFields === undefined ? {} : { managedFields }),
  };
  return { type: 'event', event: { type, object: received }, resourceVersion };
}

interface Line {
  readonly type: string;
  readonly objectText: string;
  readonly object: Json;
  /** The JSON text of managedFields that was cut out of the object. */
  readonly managedFields?: string | undefined;
}

function split(line: Buffer, what: string): Line {
  const usual = usualLine.exec(line.toString('latin1', 0, usualBytes));
  if (usual !== null && line.at(-1) === closeBrace) {
    // If the text between the prefix and the last brace is one JSON value, the line is valid and has only these two members.
    const { rest, managedFields } = splitManagedFields(line.subarray(usual[0].length, -1));
    const objectText = rest.toString('utf8');
    try {
      return { type: usual[1] ?? '', objectText, object: mustBeObject(JSON.parse(objectText), what), managedFields };
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
    }
  }
  const text = line.toString('utf8');
  let whole: Json;
  try {
    whole = recordOr(JSON.parse(text));
  } catch (error) {
    throw bad('bad json', `${what} sent a line that is not JSON (${messageOf(error).slice(0, 60)}).`);
  }
  const { type } = whole;
  if (typeof type !== 'string') throw bad('unknown event', `${what} sent a line that is no watch event.`);
  return { type, objectText: memberText(text, 'object'), object: mustBeObject(whole['object'], what) };
}

/** The text of a member of an object in valid JSON. For a repeated name the last one counts, as in JSON.parse. */
function memberText(text: string, wanted: string): string {
  let found = 'null';
  let depth = 0;
  let name: string | null = null;
  let valueFrom = -1;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      if (depth === 1 && valueFrom === -1) name = String(JSON.parse(text.slice(at, end)));
      at = end - 1;
    } else if (char === '{' || char === '[') {
      depth += 1;
    } else if (char === ':' && depth === 1) {
      valueFrom = at + 1;
    } else if (char === '}' || char === ']' || char === ',') {
      if (depth === 1 && valueFrom !== -1) {
        if (name === wanted) found = text.slice(valueFrom, at).trim();
        valueFrom = -1;
      }
      if (char !== ',') depth -= 1;
    }
  }
  return found;
}

/** The index after the closing quote of the string that begins at `from`. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; ; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
}

/** An object of another kind means that another service answered. The store adds a missing kind. */
function checkKind(object: Json, resource: Resource, what: string): void {
  const { kind, apiVersion } = object;
  if (kind === undefined && apiVersion === undefined) return;
  if (kind === resource.kind && apiVersion === apiVersionOf(resource)) return;
  throw bad(
    'wrong kind',
    `${what} sent ${String(apiVersion)} ${String(kind)} where ${apiVersionOf(resource)} ${resource.kind} belongs.`,
  );
}

function mustBeObject(value: unknown, what: string): Json {
  if (isRecord(value)) return value;
  throw bad('bad json', `${what} sent an event without an object.`);
}

function bad(reason: string, message: string): ProtocolError {
  return new ProtocolError(reason, message);
}
