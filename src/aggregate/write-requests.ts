/**
 * Requests that write sets: the caller's right on ShadowResource, the body, the write and the form of the answer.
 *
 *   POST     the collection of a namespace        201, the set
 *   PUT      one set                              200, the set                     404 without one
 *   PATCH    one set: apply, merge or JSON        200, the set; apply makes it     404 without one
 *   DELETE   one set                              200, a Status; the set where finalizers keep it
 *            the collection of a namespace        200, the list of what was deleted; each set by itself
 *
 * Invariant: the rights are checked before the body is read.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Rights } from '../access/rights.ts';
import type { Admission } from '../admission/admission.ts';
import type { AdmittedRequest } from '../admission/admitted-request.ts';
import type { Random } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { recordOf } from '../catalog/values/displayed-value.ts';
import { parseExact } from '../catalog/values/values.ts';
import type { ServedKinds } from '../operation/served-kinds.ts';
import type { LongManifests } from '../operation/write-access.ts';
import { operate } from '../server/doors/door.ts';
import { searchOf } from '../server/negotiation/request-url.ts';
import { lastAppliedAnnotation, sealedText } from '../writes/diff/withheld-values.ts';
import { sendJson } from './protocol/answer.ts';
import { listOptions } from './protocol/list-options.ts';
import type { SetPath } from './protocol/request-path.ts';
import { plural, type ServedApi } from './protocol/served-api.ts';
import { statusError } from './protocol/status.ts';
import { authorizeSet } from './set-rights.ts';
import { type PresentSet, pageCost, type SetReads, setCosts } from './sets/set-reads.ts';
import type { ShadowResource } from './sets/shadow-resource.ts';
import { type ShowOptions, showList, showOne } from './show/shown-sets.ts';
import { merged, patched } from './writes/patched-set.ts';
import { bodyText, bounded, jsonOf } from './writes/request-body.ts';
import type { Operate, SetAddress, SetWrites } from './writes/set-writes.ts';
import { type SubmittedSet, submittedSet } from './writes/submitted-set.ts';
import { type SetWriteOptions, setDeleteOptions, setWriteOptions } from './writes/write-options.ts';
import { warningLine } from './writes/write-refusal.ts';

interface WriteRequestsOptions {
  readonly api: ServedApi;
  readonly admission: Admission<ServedKinds>;
  readonly rights: Pick<Rights, 'allows'>;
  readonly cluster: string;
  readonly reads: SetReads;
  readonly writes: SetWrites;
  readonly longManifests: LongManifests;
  readonly random: Random;
}

interface WriteRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: SetPath;
  readonly admitted: AdmittedRequest;
  readonly show: ShowOptions;
}

type PatchKind = 'apply' | 'merge' | 'json';

/** Milliseconds for one operation. kube-apiserver waits a minute. */
const longestMs = 55_000;
/** Letters and digits of generated names, as API servers take them. */
const nameLetters = 'bcdfghjklmnpqrstvwxz2456789';

const patchKinds: Readonly<Record<string, PatchKind>> = {
  'application/apply-patch+yaml': 'apply',
  'application/merge-patch+json': 'merge',
  'application/json-patch+json': 'json',
};

export class WriteRequests {
  readonly #options: WriteRequestsOptions;

  constructor(options: WriteRequestsOptions) {
    this.#options = options;
  }

  /** @throws PortolanError for every refusal before the answer has begun. */
  async answer(given: WriteRequest): Promise<void> {
    const { namespace, name } = given.path;
    const { method } = given.request;
    if (namespace !== null && name === null && method === 'POST') return this.#create(given, namespace);
    if (namespace !== null && name === null && method === 'DELETE') return this.#removeAll(given, namespace);
    if (namespace !== null && name !== null && method === 'PUT') return this.#replace(given, { namespace, name });
    if (namespace !== null && name !== null && method === 'PATCH') return this.#patch(given, { namespace, name });
    if (namespace !== null && name !== null && method === 'DELETE') return this.#remove(given, { namespace, name });
    throw statusError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
  }

  async #create(given: WriteRequest, namespace: string): Promise<void> {
    const { api, writes } = this.#options;
    await this.#authorize(given, 'create', namespace, '');
    const options = setWriteOptions(searchOf(given.request));
    requireType(given.request, ['application/json', '']);
    const body = jsonOf(await bodyText(given.request), options);
    const submitted = submittedSet(body, { api, namespace, name: null }, options);
    const name = submitted.name ?? this.#generated(submitted.generateName ?? '');
    if (submitted.resourceVersion !== null) {
      throw statusError('BadRequest', 'resourceVersion should not be set on objects to be created');
    }
    const made = await writes.create(this.#operate(given), { namespace, name }, submitted, options);
    this.#send(given, made, 201);
  }

