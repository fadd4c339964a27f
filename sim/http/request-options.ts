/** Parses and validates request parameters: of lists, watches, tables, writes and deletions. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ListQuery } from '../api/list-objects.ts';
import type { DeleteRequest, WriteOptions } from '../api/object-api.ts';
import { asArray, asObject, asString, type JsonObject } from '../objects/json.ts';
import { type StatusCause, type StatusError, statusErrors } from '../objects/status-error.ts';
import { parseFieldSelector } from '../resources/field-selector.ts';
import { parseLabelSelector } from '../resources/label-selector.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import type { IncludeObject } from './table.ts';

export function isTrue(value: string | null): boolean {
  return value === 'true' || value === '1';
}

/**
 * How a watch begins: by its resourceVersion, or by `sendInitialEvents`. The value true of the latter makes it a streaming list.
 */
export type InitialEvents = 'by version' | 'sent' | 'left out';

/** Reads `sendInitialEvents` of a watch; throws a 422 Status when it or `resourceVersionMatch` is invalid. */
export function initialEventsOf(params: URLSearchParams, watchList: boolean): InitialEvents {
  const given = params.get('sendInitialEvents');
  const match = params.get('resourceVersionMatch') ?? '';
  const causes: StatusCause[] = [];
  const forbid = (field: string, message: string): void => {
    causes.push({ reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field });
  };
  if (given === null && match !== '') {
    forbid('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  } else if (given !== null && !watchList) {
    forbid(
      'sendInitialEvents',
      'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    );
  } else if (given !== null && match !== 'NotOlderThan') {
    forbid('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    if (match !== '') {
      const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`;
      causes.push({ reason: 'FieldValueNotSupported', message, field: 'resourceVersionMatch' });
    }
  }
  if (causes.length > 0) throw statusErrors.invalid('meta.k8s.io', 'ListOptions', '', causes);
  return given === null ? 'by version' : isTrue(given) ? 'sent' : 'left out';
}

/** The options of a list; throws a Status for invalid ones. */
export function listQuery(resource: ServedResource, namespace: string | undefined, params: URLSearchParams): ListQuery {
  return {
    namespace,
    labels: parseLabelSelector(params.get('labelSelector') ?? ''),
    fields: parseFieldSelector(params.get('fieldSelector') ?? '', resource),
    limit: limitOf(params),
    continue: params.get('continue') ?? '',
    resourceVersion: params.get('resourceVersion') ?? '',
    resourceVersionMatch: params.get('resourceVersionMatch') ?? '',
    sendInitialEvents: params.has('sendInitialEvents'),
  };
}

function limitOf(params: URLSearchParams): number {
  const text = params.get('limit') ?? '';
  if (!/^-?\d*$/.test(text))
    throw statusErrors.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Math.max(0, Number(text));
}

/** The `includeObject` parameter: the content of a table row besides its cells. */
export function includeObject(params: URLSearchParams): IncludeObject {
  const given = params.get('includeObject') ?? 'Metadata';
  if (given === 'None' || given === 'Metadata' || given === 'Object') return given;
  throw statusErrors.badRequest(
    `includeObject: Invalid value: ${JSON.stringify(given)}: must be 'Metadata', 'Object' or 'None'`,
  );
}

/** Whether the write is a dry run; throws a 422 Status for an invalid value. */
function isDryRun(given: readonly string[], kind: string): boolean {
  const odd = given.find((value) => value !== 'All');
  if (odd === undefined) return given.length > 0;
  const message = `Unsupported value: ${JSON.stringify(odd)}: supported values: "All"`;
  throw statusErrors.invalid('meta.k8s.io', kind, '', [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }]);
}

type WriteKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const writeKinds: Readonly<Record<string, WriteKind>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
};

/** The options of a write. Warnings about unknown fields go into the response headers. */
export function writeOptions(
  request: IncomingMessage,
  response: ServerResponse,
  resource: ServedResource,
  params: URLSearchParams,
  subresource: '' | 'status',
): WriteOptions {
  const agent = (request.headers['user-agent'] ?? '').split('/')[0]?.slice(0, 128) ?? '';
  const manager = params.get('fieldManager') ?? '';
  const isApply = (request.headers['content-type'] ?? '').startsWith('application/apply-patch');
  const kind = writeKinds[request.method ?? ''] ?? 'UpdateOptions';
  return {
    subresource,
    dryRun: isDryRun(params.getAll('dryRun'), kind),
    onUnknownFields: unknownFieldsRule(params.get('fieldValidation') ?? '', kind, resource, response),
    ...(manager !== '' || isApply ? { fieldManager: manager } : { fieldManager: agent || 'unknown' }),
  };
}

const fieldValidations = ['', 'Ignore', 'Strict', 'Warn'];

/** The reaction to unknown fields: none, warnings, or an error. Throws a 422 Status for an unknown value of fieldValidation. */
function unknownFieldsRule(
  validation: string,
  kind: WriteKind,
  resource: ServedResource,
  response: ServerResponse,
): (paths: readonly string[]) => void {
  if (!fieldValidations.includes(validation)) {
    const supported = fieldValidations.map((value) => JSON.stringify(value)).join(', ');
    const message = `Unsupported value: ${JSON.stringify(validation)}: supported values: ${supported}`;
    const cause = { reason: 'FieldValueNotSupported', message, field: 'fieldValidation' };
    throw statusErrors.invalid('meta.k8s.io', kind, '', [cause]);
  }
  const shown = (paths: readonly string[]): string[] => paths.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (validation === 'Ignore') return () => {};
  if (validation !== 'Strict') {
    return (paths) => {
      const warnings = shown(paths).map((text) => `299 - ${JSON.stringify(text)}`);
      if (warnings.length > 0) response.setHeader('Warning', warnings.join(', '));
    };
  }
  return (paths) => {
    if (paths.length === 0) return;
    const problem = `strict decoding error: ${shown(paths).join(', ')}`;
    if (kind === 'PatchOptions') {
      const cause = {
        reason: 'FieldValueInvalid',
        message: `Invalid value: the patched object: ${problem}`,
        field: 'patch',
      };
      throw statusErrors.invalid('', '', '', [cause]);
    }
    const version = JSON.stringify(resource.version);
    throw statusErrors.badRequest(
      `${resource.kind} in version ${version} cannot be handled as a ${resource.kind}: ${problem}`,
    );
  };
}

function checkPropagation(policy: string, orphanDependents: boolean): void {
  const refuse = (reason: string, message: string): StatusError =>
    statusErrors.invalid('meta.k8s.io', 'DeleteOptions', '', [{ reason, message, field: 'propagationPolicy' }]);
  if (policy !== '' && orphanDependents) {
    throw refuse('FieldValueInvalid', 'Invalid value: orphanDependents and deletionPropagation cannot be both set');
  }
  if (policy !== '' && !['Foreground', 'Background', 'Orphan'].includes(policy)) {
    const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan"`;
    throw refuse('FieldValueNotSupported', message);
  }
}

/** The options of a deletion, from the body and the parameters. Throws a Status for invalid ones. */
export function deleteRequest(body: JsonObject, params: URLSearchParams): DeleteRequest {
  const policy = asString(body.propagationPolicy) || (params.get('propagationPolicy') ?? '');
  const grace = body.gracePeriodSeconds ?? params.get('gracePeriodSeconds') ?? undefined;
  const { uid, resourceVersion } = asObject(body.preconditions);
  checkPropagation(policy, body.orphanDependents !== undefined || params.has('orphanDependents'));
  return {
    ...(policy === '' ? {} : { propagationPolicy: policy }),
    ...(grace === undefined ? {} : { gracePeriodSeconds: Number(grace) }),
    preconditions: { uid: asString(uid), resourceVersion: asString(resourceVersion) },
    dryRun: isDryRun([...params.getAll('dryRun'), ...asArray(body.dryRun).map(asString)], 'DeleteOptions'),
  };
}
