/**
 * The requests of one write to an API server, as the caller.
 *
 *   read    GET of the object, or of all in a namespace, as they are now
 *   write   the request of the intent, for real or as a dry run
 *
 * Every failure that has to do with the object is data (WriteError). Only what ends the whole mutation is thrown: an abort of the caller,
 * and a client that must not be used.
 */
import { PortolanError } from '../../base/errors.ts';
import { list, textOr } from '../../base/json.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';
import { isObject, memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';
import type { WriteMeter } from '../../operation/write-access.ts';
import type { CallerClient } from '../../upstream/caller-clients.ts';
import { valuesWithheld } from '../diff/withheld-values.ts';
import type { MergeSchema } from '../merge/merge-schema.ts';
import { untoldTexts, warningsWithoutValues, withoutValues, withoutWords } from '../outcome/withheld-words.ts';
import { isUnauthorized, type WriteError, writeError, writeErrorOf } from '../outcome/write-error.ts';
import {
  type Json,
  subresourceOf,
  type TargetResource,
  type WriteAction,
  type WriteIntent,
  type WriteTarget,
  type WriteVerb,
} from '../request/write-intent.ts';
import { writeRequest } from '../request/write-request.ts';

/** The context that the requests of one mutation share. */
export interface WriteContext {
  /** Sends as the caller. @throws PortolanError if the caller may not use the cluster */
  client(cluster: string): Promise<Pick<CallerClient, 'send'>>;
  /** The version of Eviction that the cluster serves, such as `policy/v1`. */
  evictionVersion(cluster: string): Promise<string>;
  /** The paths of the kind whose values are never shown. */
  redacted(resource: TargetResource): readonly string[];
  /** How the cluster merges the lists of the kind; null if it does not say. */
  mergeSchema(cluster: string, resource: TargetResource): Promise<MergeSchema | null>;
  /** The resource that the cluster serves for a kind; null without one. */
  resourceOf(cluster: string, apiVersion: string, kind: string): Promise<TargetResource | null>;
  readonly fieldManager: string;
  readonly signal: AbortSignal | undefined;
  /** Resolves when a request may be sent to the cluster. */
  enter(cluster: string): Promise<() => void>;
  readonly meter: WriteMeter;
  /** Counts an answer that the mutation holds. @throws PortolanError QUERY_TOO_COSTLY, TOO_MANY_REQUESTS */
  hold(bytes: number): void;
}

/** The object as an API server sent it, or why there is none. */
export type Answer<T> = ({ readonly error: null } & T) | { readonly error: WriteError };

export interface Written {
  /** The answer of the API server: the object, a Scale or an Eviction; null for a Status. */
  readonly object: Json | null;
  /** True for an object that was not there before. */
  readonly isNew: boolean;
  readonly warnings: readonly string[];
}

/** Objects of one page of a list. */
const pageSize = 200;
/** Milliseconds of silence of an API server. Admission webhooks may take 30 s. */
const patience = { headersTimeoutMs: 40_000, bodyTimeoutMs: 40_000 };

/**
 * The object, or the subresource, as it is now; null if there is none.
 * @param subresource null for the object itself
 */
export async function readLive(
  context: WriteContext,
  { cluster, resource, namespace, name }: WriteTarget,
  subresource: string | null = null,
): Promise<Answer<{ readonly object: Json | null }>> {
  try {
    const path = resourcePath(resource, namespace ?? undefined, name ?? undefined, subresource ?? undefined);
    const { text } = await sent(context, cluster, (client) =>
      client.send('GET', path, undefined, { signal: context.signal, ...patience }),
    );
    context.hold(text.length);
    return { error: null, object: objectIn(text) };
  } catch (error) {
    if (error instanceof ApiError && error.httpStatus === 404 && error.reason === 'NotFound') {
      return { error: null, object: null };
    }
    if (error instanceof ApiError) return { error: writeErrorOf(error, { holdsUid: false, dryRun: true }) };
    return { error: ownError(error) };
  }
}

/**
 * The objects of the target's kind in its namespace, as they are now.
 * @param labelSelector such as `app=web`; empty for all
 */
export async function listLive(
  context: WriteContext,
  { cluster, resource, namespace }: Omit<WriteTarget, 'name' | 'place'>,
  labelSelector = '',
): Promise<Answer<{ readonly objects: readonly Json[] }>> {
  const path = resourcePath(resource, namespace ?? undefined);
  const objects: Json[] = [];
  try {
    for (let from = ''; ; ) {
      const query = {
        limit: pageSize,
        ...(labelSelector === '' ? {} : { labelSelector }),
        ...(from === '' ? {} : { continue: from }),
      };
      const { text } = await sent(context, cluster, (client) =>
        client.send('GET', path, undefined, { query, signal: context.signal, ...patience }),
      );
      context.hold(text.length);
      const page = objectIn(text);
      objects.push(...list(page?.['items']).filter(isObject));
      from = textOr(recordOf(page?.['metadata'])?.['continue']);
      if (from === '') return { error: null, objects };
    }
  } catch (error) {
    if (error instanceof ApiError) return { error: writeErrorOf(error, { holdsUid: false, dryRun: true }) };
    return { error: ownError(error) };
  }
}

/** Sends in the turn of the caller. */
async function sent<T>(
  context: WriteContext,
  cluster: string,
  send: (client: Pick<CallerClient, 'send'>) => Promise<T>,
): Promise<T> {
  const client = await context.client(cluster);
  const leave = await context.enter(cluster);
  try {
    return await send(client);
  } finally {
    leave();
  }
}

/** An error that Portolan found before a request, or after one that changes nothing. @throws every other error */
function ownError(error: unknown): WriteError {
  if (!(error instanceof PortolanError)) throw error;
  switch (error.code) {
    case 'BAD_USER_INPUT':
      return writeError('INVALID_FIELD', error.message);
    case 'FORBIDDEN':
      return { ...writeError('DENIED', error.message), by: 'GATEWAY' };
    case 'QUERY_TOO_COSTLY':
      return writeError('TOO_LARGE', error.message);
    case 'TOO_MANY_REQUESTS':
      return writeError('TOO_MANY_REQUESTS', error.message);
    case 'UNAUTHENTICATED':
      return writeError('UNAUTHENTICATED', error.message);
    default:
      return writeError('UNAVAILABLE', error.message);
  }
}

/**
 * Sends the request of the intent.
 * @param live the object as it was read; its redacted values are not told in errors. Null where it was not read.
 * @param verb of the mutation, if the request does it in another way
 */
export async function sendWrite(
  context: WriteContext,
  intent: WriteIntent,
  dryRun: boolean,
  live: Json | null = null,
  verb: WriteVerb = intent.action.verb,
): Promise<Answer<{ readonly written: Written }>> {
  const { target, action } = intent;
  const redacted = context.redacted(target.resource);
  try {
    const evictionVersion = action.verb === 'evict' ? await context.evictionVersion(target.cluster) : '';
    const { fieldManager, signal } = context;
    const request = writeRequest(intent, { fieldManager, dryRun, evictionVersion });
    const { method, path, query, body } = request;
    const answer = await sent(context, target.cluster, (client) =>
      counted(context, { intent, dryRun, verb }, () => client.send(method, path, body, { query, signal, ...patience })),
    );
    const object = held(context, objectIn(answer.text), answer.text.length, dryRun);
    const isStatus = object !== null && object['kind'] === 'Status';
    const untold = untoldTexts([...valuesSent(action, redacted), ...valuesWithheld(object, redacted)]);
    const warnings = warningsWithoutValues(warningsIn(answer.headers), untold);
    return { error: null, written: { object: isStatus ? null : object, isNew: answer.status === 201, warnings } };
  } catch (error) {
    if (error instanceof ApiError) {
      const told = writeErrorOf(error, sentBy(intent, dryRun));
      return { error: await withoutRedacted(context, intent, told, live) };
    }
    return { error: ownError(error) };
  }
}

/** Counts the request by its outcome. */
async function counted<T>(
  { meter }: WriteContext,
  { intent, dryRun, verb }: { readonly intent: WriteIntent; readonly dryRun: boolean; readonly verb: WriteVerb },
  send: () => Promise<T>,
): Promise<T> {
  const count = meter.sends(intent.target.cluster, verb, dryRun);
  try {
    const answer = await send();
    count('OK');
    return answer;
  } catch (error) {
    if (error instanceof ApiError) count(writeErrorOf(error, sentBy(intent, dryRun)).code);
    else count(error instanceof PortolanError ? ownError(error).code : 'UNKNOWN');
    throw error;
  }
}

function sentBy({ preconditions, action }: WriteIntent, dryRun: boolean): Parameters<typeof writeErrorOf>[1] {
  const { uid, tests } = preconditions;
  return { holdsUid: uid !== null, holdsTests: tests !== undefined, dryRun, subresource: subresourceOf(action) };
}

/** The object; of one that is too large to hold and that was written, only what names it. @throws PortolanError for a dry run */
function held(context: WriteContext, object: Json | null, bytes: number, dryRun: boolean): Json | null {
  try {
    context.hold(bytes);
    return object;
  } catch (error) {
    if (dryRun || object === null) throw error;
    const { apiVersion, kind, metadata } = object;
    const { name, namespace, uid, resourceVersion } = recordOf(metadata) ?? {};
    return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } };
  }
}

