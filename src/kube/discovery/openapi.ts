/**
 * The schemas of an API server: OpenAPI v3, one document per group version (KEP-2896), or else the one v2 document.
 *
 * Owns: the choice of the form. A document with a known hash is not fetched again.
 * Never: resolves references or validates schemas. A document that fails is reported and affects only its own group version.
 */
import { createHash } from 'node:crypto';
import { messageOf } from '../../base/errors.ts';
import { record, text, textOr } from '../../base/json.ts';
import type { RequestSender } from '../client/connection.ts';
import type { RestClient } from '../client/rest-client.ts';
import { ApiError, apiErrorFromNonsense } from '../http/api-error.ts';
import { mapBounded } from './map-bounded.ts';

/** Schemas by name (`io.k8s.api.core.v1.Pod`), with the hash of their document. */
interface OpenApiDocument {
  readonly hash: string;
  readonly schemas: Readonly<Record<string, unknown>>;
}

export interface OpenApiSource {
  readonly form: 'v3' | 'v2';
  /** By group version (`v1`, `apps/v1`) for v3; under `*` for v2. */
  readonly documents: ReadonlyMap<string, OpenApiDocument>;
  readonly failures: readonly { readonly groupVersion: string; readonly message: string }[];
}

/** Documents of earlier calls, by hash. */
type KnownDocuments = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

/** Milliseconds of silence of one document: other kinds wait for it. Its kinds are described again later. */
const patienceMs = 10_000;
/** Few at a time, because documents are large. */
const parallel = 4;

/** Hashes of v2 documents are entity tags. The prefix distinguishes them from those of v3. */
const tagPrefix = 'etag:';

/** The documents of these group versions (`v1`, `apps/v1`). Throws when the server serves neither form or cannot be reached. */
export async function fetchOpenApi(
  client: RestClient,
  groupVersions: readonly string[],
  options: { readonly known?: KnownDocuments; readonly signal?: AbortSignal | undefined } = {},
): Promise<OpenApiSource> {
  const known = options.known ?? new Map();
  const index = await readIndex(client, options.signal);
  return index === undefined
    ? fetchV2(client, known, options.signal)
    : fetchV3(client, index, groupVersions, known, options.signal);
}

/**
 * A mark for each group version, which changes when its schemas change. With v3 it is the hash of the document. Without v3, the
 * entry `*` has the server's version. Group versions without a hash are left out. Throws when the server cannot be reached.
 */
