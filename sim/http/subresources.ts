/** The subresources with a kind of their own over HTTP: scale and eviction. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Evictions } from '../api/evictions.ts';
import type { ObjectApi } from '../api/object-api.ts';
import { patchScale, readScale, replaceScale } from '../api/scale.ts';
import { subresourceKind } from '../builtin/builtin-resources.ts';
import { statusErrors } from '../objects/status-error.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import { readObject, readPatchBody } from './request-body.ts';
import { patchKindOf, writeOptions } from './request-options.ts';
import { sendJson } from './respond.ts';

/** One object, and a request for one of its subresources. */
interface SubresourceRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly resource: ServedResource;
  readonly namespace: string;
  readonly name: string;
  readonly params: URLSearchParams;
}

/** Reads, replaces or patches the Scale of an object. */
export async function handleScale(api: ObjectApi, about: SubresourceRequest): Promise<void> {
  const { request, response, resource, namespace, name, params } = about;
  const kind = subresourceKind('Scale');
  if (request.method === 'GET') return sendJson(response, 200, readScale(resource, api.get(resource, namespace, name)));
  if (request.method === 'PUT') {
    const { value, problems } = await readObject(request);
    const options = writeOptions(request, response, { kind, params, subresource: 'scale', problems });
    return sendJson(response, 200, replaceScale(api, resource, namespace, name, value, options));
  }
  if (request.method !== 'PATCH') throw statusErrors.methodNotAllowed();
  const form = patchKindOf(request);
  const { value, problems } = await readPatchBody(request, form === 'apply');
  const options = writeOptions(request, response, { kind, params, subresource: 'scale', problems });
  sendJson(response, 200, patchScale(api, resource, namespace, name, form, value, options));
}

/** Evicts a Pod. */
export async function handleEviction(evictions: Evictions, about: SubresourceRequest): Promise<void> {
  const { request, response, resource, namespace, name, params } = about;
  if (request.method !== 'POST') throw statusErrors.methodNotAllowed();
  const { value, problems } = await readObject(request);
  const kind = subresourceKind('Eviction');
  const options = writeOptions(request, response, { kind, params, subresource: '', problems });
  evictions.evict(resource, namespace, name, value, options);
  sendJson(response, 201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}
