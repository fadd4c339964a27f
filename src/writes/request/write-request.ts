/**
 * The HTTP request of a write.
 *
 *   apply    PATCH  application/apply-patch+yaml     fieldManager, force, fieldValidation=Strict
 *   create   POST   the collection                   fieldManager, fieldValidation=Strict
 *   patch    PATCH  merge, JSON or strategic         fieldManager, fieldValidation=Strict
 *   scale    PATCH  the subresource scale, merge
 *   restart  PATCH  merge: the annotation of the Pod template
 *   cordon   PATCH  merge: spec.unschedulable
 *   edit, revert, rollback                           a patch of the type JSON, or a create (undo/concrete-write.ts)
 *   delete   DELETE with DeleteOptions               propagationPolicy, preconditions
 *   evict    POST   the subresource eviction         preconditions
 *
 * Preconditions of a PATCH stand in `metadata` of its body. The API server answers 409 for another resourceVersion, and 422 with the
 * field metadata.uid for another uid. A `test` in a JSON patch that fails is 422, and does not say which.
 *
 * API servers compare the values of a `test` by their JSON text. So a JSON patch has the escapes of Go: `<` is `\u003c`.
 *
 * A DELETE with a body ignores `dryRun` in the query, so it stands in the body.
 */
import { PortolanError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import type { HttpMethod } from '../../kube/client/connection.ts';
import { patchTypes, type Query } from '../../kube/client/rest-client.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';
import { type Json, type PatchFormat, type Preconditions, subresourceOf, type WriteIntent } from './write-intent.ts';

interface WriteRequest {
  readonly method: HttpMethod;
  readonly path: string;
  readonly query: Query;
  readonly body: { readonly text: string; readonly contentType: string };
}

interface RequestOptions {
  /** The manager to which the API server counts the fields. */
  readonly fieldManager: string;
  /** True: the API server checks everything and persists nothing. */
  readonly dryRun: boolean;
  /** `policy/v1` or, before 1.22, `policy/v1beta1`. */
  readonly evictionVersion: string;
}

const contentTypes: Readonly<Record<PatchFormat, string>> = {
  MERGE: patchTypes.merge,
  JSON: patchTypes.json,
  STRATEGIC: patchTypes.strategic,
};
const propagationPolicies = { BACKGROUND: 'Background', FOREGROUND: 'Foreground', ORPHAN: 'Orphan' } as const;

/** The annotation of `kubectl rollout restart`. */
const restartedAt = 'kubectl.kubernetes.io/restartedAt';

/** @throws PortolanError BAD_USER_INPUT for a patch that is no document of its format. */
export function writeRequest(intent: WriteIntent, options: RequestOptions): WriteRequest {
  const { target, action, preconditions } = intent;
  const { resource, namespace, name } = target;
  const { fieldManager } = options;
  const path = resourcePath(resource, namespace ?? undefined, name ?? undefined, subresourceOf(action) ?? undefined);
  const dryRun = options.dryRun ? { dryRun: 'All' } : {};
  const strict = { fieldManager, fieldValidation: 'Strict', ...dryRun };
  const patch = (body: unknown, contentType: string, query: Query = {}): WriteRequest => ({
    method: 'PATCH',
    path,
    query: { ...strict, ...query },
    body: { text: escaped(JSON.stringify(body)), contentType },
  });
  const merge = (body: Json): WriteRequest => patch(withMetadata(body, preconditions), contentTypes.MERGE);
  switch (action.verb) {
    case 'apply':
      return patch(withMetadata(action.manifest, preconditions), patchTypes.apply, { force: action.force });
    case 'create':
      return {
        method: 'POST',
        path: resourcePath(resource, namespace ?? undefined),
        query: strict,
        body: { text: JSON.stringify(action.manifest), contentType: 'application/json' },
      };
    case 'patch': {
      const body =
        action.format === 'JSON'
          ? [...metadataOperations(preconditions), ...(preconditions.tests ?? []), ...operationsOf(action.patch)]
          : withMetadata(documentOf(action.patch), preconditions);
      return patch(body, contentTypes[action.format]);
    }
    case 'scale':
      return merge({ spec: { replicas: action.replicas } });
    case 'restart':
      return merge({ spec: { template: { metadata: { annotations: { [restartedAt]: action.at } } } } });
    case 'cordon':
      // kubectl removes the field as well. The API server would keep a false in managedFields.
      return merge({ spec: { unschedulable: action.on ? true : null } });
    case 'edit':
    case 'revert':
    case 'rollback':
      throw new Error('invariant broken: the object decides how it is sent');
    case 'delete':
      return {
        method: 'DELETE',
        path,
        query: {},
        body: json({ ...deleteOptions(intent, options), propagationPolicy: propagationPolicies[action.propagation] }),
      };
    case 'evict':
      return {
        method: 'POST',
        path,
        query: dryRun,
        body: json({
          apiVersion: options.evictionVersion,
          kind: 'Eviction',
          metadata: { name, namespace },
          deleteOptions: deleteOptions(intent, options),
        }),
      };
  }
}

/** The JSON with the escapes that Go writes. The characters stand in strings alone, and the values stay the same. */
function escaped(json: string): string {
  return json.replaceAll(/[<>&\u2028\u2029]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function json(value: unknown): WriteRequest['body'] {
  return { text: JSON.stringify(value), contentType: 'application/json' };
}

function deleteOptions({ preconditions }: WriteIntent, { dryRun }: RequestOptions): Json {
  const held = heldOf(preconditions);
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(Object.keys(held).length === 0 ? {} : { preconditions: held }),
  };
}

function heldOf({ uid, resourceVersion }: Preconditions): Json {
  return { ...(uid === null ? {} : { uid }), ...(resourceVersion === null ? {} : { resourceVersion }) };
}

function withMetadata(document: Json, preconditions: Preconditions): Json {
  const held = heldOf(preconditions);
  if (Object.keys(held).length === 0) return document;
  const metadata = document['metadata'];
  return { ...document, metadata: { ...(isRecord(metadata) ? metadata : {}), ...held } };
}

function metadataOperations(preconditions: Preconditions): readonly Json[] {
  return Object.entries(heldOf(preconditions)).map(([name, value]) => ({
    op: 'add',
    path: `/metadata/${name}`,
    value,
  }));
}

function documentOf(patch: unknown): Json {
  if (isRecord(patch)) return patch;
  throw new PortolanError(
    'BAD_USER_INPUT',
    '`patch` of the types MERGE and STRATEGIC is an object, such as {spec: {…}}.',
  );
}

function operationsOf(patch: unknown): readonly unknown[] {
  if (Array.isArray(patch)) return patch;
  throw new PortolanError(
    'BAD_USER_INPUT',
    '`patch` of the type JSON is a list of operations, such as [{op: "replace", path: "/spec/replicas", value: 3}].',
  );
}