/** The error without words that contain a redacted value: one that was sent, or one that the object has. */
async function withoutRedacted(
  context: WriteContext,
  { target, action }: WriteIntent,
  error: WriteError,
  live: Json | null,
): Promise<WriteError> {
  const redacted = context.redacted(target.resource);
  if (redacted.length === 0 || isUnauthorized(error)) return error;
  // These words have nothing but what the request names. A caller who may not get the object receives them too.
  if (error.message === `${resourceKey(target.resource)} "${target.name}" not found`) return error;
  const isNew = action.verb === 'create' || target.name === null;
  // A server quotes values of the stored object, such as values that an update would remove.
  const read = live !== null || isNew ? { error: null, object: live } : await readLive(context, target);
  if (read.error !== null) return withoutWords(error);
  return withoutValues(error, untoldTexts([...valuesSent(action, redacted), ...valuesWithheld(read.object, redacted)]));
}

/** The values of redacted paths in what is sent. */
function valuesSent(action: WriteAction, redacted: readonly string[]): readonly unknown[] {
  if ('manifest' in action) return valuesWithheld(action.manifest, redacted);
  if (!('patch' in action) || redacted.length === 0) return [];
  const patch = recordOf(action.patch);
  // A list of operations names no place of a value: none of its values is shown.
  return patch === null ? [action.patch] : valuesWithheld(patch, redacted);
}

/** The uid of an object; null without one. */
export function uidOf(object: Json | null): string | null {
  return metadataText(object, 'uid');
}

export function versionOf(object: Json | null): string | null {
  return metadataText(object, 'resourceVersion');
}

function metadataText(object: Json | null, name: string): string | null {
  const metadata = object === null ? null : memberOf(object, 'metadata');
  const value = isObject(metadata) ? memberOf(metadata, name) : null;
  return typeof value === 'string' && value !== '' ? value : null;
}

function objectIn(text: string): Json | null {
  try {
    const object = recordOf(parseExact(text));
    return object?.['kind'] === 'Scale' ? withReplicas(object) : object;
  } catch {
    return null;
  }
}

/** The API server leaves out `replicas` where it is 0. */
function withReplicas(scale: Json): Json {
  return { ...scale, spec: { replicas: 0, ...recordOf(scale['spec']) } };
}

/** The texts of Warning headers: `299 - "text"` (RFC 7234, section 5.5). */
function warningsIn(headers: Readonly<Record<string, string | string[] | undefined>>): readonly string[] {
  const values = [headers['warning'] ?? []].flat();
  return values.flatMap((value) =>
    [...value.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map((found) => (found[1] ?? '').replace(/\\(.)/g, '$1')),
  );
}