  async #replace(given: WriteRequest, at: SetAddress): Promise<void> {
    const { api, writes } = this.#options;
    await this.#authorize(given, 'update', at.namespace, at.name);
    const options = setWriteOptions(searchOf(given.request));
    requireType(given.request, ['application/json', '']);
    const body = jsonOf(await bodyText(given.request), options);
    const wanted = submittedSet(body, { api, ...at }, options);
    const submitted = (present: PresentSet): SubmittedSet => withKeptAnnotation(present, wanted);
    const done = await writes.update(this.#operate(given), at, { submitted, isApply: false }, options);
    if (done === null) throw writes.notFound(at.name);
    this.#send(given, done, 200);
  }

  async #patch(given: WriteRequest, at: SetAddress): Promise<void> {
    const { api, writes } = this.#options;
    const { request } = given;
    await this.#authorize(given, 'patch', at.namespace, at.name);
    const options = setWriteOptions(searchOf(request));
    const kind = patchKinds[typeOf(request)];
    if (kind === undefined) {
      const known = Object.keys(patchKinds).join(', ');
      throw statusError(
        'UnsupportedMediaType',
        `the body of the request was in an unknown format - accepted media types include: ${known}`,
      );
    }
    if (kind === 'apply' && (searchOf(request).get('fieldManager') ?? '') === '') throw managerRequired();
    const text = await bodyText(request);
    const operated = this.#operate(given);
    if (kind === 'apply') return this.#apply(given, at, await this.#applied(given, text, options), options);
    const patch = jsonOf(text, options);
    const submitted = (present: PresentSet): SubmittedSet => {
      if (kind === 'merge') {
        const next = merged(withoutState(present.set), patch);
        return withKeptAnnotation(present, withKeptList(present, submittedSet(next, { api, ...at }, options)));
      }
      // An operation may test the state. A state that no operation has changed is no precondition.
      const { uid, resourceVersion } = present.set.metadata;
      const next = submittedSet(bounded(patched({ ...present.set }, patch)), { api, ...at }, options);
      return withKeptAnnotation(present, {
        ...withKeptList(present, next),
        uid: next.uid === uid ? null : next.uid,
        resourceVersion: next.resourceVersion === resourceVersion ? null : next.resourceVersion,
      });
    };
    const done = await writes.update(operated, at, { submitted, isApply: false }, options);
    if (done === null) throw writes.notFound(at.name);
    this.#send(given, done, 200);
  }

  /** A server-side apply: labels and annotations are added, and flowList is the list as given. */
  async #apply(given: WriteRequest, at: SetAddress, body: unknown, options: SetWriteOptions): Promise<void> {
    const { api, writes } = this.#options;
    const wanted = submittedSet(body, { api, ...at }, options);
    const submitted = (present: PresentSet): SubmittedSet => {
      const now = submittedSet(withoutState(present.set), { api, ...at }, options);
      const { labels, annotations, finalizers, lastApplied: applied } = wanted.metadata;
      return withKeptAnnotation(present, {
        ...wanted,
        metadata: {
          labels: { ...now.metadata.labels, ...labels },
          annotations: { ...now.metadata.annotations, ...annotations },
          finalizers: [...new Set([...now.metadata.finalizers, ...finalizers])],
          lastApplied: applied ?? now.metadata.lastApplied,
        },
        flowList: wanted.flowList ?? 'kept',
      });
    };
    const operated = this.#operate(given);
    const done = await writes.update(operated, at, { submitted, isApply: true }, options);
    if (done !== null) return this.#send(given, done, 200);
    if (wanted.resourceVersion !== null || wanted.uid !== null) throw writes.notFound(at.name);
    await this.#authorize(given, 'create', at.namespace, '');
    this.#send(given, await writes.create(operated, at, wanted, options), 201);
  }

  /** The body of a server-side apply. kubectl sends JSON; YAML is read beside the serve thread. */
  async #applied({ admitted }: WriteRequest, text: string, options: SetWriteOptions): Promise<unknown> {
    if (text.trimStart().startsWith('{')) return jsonOf(text, options);
    const [manifests = []] = await this.#options.longManifests.read(
      [{ place: 'the body', text }],
      admitted.caller.name,
    );
    const [only, ...others] = manifests;
    if (only === undefined || others.length > 0) throw statusError('BadRequest', 'the body is no single object');
    // A manifest that was read is its object, and what was found in it.
    return bounded(recordOf(parseExact(only))?.['object']);
  }

  async #remove(given: WriteRequest, at: SetAddress): Promise<void> {
    const { api, writes } = this.#options;
    await this.#authorize(given, 'delete', at.namespace, at.name);
    const options = setDeleteOptions(await optionsBody(given.request), searchOf(given.request));
    const { uid, left, warnings } = await writes.remove(this.#operate(given), at, options);
    this.#warn(given, warnings);
    if (left !== null) return sendJson(given.response, showOne(given.show, left));
    const details = { name: at.name, group: api.group, kind: plural, uid };
    sendJson(given.response, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
  }

  async #removeAll(given: WriteRequest, namespace: string): Promise<void> {
    const { reads, writes } = this.#options;
    await this.#authorize(given, 'deletecollection', namespace, '');
    const query = searchOf(given.request);
    const body = await optionsBody(given.request);
    const options = setDeleteOptions(body, query);
    const selection = listOptions(query);
    const list = await this.#operate(given, setCosts.list)('query', (operation) =>
      reads.list(operation, namespace, { ...selection, watch: null }),
    );
    const operated = this.#operate(given);
    const warnings: string[] = [];
    try {
      for (const { metadata } of list.items) {
        const at = { namespace, name: metadata.name };
        try {
          warnings.push(...(await writes.remove(operated, at, { ...options, uid: metadata.uid })).warnings);
        } catch (error) {
          // Somebody else has deleted it.
          if (codeOf(error) !== 'NOT_FOUND') throw error;
        }
      }
    } finally {
      // Before the deletions, a list that costs more than the bound of a minute would refuse the first of them, each time.
      given.admitted.add(pageCost(list));
    }
    this.#warn(given, warnings);
    sendJson(given.response, showList(given.show, list.items, list));
  }

  async #authorize(
    { admitted }: WriteRequest,
    verb: Parameters<typeof authorizeSet>[2],
    namespace: string,
    name: string,
  ): Promise<void> {
    await authorizeSet(this.#options, admitted.caller, verb, namespace, name);
  }

  /** Operations of the caller. They end with the client. @param cost of each */
  #operate({ admitted, response }: WriteRequest, cost: number = setCosts.write): Operate {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    return (type, work) => {
      const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(longestMs)]);
      return operate(this.#options.admission, admitted, { name: 'sets', cost, signal, type }, work);
    };
  }

  #generated(prefix: string): string {
    const { random } = this.#options;
    const letters = Array.from({ length: 5 }, () => nameLetters[Math.floor(random() * nameLetters.length)] ?? 'b');
    return `${prefix.slice(0, 58)}${letters.join('')}`;
  }

  #send(
    given: WriteRequest,
    { set, warnings }: { readonly set: ShadowResource; readonly warnings: readonly string[] },
    code: 200 | 201,
  ): void {
    this.#warn(given, warnings);
    sendJson(given.response, showOne(given.show, set), undefined, code);
  }

  #warn({ response }: WriteRequest, warnings: readonly string[]): void {
    const line = warningLine(warnings);
    if (line !== null) response.setHeader('warning', line);
  }
}

