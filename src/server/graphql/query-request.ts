/**
 * Requests that the front of prepared and kept answers may handle: a POST of JSON, and a GET.
 *
 *   headers -> QueryRequest        null for a request that Yoga must handle
 *   text    -> parameters          null for a malformed text, and for one with further members
 *
 * The text is the body of a POST, or the URL of a GET.
 */
import type { IncomingMessage } from 'node:http';
import type { QueryParameters } from '../../graphql/prepared/prepared-queries.ts';
import { acceptedJsonType, prefersEvents } from '../negotiation/accepted-type.ts';
import { parseRequestJson } from '../negotiation/request-json.ts';
import { areIgnored } from '../plugins/request-parameters.ts';
import { endpoint } from './yoga-server.ts';

export interface QueryRequest {
  readonly method: 'GET' | 'POST';
  /** The content type of the answer. */
  readonly type: string;
  /** Parses the request's text. */
  readonly parametersOf: (text: string) => QueryParameters | null;
}

/** Larger bodies arrive in several chunks; a console's queries are smaller. */
const mostBytes = 64 * 1024;

/** Null when the request's method, path or headers rule it out. */
export function queryRequest({ method, url = '', headers }: IncomingMessage): QueryRequest | null {
  if (method === 'GET') {
    if (!url.startsWith(`${endpoint}?`)) return null;
  } else {
    if (method !== 'POST' || url !== endpoint) return null;
    if (!/^application\/json(;\s*charset=utf-8)?$/i.test(headers['content-type'] ?? '')) return null;
    if (headers['content-encoding'] !== undefined || headers['transfer-encoding'] !== undefined) return null;
    const length = Number(headers['content-length']);
    if (!(length > 0 && length <= mostBytes)) return null;
  }
  // A live query is answered again and again then.
  if (prefersEvents(headers.accept ?? null)) return null;
  const accepted = acceptedJsonType(headers.accept ?? null);
  if (accepted === null) return null;
  return {
    method,
    type: `${accepted}; charset=utf-8`,
    parametersOf: method === 'GET' ? parametersOfUrl : parametersOfBody,
  };
}

function parametersOfBody(text: string): QueryParameters | null {
  const given = parsed(text);
  return isRecord(given) ? parametersIn(given) : null;
}

/** The parameters of a GET whose values are JSON text. */
const asJson: ReadonlySet<string> = new Set(['variables', 'extensions']);

function parametersOfUrl(url: string): QueryParameters | null {
  const given: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(url.slice(url.indexOf('?')))) {
    if (name in given) return null;
    given[name] = asJson.has(name) ? parsed(value) : value;
    if (given[name] === undefined) return null;
  }
  return parametersIn(given);
}

function parametersIn(given: Readonly<Record<string, unknown>>): QueryParameters | null {
  const { query, operationName, variables, extensions, ...others } = given;
  if (typeof query !== 'string' || Object.keys(others).length > 0 || !areIgnored(extensions)) return null;
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') return null;
  if (variables !== undefined && variables !== null && !isRecord(variables)) return null;
  // An empty name is none, as everywhere (plugins/request-parameters.ts).
  return { query, operationName: operationName || undefined, variables: variables ?? {} };
}

/** Undefined for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return parseRequestJson(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
