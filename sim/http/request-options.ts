/** Parses and validates request parameters: of lists, watches, tables, writes and deletions. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dryRunCauses } from '../api/delete-options.ts';
import type { ListQuery } from '../api/list-objects.ts';
import type { PatchKind, PatchOptions } from '../api/write-options.ts';
import type { JsonObject } from '../objects/json.ts';
import { type StatusCause, statusErrors } from '../objects/status-error.ts';
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

type WriteKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const writeKinds: Readonly<Record<string, WriteKind>> = {
  POST: 'CreateOptions',
  PUT: 'UpdateOptions',
  PATCH: 'PatchOptions',
};

const patchKinds: Readonly<Record<string, PatchKind>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** The form of a patch, by its content type; throws a 415 Status for another. */
export function patchKindOf(request: IncomingMessage): PatchKind {
  const kind = patchKinds[(request.headers['content-type'] ?? '').split(';')[0]?.trim() ?? ''];
  if (kind) return kind;
  throw statusErrors.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${Object.keys(patchKinds).join(', ')}`,
  );
}

interface WriteParameters {
  /** The kind of the body. */
  readonly kind: ServedResource;
  readonly params: URLSearchParams;
  readonly subresource: '' | 'status' | 'scale';
  /** What a strict reader has against the body. */
  readonly problems: readonly string[];
}

/** The options of a write; throws a 422 Status for invalid ones. Warnings about the body go into the response headers. */
export function writeOptions(
  request: IncomingMessage,
  response: ServerResponse,
  { kind, params, subresource, problems }: WriteParameters,
): PatchOptions {
  const agent = (request.headers['user-agent'] ?? '').split('/')[0]?.slice(0, 128) ?? '';
  const manager = params.get('fieldManager') ?? '';
  const isApply = (request.headers['content-type'] ?? '').startsWith('application/apply-patch');
  const form = writeKinds[request.method ?? ''] ?? 'UpdateOptions';
  const validation = params.get('fieldValidation') ?? '';
  const causes: StatusCause[] = [];
  if (form === 'PatchOptions' && !isApply && params.has('force')) {
    const message = 'Forbidden: may not be specified for non-apply patch';
    causes.push({ reason: 'FieldValueForbidden', message, field: 'force' });
  }
  causes.push(
    ...managerCauses(manager),
    ...dryRunCauses(params.getAll('dryRun')),
    ...fieldValidationCauses(validation),
  );
  if (causes.length > 0) throw statusErrors.invalid('meta.k8s.io', form, '', causes);
  return {
    subresource,
    dryRun: params.has('dryRun'),
    force: params.has('force') && isTrueParameter(params.get('force') ?? ''),
    onUnknownFields: strictRule(validation, isApply ? 'apply' : form, kind, response, problems),
    ...(manager !== '' || isApply ? { fieldManager: manager } : { fieldManager: agent || 'unknown' }),
  };
}

/** Servers take every value but these two for true. */
function isTrueParameter(value: string): boolean {
  return value !== '0' && value.toLowerCase() !== 'false';
}

const longestManager = 128;

function managerCauses(manager: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const field = 'fieldManager';
  if (Buffer.byteLength(manager) > longestManager) {
    const message = `Too long: may not be more than ${longestManager} bytes`;
    causes.push({ reason: 'FieldValueTooLong', message, field });
  }
  for (const { 0: character, index } of manager.matchAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu)) {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const message = `Invalid value: ${JSON.stringify(manager)}: invalid character U+${code} (at position ${index})`;
    causes.push({ reason: 'FieldValueInvalid', message, field });
  }
  return causes;
}

const fieldValidations = ['', 'Ignore', 'Strict', 'Warn'];

function fieldValidationCauses(validation: string): StatusCause[] {
  if (fieldValidations.includes(validation)) return [];
  const supported = fieldValidations.map((value) => JSON.stringify(value)).join(', ');
  const message = `Unsupported value: ${JSON.stringify(validation)}: supported values: ${supported}`;
  return [{ reason: 'FieldValueNotSupported', message, field: 'fieldValidation' }];
}

/** The reaction to problems of a body and to unknown fields: none, warnings, or an error. */
function strictRule(
  validation: string,
  form: WriteKind | 'apply',
  kind: ServedResource,
  response: ServerResponse,
  problems: readonly string[],
): (paths: readonly string[]) => void {
  if (validation === 'Ignore') return () => {};
  return (paths) => {
    const found = [...problems, ...paths.map((path) => `unknown field ${JSON.stringify(path)}`)];
    if (found.length === 0) return;
    if (validation !== 'Strict') {
      response.setHeader('Warning', found.map((text) => `299 - ${JSON.stringify(text)}`).join(', '));
      return;
    }
    if (form === 'apply') {
      const lines = found.map((text) => `\n  ${text}`).join('');
      throw statusErrors.badRequest(
        `error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:${lines}`,
      );
    }
    const problem = `strict decoding error: ${found.join(', ')}`;
    if (form === 'PatchOptions') throw statusErrors.unreadablePatch(problem);
    const version = JSON.stringify(kind.version);
    throw statusErrors.badRequest(`${kind.kind} in version ${version} cannot be handled as a ${kind.kind}: ${problem}`);
  };
}

/** The parameters of a deletion in the form of its body. A server reads them only if there is no body. */
export function deleteParameters(params: URLSearchParams): JsonObject {
  const grace = params.get('gracePeriodSeconds');
  if (grace !== null && !/^-?\d+$/.test(grace))
    throw statusErrors.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(grace)}: invalid syntax`);
  const policy = params.get('propagationPolicy');
  const orphan = params.get('orphanDependents');
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === null ? {} : { orphanDependents: isTrueParameter(orphan) }),
    ...(params.has('dryRun') ? { dryRun: params.getAll('dryRun') } : {}),
  };
}