/** The set without what the server says of its state: a resourceVersion in the result of a patch is one that the patch names. */
function withoutState({ metadata, status: _status, ...rest }: ShadowResource): Readonly<Record<string, unknown>> {
  const { uid: _uid, resourceVersion: _version, ...own } = metadata as Readonly<Record<string, unknown>>;
  return { ...rest, metadata: own };
}

/** A patch that changes nothing of the list keeps all members, also members that the list does not show. */
function withKeptList({ set: { spec } }: PresentSet, submitted: SubmittedSet): SubmittedSet {
  const isSame = sealedText(submitted.flowList) === sealedText(spec.flowList);
  return isSame ? { ...submitted, flowList: 'kept' } : submitted;
}

/** kubectl's annotation stays where the caller was not shown it, because a member is hidden. */
function withKeptAnnotation({ set, stored: { record } }: PresentSet, submitted: SubmittedSet): SubmittedSet {
  const isShown = recordOf(set.metadata['annotations'])?.[lastAppliedAnnotation] !== undefined;
  if (isShown || record.lastApplied === null || submitted.metadata.lastApplied !== null) return submitted;
  return { ...submitted, metadata: { ...submitted.metadata, lastApplied: record.lastApplied } };
}

async function optionsBody(request: IncomingMessage): Promise<unknown> {
  requireType(request, ['application/json', '']);
  const text = await bodyText(request);
  const value = text === '' ? null : jsonOf(text, { validation: 'Ignore' });
  if (value === null || isRecord(value)) return value;
  throw statusError('BadRequest', 'the body is no DeleteOptions');
}

/** As an API server says it. The manager of the fields of members is that of the set. */
function managerRequired(): Error {
  const [field, message] = ['fieldManager', 'Required value: is required for apply patch'];
  return statusError('Invalid', `PatchOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
    group: 'meta.k8s.io',
    kind: 'PatchOptions',
    causes: [{ reason: 'FieldValueRequired', message, field }],
  });
}

function typeOf({ headers }: IncomingMessage): string {
  return (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function requireType(request: IncomingMessage, known: readonly string[]): void {
  if (known.includes(typeOf(request))) return;
  const accepted = known.filter((each) => each !== '').join(', ');
  throw statusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  );
}
