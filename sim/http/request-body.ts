/**
 * Reads the body of a write: JSON or YAML, and what a strict reader has against it.
 *
 * The last of two members with one name counts. The problems say where there are two, in the words of a real server.
 */
import type { IncomingMessage } from 'node:http';
import { parseDocument } from 'yaml';
import { asArray, isObject, type JsonObject, parseJson } from '../objects/json.ts';
import { statusErrors } from '../objects/status-error.ts';
import { parsedOr400, readBody } from './respond.ts';

interface RequestBody<T> {
  readonly value: T;
  /** Such as `duplicate field "data.a"`. */
  readonly problems: readonly string[];
}

/** The object in a body. Throws a Status of 400, 413 or 415. */
export async function readObject(request: IncomingMessage): Promise<RequestBody<JsonObject>> {
  const body = await readObjectBody(request);
  if (!body) throw statusErrors.badRequest('the object provided is unrecognized: the body is empty');
  return body;
}

/** As `readObject`; undefined for an empty body. */
export async function readObjectBody(request: IncomingMessage): Promise<RequestBody<JsonObject> | undefined> {
  const type = request.headers['content-type'] ?? '';
  if (type !== '' && !/json|yaml/.test(type)) {
    throw statusErrors.unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml`,
    );
  }
  const text = await readBody(request);
  if (text.trim() === '') return undefined;
  const { value, problems } = type.includes('yaml') ? readYaml(text) : readJson(text);
  if (!isObject(value)) throw statusErrors.badRequest('the body of the request must be an object');
  return { value, problems };
}

/** A patch; an applied one is YAML, of which JSON is a part. Throws a Status of 400 or 413. */
export async function readPatchBody(request: IncomingMessage, applied: boolean): Promise<RequestBody<unknown>> {
  const text = await readBody(request);
  if (!applied) return readJson(text);
  const { value, problems } = readYaml(text);
  return { value: value ?? {}, problems };
}

function readJson(text: string): RequestBody<unknown> {
  const value = parsedOr400(() => parseJson(text));
  const problems = [...duplicateFields(text)].map((path) => `duplicate field ${JSON.stringify(path)}`);
  return { value, problems: [...problems, ...strangeOperations(value)] };
}

/** Members of the operations of a JSON patch that no operation has. */
function strangeOperations(patch: unknown): string[] {
  const known = ['op', 'path', 'from', 'value'];
  return asArray(patch).flatMap((operation, index) =>
    Object.keys(isObject(operation) ? operation : {})
      .filter((key) => !known.includes(key))
      .map((key) => `json patch unknown field ${JSON.stringify(`[${index}].${key}`)}`),
  );
}

function readYaml(text: string): RequestBody<unknown> {
  const document = parseDocument(text);
  const duplicates = document.errors.filter(({ code }) => code === 'DUPLICATE_KEY');
  const [wrong] = document.errors.filter(({ code }) => code !== 'DUPLICATE_KEY');
  if (wrong) throw statusErrors.badRequest(`error decoding patch: yaml: ${wrong.message}`);
  const problems = duplicates.map(({ pos: [start], linePos }) => {
    const [, key = ''] = /^["']?([^"':]*)/.exec(text.slice(start)) ?? [];
    return `line ${linePos?.[0].line ?? 1}: key ${JSON.stringify(key)} already set in map`;
  });
  return { value: parsedOr400(() => document.toJS() as unknown), problems };
}

/** The paths of members that an object in valid JSON text has twice, such as `spec.list[0].a`. */
function* duplicateFields(text: string): Generator<string> {
  /** The objects and lists around a position. `name` and `index` are those of the present member. */
  const around: { readonly path: string; readonly names: Set<string> | undefined; index: number; name: string }[] = [];
  let wantsName = false;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
    const inner = around.at(-1);
    if (token === '{' || token === '[') {
      const path = inner ? memberPath(inner) : '';
      around.push({ path, names: token === '{' ? new Set() : undefined, index: 0, name: '' });
      wantsName = token === '{';
    } else if (token === '}' || token === ']') {
      around.pop();
      wantsName = false;
    } else if (token === ',' && inner) {
      inner.index++;
      wantsName = inner.names !== undefined;
    } else if (wantsName && inner?.names) {
      wantsName = false;
      inner.name = JSON.parse(token) as string;
      if (inner.names.has(inner.name)) yield memberPath(inner);
      inner.names.add(inner.name);
    }
  }
}

function memberPath(at: { path: string; names: unknown; index: number; name: string }): string {
  if (at.names === undefined) return `${at.path}[${at.index}]`;
  return at.path === '' ? at.name : `${at.path}.${at.name}`;
}
