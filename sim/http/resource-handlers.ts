/** The verbs over HTTP: reads the request parameters, calls the API, writes the response. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../src/base/clock.ts';
import type { Callers } from '../access/callers.ts';
import type { Caller, Rbac } from '../access/rbac.ts';
import { answerReview } from '../access/reviews.ts';
import { readDeleteOptions } from '../api/delete-options.ts';
import type { Evictions } from '../api/evictions.ts';
import { checkResourceVersion, type Lister, type ListQuery } from '../api/list-objects.ts';
import type { ObjectApi } from '../api/object-api.ts';
import type { DeleteRequest } from '../api/write-options.ts';
import { type JsonObject, sortedJsonText } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { statusErrors } from '../objects/status-error.ts';
import { parseFieldSelector } from '../resources/field-selector.ts';
import { parseLabelSelector } from '../resources/label-selector.ts';
import { apiVersionOf, type ServedResource } from '../resources/served-resource.ts';
import { acceptedShape } from './accepted-shape.ts';
import type { AnswerHooks } from './answer-hooks.ts';
import { metadataOnlyText } from './partial-metadata.ts';
import { handlePodLog } from './pod-logs.ts';
import { readObject, readObjectBody, readPatchBody } from './request-body.ts';
import type { ResourcePath } from './request-info.ts';
import {
  deleteParameters,
  includeObject,
  initialEventsOf,
  isTrue,
  listQuery,
  patchKindOf,
  writeOptions,
} from './request-options.ts';
import { sendJson, sendPieces, sendText } from './respond.ts';
import { handleEviction, handleScale } from './subresources.ts';
import { tableText } from './table.ts';
import { WatchStream } from './watch-stream.ts';

interface HandlerFeatures {
  readonly watchList: boolean;
  readonly bookmarkMs: number;
  readonly expiredAsHttp: boolean;
  readonly callers: Callers;
  readonly rbac: Rbac;
  readonly evictions: Evictions;
}

export class ResourceHandlers {
  readonly #api: ObjectApi;
  readonly #lister: Lister;
  readonly #clock: Clock;
  readonly #features: HandlerFeatures;
  readonly #hooks: AnswerHooks | undefined;
  readonly #watches = new Set<WatchStream>();

  constructor(api: ObjectApi, lister: Lister, clock: Clock, features: HandlerFeatures, hooks?: AnswerHooks) {
    this.#api = api;
    this.#lister = lister;
    this.#clock = clock;
    this.#features = features;
    this.#hooks = hooks;
  }

  /** Ends the watches of resources that were withdrawn or changed. */
  endWatches(withdrawn: readonly ServedResource[]): void {
    for (const watch of [...this.#watches]) if (withdrawn.includes(watch.resource)) watch.end();
  }

  /** Cuts the connections of all watches. */
  dropWatches(): void {
    for (const watch of [...this.#watches]) watch.cut();
  }

  /** The number of open watches. */
  get watchCount(): number {
    return this.#watches.size;
  }

  /** Handles one request for a resource; throws a Status when it fails. */
  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    resource: ServedResource,
    path: ResourcePath,
    params: URLSearchParams,
    caller: Caller,
  ): Promise<void> {
    if (path.namespace !== undefined && !resource.namespaced) throw statusErrors.noSuchPath();
    const method = request.method ?? 'GET';
    if (resource.bare) {
      if (method !== 'POST') throw statusErrors.methodNotAllowed();
      const { value } = await readObject(request);
      sendJson(response, 201, answerReview(resource, value, caller, this.#features));
      return;
    }
    if (path.name === undefined) return this.#collection(method, request, response, resource, path, params);
    if (resource.namespaced && path.namespace === undefined) throw statusErrors.noSuchPath();
    return this.#item(method, request, response, resource, path, path.name, params);
  }

  async #collection(
    method: string,
    request: IncomingMessage,
    response: ServerResponse,
    resource: ServedResource,
    path: ResourcePath,
    params: URLSearchParams,
  ): Promise<void> {
    const verb = { GET: 'list', POST: 'create', DELETE: 'deletecollection' }[method];
    if (verb === undefined || !resource.verbs.includes(verb)) throw statusErrors.methodNotAllowed();
    if (method === 'GET') {
      if (isTrue(params.get('watch')) || path.watch) return this.#watch(request, response, resource, path, params);
      return this.#list(request, response, resource, listQuery(resource, path.namespace, params), params);
    }
    if (method === 'DELETE') {
      if (resource.namespaced && path.namespace === undefined) throw statusErrors.methodNotAllowed();
      const query = listQuery(resource, path.namespace, params);
      const options = await deleteRequestOf(request, params);
      const page = await this.#lister.list(resource, query);
      const done: Stored[] = [];
      for (const stored of page.items) {
        if (!this.#api.store.get(stored.storage, stored.namespace, stored.name)) continue;
        done.push(this.#api.delete(resource, stored.namespace, stored.name, options).stored);
      }
      const items = done.map((stored) => resource.view.convert(stored.object));
      const metadata = { resourceVersion: String(this.#api.store.revision) };
      return sendJson(response, 200, { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata, items });
    }
    if (resource.namespaced && path.namespace === undefined) throw statusErrors.methodNotAllowed();
    const { value, problems } = await readObject(request);
    const options = writeOptions(request, response, { kind: resource, params, subresource: '', problems });
    const created = this.#api.create(resource, path.namespace ?? '', value, options);
    sendText(response, 201, created.text(resource.view));
  }

  async #item(
    method: string,
    request: IncomingMessage,
    response: ServerResponse,
    resource: ServedResource,
    path: ResourcePath,
    name: string,
    params: URLSearchParams,
  ): Promise<void> {
    const namespace = path.namespace ?? '';
    const sub = path.subresource;
    const served =
      sub === undefined || (sub === 'status' && resource.statusSubresource) || (sub === 'scale' && resource.scale);
    const about = { request, response, resource, namespace, name, params };
    if (sub === 'eviction' && resource.subresources.includes(sub))
      return handleEviction(this.#features.evictions, about);
    if (sub === 'log' && resource.storage === 'pods' && method === 'GET')
      return handlePodLog(this.#api, this.#clock, about);
    if (!served && sub !== 'finalize') throw statusErrors.noSuchPath();
    if (sub === 'scale') return handleScale(this.#api, about);
    const subresource = sub === 'status' ? 'status' : '';
    const verb = { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }[method];
    if (verb === undefined || !resource.verbs.includes(verb) || (sub !== undefined && method === 'DELETE')) {
      throw statusErrors.methodNotAllowed();
    }
    if (method === 'GET') {
      if (path.watch) {
        params.append('fieldSelector', `metadata.name=${name}`);
        return this.#watch(request, response, resource, path, params);
      }
      const textOf = this.#textOf(request, resource, params);
      await this.#lister.reached(params.get('resourceVersion') ?? '');
      return sendText(response, 200, textOf(this.#api.get(resource, namespace, name)));
    }
    if (method === 'PUT') {
      const { value, problems } = await readObject(request);
      const options = writeOptions(request, response, { kind: resource, params, subresource, problems });
      const stored = this.#api.update(resource, namespace, name, value, options);
      return sendText(response, 200, stored.text(resource.view));
    }
    if (method === 'PATCH') {
      const kind = patchKindOf(request);
      const { value, problems } = await readPatchBody(request, kind === 'apply');
      const options = writeOptions(request, response, { kind: resource, params, subresource, problems });
      const existed = this.#api.store.get(resource.storage, namespace, name) !== undefined;
      const stored = this.#api.patch(resource, namespace, name, kind, value, options);
      return sendText(response, existed ? 200 : 201, stored.text(resource.view));
    }
    const deletion = await deleteRequestOf(request, params);
    const { stored, gone } = this.#api.delete(resource, namespace, name, deletion);
    if (!gone || resource.storage === 'pods') return sendText(response, 200, stored.text(resource.view));
    const details = {
      name,
      ...(resource.group === '' ? {} : { group: resource.group }),
      kind: resource.plural,
      uid: stored.uid,
    };
    sendJson(response, 200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
  }

  async #list(
    request: IncomingMessage,
    response: ServerResponse,
    resource: ServedResource,
    query: ListQuery,
    params: URLSearchParams,
  ): Promise<void> {
    const shape = acceptedShape(request.headers.accept, 'PartialObjectMetadataList');
    const partial = shape === 'metadata';
    const page = await this.#lister.list(resource, query);
    const metadata: JsonObject = resource.computed ? {} : { resourceVersion: String(page.revision) };
    if (page.continue !== '') {
      metadata.continue = page.continue;
      if (page.remaining !== undefined) metadata.remainingItemCount = page.remaining;
    }
    if (shape === 'table') {
      const options = { include: includeObject(params), clock: this.#clock };
      return sendText(response, 200, tableText(resource, page.items, metadata, options));
    }
    const apiVersion = partial ? 'meta.k8s.io/v1' : apiVersionOf(resource);
    const kind = partial ? 'PartialObjectMetadataList' : resource.listKind;
    const frame = listFrame(resource.custom && !partial, { kind, apiVersion, metadata });
    const body = listPieces(frame, page.items, itemText(resource, partial));
    const left = this.#hooks ? this.#hooks.list(resource.plural, response, body) : body;
    if (left) await sendPieces(response, left);
  }

  #watch(
    request: IncomingMessage,
    response: ServerResponse,
    resource: ServedResource,
    path: ResourcePath,
    params: URLSearchParams,
  ): void {
    if (!resource.verbs.includes('watch')) throw statusErrors.methodNotAllowed();
    const initialEvents = initialEventsOf(params, this.#features.watchList);
    const seconds = Number(params.get('timeoutSeconds') ?? 0);
    const resourceVersion = params.get('resourceVersion') ?? '';
    checkResourceVersion(resourceVersion);
    const textOf = this.#textOf(request, resource, params);
    const watch = new WatchStream(
      response,
      resource,
      {
        namespace: path.namespace,
        labels: parseLabelSelector(params.get('labelSelector') ?? ''),
        fields: parseFieldSelector(params.getAll('fieldSelector').join(','), resource),
        resourceVersion,
        allowBookmarks: isTrue(params.get('allowWatchBookmarks')),
        timeoutMs: (seconds > 0 ? seconds : 1800 + this.#api.random() * 1800) * 1000,
        initialEvents,
      },
      {
        store: this.#api.store,
        clock: this.#clock,
        bookmarkMs: this.#features.bookmarkMs,
        expiredAsHttp: this.#features.expiredAsHttp,
        wire: this.#hooks?.watch(resource.plural, response) ?? response,
        textOf,
      },
    );
    this.#watches.add(watch);
    try {
      watch.start(() => this.#watches.delete(watch));
    } catch (error) {
      this.#watches.delete(watch);
      throw error;
    }
  }

  /** How one object is serialized, by the Accept header. */
  #textOf(request: IncomingMessage, resource: ServedResource, params: URLSearchParams): (stored: Stored) => string {
    const shape = acceptedShape(request.headers.accept, 'PartialObjectMetadata');
    if (shape === 'object') return (stored) => stored.text(resource.view);
    if (shape === 'metadata') return (stored) => metadataOnlyText(stored, resource);
    const options = { include: includeObject(params), clock: this.#clock };
    return (stored) => tableText(resource, [stored], { resourceVersion: String(stored.revision) }, options);
  }
}

/** The options of a deletion: its body, or else its parameters. */
async function deleteRequestOf(request: IncomingMessage, params: URLSearchParams): Promise<DeleteRequest> {
  const body = await readObjectBody(request);
  return readDeleteOptions(body?.value ?? deleteParameters(params));
}

interface ListFrame {
  /** The JSON text before the items; `tail` follows them. */
  readonly head: string;
  readonly tail: string;
}

/** Lists of custom objects have alphabetical keys, with the metadata last. All other lists begin with the metadata. */
function listFrame(custom: boolean, list: { kind: string; apiVersion: string; metadata: JsonObject }): ListFrame {
  const [kind, apiVersion] = [JSON.stringify(list.kind), JSON.stringify(list.apiVersion)];
  if (!custom) {
    const metadata = JSON.stringify(list.metadata);
    return { head: `{"kind":${kind},"apiVersion":${apiVersion},"metadata":${metadata},"items":[`, tail: ']}\n' };
  }
  const metadata = sortedJsonText({ continue: '', ...list.metadata });
  return { head: `{"apiVersion":${apiVersion},"items":[`, tail: `],"kind":${kind},"metadata":${metadata}}\n` };
}

function* listPieces(
  { head, tail }: ListFrame,
  items: readonly Stored[],
  textOf: (stored: Stored) => string,
): Generator<string> {
  yield head;
  let first = true;
  for (const stored of items) {
    yield first ? textOf(stored) : `,${textOf(stored)}`;
    first = false;
  }
  yield tail;
}

/** Items of built-in lists have neither kind nor apiVersion, as on a real server. Items of custom lists have both. */
function itemText(resource: ServedResource, partial: boolean): (stored: Stored) => string {
  if (partial) return (stored) => metadataOnlyText(stored, resource);
  if (resource.custom) return (stored) => stored.text(resource.view);
  const head = `{"kind":"${resource.kind}","apiVersion":"${apiVersionOf(resource)}",`;
  return (stored) => {
    const text = stored.text(resource.view);
    return text.startsWith(head) ? `{${text.slice(head.length)}` : text;
  };
}
