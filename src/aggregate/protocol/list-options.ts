/**
 * The query of a list or a watch (ListOptions of meta/v1), checked as an API server does.
 *
 *   sendInitialEvents    only in watches, with resourceVersionMatch=NotOlderThan
 *   continue             is a token of this door, without resourceVersion
 */
import { type LabelRequirement, meetsRequirement } from '../../catalog/values/label-requirement.ts';
import { parseFieldSelector } from '../../query/plan/field-selector.ts';
import { parseLabelSelector } from '../../query/plan/label-selector.ts';
import { statusError } from './status.ts';

interface Selection {
  readonly labels: readonly LabelRequirement[];
  readonly fields: readonly { readonly field: SelectableField; readonly value: string; readonly negated: boolean }[];
}

type SelectableField = 'name' | 'namespace';

export interface ListOptions extends Selection {
  /** Null for all. */
  readonly limit: number | null;
  readonly continue: string | null;
  /** Null for any: the present one. */
  readonly resourceVersion: bigint | null;
  readonly match: 'Exact' | 'NotOlderThan' | null;
  readonly watch: WatchOptions | null;
}

export interface WatchOptions {
  /** Null if the client names none. */
  readonly timeoutSeconds: number | null;
  readonly bookmarks: boolean;
  /** The client wants the present sets first, and a bookmark after them. */
  readonly initialEvents: boolean;
  /** The client names no version, so the present sets come first, without a bookmark. */
  readonly fromNow: boolean;
}

/** @throws PortolanError that means 400 or 422. */
export function listOptions(query: URLSearchParams): ListOptions {
  const given = textIn(query, 'resourceVersion');
  const match = matchOf(query.get('resourceVersionMatch'));
  const isWatch = wantsWatch(query);
  const initial = truth(query, 'sendInitialEvents');
  if (initial !== null && !isWatch) throw invalid('sendInitialEvents', 'is forbidden for list');
  if (initial !== null && match !== 'NotOlderThan') {
    throw invalid('resourceVersionMatch', 'must be NotOlderThan where sendInitialEvents is set');
  }
  if (isWatch && initial === null && match !== null) {
    throw invalid('resourceVersionMatch', 'is forbidden for watch unless sendInitialEvents is provided');
  }
  const token = textIn(query, 'continue');
  if (token !== null && match !== null) throw invalid('resourceVersionMatch', 'is forbidden with a continue token');
  if (match !== null && !isWatch && given === null) {
    throw invalid('resourceVersionMatch', 'is forbidden unless resourceVersion is provided');
  }
  if (match === 'Exact' && (given === null || given === '0')) {
    throw invalid('resourceVersionMatch', 'Exact is forbidden for resourceVersion 0');
  }
  // An API server reads the version last, when the options fit together.
  const resourceVersion = versionOf(given);
  if (token !== null && resourceVersion !== null && resourceVersion !== 0n) {
    throw statusError('BadRequest', 'specifying resource version is not allowed when using continue');
  }
  const isAny = resourceVersion === null || resourceVersion === 0n;
  return {
    labels: parseLabelSelector(query.get('labelSelector') ?? ''),
    fields: fieldsOf(query.get('fieldSelector') ?? ''),
    limit: countIn(query, 'limit') || null,
    continue: token,
    resourceVersion: isAny ? null : resourceVersion,
    match,
    watch: isWatch
      ? {
          timeoutSeconds: countIn(query, 'timeoutSeconds') || null,
          bookmarks: truth(query, 'allowWatchBookmarks') ?? false,
          initialEvents: initial === true,
          fromNow: isAny && initial === null,
        }
      : null,
  };
}

/** Is it a watch, and not a list? */
export function wantsWatch(query: URLSearchParams): boolean {
  return truth(query, 'watch') ?? false;
}

/** Does the selection have the set? */
export function selects(
  { labels, fields }: Selection,
  set: { readonly name: string; readonly namespace: string; readonly labels: Readonly<Record<string, unknown>> },
): boolean {
  const labelOf = (key: string): string | null => {
    const value = Object.hasOwn(set.labels, key) ? set.labels[key] : null;
    return typeof value === 'string' ? value : null;
  };
  return (
    fields.every(({ field, value, negated }) => (set[field] === value) !== negated) &&
    labels.every((requirement) => meetsRequirement(requirement, labelOf(requirement.key)))
  );
}

/** The only name that a selection can have; null if it can have several. An API server authorizes a list with one name for this name. */
export function onlyName({ fields }: Selection): string | null {
  return fields.find(({ field, negated }) => field === 'name' && !negated)?.value ?? null;
}

function fieldsOf(text: string): Selection['fields'] {
  return parseFieldSelector(text).map(({ path, value, negated }) => {
    const field = path === 'metadata.name' ? 'name' : path === 'metadata.namespace' ? 'namespace' : null;
    if (field !== null) return { field, value, negated };
    throw statusError('BadRequest', `field label not supported: ${path}`);
  });
}

function versionOf(text: string | null): bigint | null {
  if (text === null) return null;
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  throw statusError('BadRequest', `resourceVersion: Invalid value: ${JSON.stringify(text)}: must be a number`);
}

function matchOf(text: string | null): ListOptions['match'] {
  if (text === null || text === '') return null;
  if (text === 'Exact' || text === 'NotOlderThan') return text;
  throw invalid(
    'resourceVersionMatch',
    `Unsupported value: ${JSON.stringify(text)}: supported values: "Exact", "NotOlderThan"`,
  );
}

function textIn(query: URLSearchParams, name: string): string | null {
  return query.get(name) || null;
}

/** 0 if it is absent, or negative. */
function countIn(query: URLSearchParams, name: string): number {
  const text = query.get(name) || '0';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  if (/^-\d{1,9}$/.test(text)) return 0;
  throw statusError('BadRequest', `${name} must be a whole number: ${JSON.stringify(text)}`);
}

/** Null if it is absent. As Go's conversion of query values: everything but these words of falsehood is true. */
function truth(query: URLSearchParams, name: string): boolean | null {
  const text = query.get(name);
  if (text === null) return null;
  return text !== '0' && text.toLowerCase() !== 'false';
}

function invalid(field: string, message: string): Error {
  return statusError('Invalid', `ListOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
    group: 'meta.k8s.io',
    kind: 'ListOptions',
    causes: [{ reason: 'FieldValueInvalid', message, field }],
  });
}