export async function openApiMarks(client: RestClient, signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const index = await readIndex(client, signal);
  if (index === undefined) {
    const version = text(record(await client.get('/version', { signal }))?.['gitVersion']);
    return new Map(version === undefined ? [] : [['*', version]]);
  }
  return new Map(
    Object.entries(index).flatMap(([key, entry]) => {
      const url = textOr(record(entry)?.['serverRelativeURL']);
      const hash = announcedHash(url);
      return hash === null ? [] : [[key.replace(/^apis?\//, ''), hash]];
    }),
  );
}

/** Where a document is. */
export interface DocumentPlace {
  readonly form: OpenApiSource['form'];
  /** Of the request, below the server's base path. */
  readonly path: string;
  /** Of the content, if the path has it: a document at the same path is the same. */
  readonly hash: string | null;
}

/** The `paths` of a server's v3 index. They name its documents. Null for a server that has v2 only. */
export type OpenApiIndex = Readonly<Record<string, unknown>> | null;

/** Throws when the server cannot be reached. */
export async function openApiIndex(
  client: RestClient<RequestSender>,
  signal: AbortSignal | undefined,
): Promise<OpenApiIndex> {
  return (await readIndex(client, signal)) ?? null;
}

/** Where the schemas of a group version are. Without v3, it is the one document of v2. Null if the server has none of this group version. */
export function documentPlace(
  client: RestClient<RequestSender>,
  index: OpenApiIndex,
  groupVersion: string,
): DocumentPlace | null {
  if (index === null) return { form: 'v2', path: '/openapi/v2', hash: null };
  const path = documentPath(client, index, groupVersion);
  return path === undefined ? null : { form: 'v3', path, hash: announcedHash(path) };
}

/** The `paths` of the v3 index; undefined when the server does not serve it. */
async function readIndex(
  client: RestClient<RequestSender>,
  signal: AbortSignal | undefined,
): Promise<Record<string, unknown> | undefined> {
  try {
    return record(record(await client.get('/openapi/v3', { signal }))?.['paths']);
  } catch (error) {
    if (error instanceof ApiError && [403, 404, 405, 406].includes(error.httpStatus)) return undefined;
    throw error;
  }
}

async function fetchV3(
  client: RestClient,
  index: Readonly<Record<string, unknown>>,
  groupVersions: readonly string[],
  known: KnownDocuments,
  signal: AbortSignal | undefined,
): Promise<OpenApiSource> {
  const documents = new Map<string, OpenApiDocument>();
  const failures: { groupVersion: string; message: string }[] = [];
  await mapBounded([...new Set(groupVersions)], parallel, async (groupVersion) => {
    const path = documentPath(client, index, groupVersion);
    // A server may work without a document: this is no failure.
    if (path === undefined) return;
    try {
      documents.set(groupVersion, await fetchDocument(client, path, known, signal));
    } catch (error) {
      if (signal?.aborted === true) throw error;
      failures.push({ groupVersion, message: messageOf(error) });
    }
  });
  return { form: 'v3', documents: inOrder(documents, groupVersions), failures };
}

async function fetchDocument(
  client: RestClient,
  path: string,
  known: KnownDocuments,
  signal: AbortSignal | undefined,
): Promise<OpenApiDocument> {
  const announced = announcedHash(path) ?? undefined;
  const held = announced === undefined ? undefined : known.get(announced);
  if (announced !== undefined && held !== undefined) return { hash: announced, schemas: held };
  const body = await client.text(path, { signal, headersTimeoutMs: patienceMs, bodyTimeoutMs: patienceMs });
  const hash = announced ?? contentHash(body);
  const schemas = known.get(hash) ?? record(record(parse(body, path)['components'])?.['schemas']) ?? {};
  return { hash, schemas };
}

async function fetchV2(
  client: RestClient,
  known: KnownDocuments,
  signal: AbortSignal | undefined,
): Promise<OpenApiSource> {
  const tags = [...known.keys()].flatMap((hash) => (hash.startsWith(tagPrefix) ? hash.slice(tagPrefix.length) : []));
  const answer = await client.send('GET', '/openapi/v2', undefined, {
    signal,
    ...(tags.length === 0 ? {} : { headers: { 'if-none-match': tags.join(', ') } }),
  });
  const tag = textOr(answer.headers['etag']);
  // A 304 may omit the ETag when the request offered only one.
  const hash =
    tag !== '' ? tagPrefix + tag : answer.status === 304 ? tagPrefix + (tags[0] ?? '') : contentHash(answer.text);
  const schemas = known.get(hash) ?? record(parse(answer.text, '/openapi/v2')['definitions']) ?? {};
  return { form: 'v2', documents: new Map([['*', { hash, schemas }]]), failures: [] };
}

/** The path of the document of a group version in the v3 index; undefined without one. */
function documentPath(
  client: RestClient<RequestSender>,
  index: Readonly<Record<string, unknown>>,
  groupVersion: string,
): string | undefined {
  const key = groupVersion.includes('/') ? `apis/${groupVersion}` : `api/${groupVersion}`;
  const url = text(record(index[key])?.['serverRelativeURL']);
  return url === undefined ? undefined : localPath(client, url);
}

function announcedHash(path: string): string | null {
  return new URLSearchParams(path.split('?')[1] ?? '').get('hash');
}

/** The path of a document below the connection's base path; undefined for a URL of another server. */
function localPath(client: RestClient<RequestSender>, url: string): string | undefined {
  if (!url.startsWith('/') || url.startsWith('//')) return undefined;
  const base = new URL(client.connection.server).pathname.replace(/\/+$/, '');
  return base !== '' && url.startsWith(`${base}/`) ? url.slice(base.length) : url;
}

function inOrder(documents: ReadonlyMap<string, OpenApiDocument>, order: readonly string[]): typeof documents {
  return new Map(order.flatMap((key) => (documents.has(key) ? [[key, documents.get(key) as OpenApiDocument]] : [])));
}

function parse(body: string, path: string): Record<string, unknown> {
  try {
    const document = record(JSON.parse(body));
    if (document !== undefined) return document;
  } catch {
    // Thrown below, with the path.
  }
  throw apiErrorFromNonsense(`GET ${path}`, 200, 'a body that is not an OpenAPI document');
}

function contentHash(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}
