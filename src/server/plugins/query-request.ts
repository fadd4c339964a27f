/**
 * Requests that may be answered without the executor: a POST of JSON, and a GET.
 *
 *   headers -> QueryRequest        null for a request that Yoga must handle
 *   text    -> parameters          null for a malformed text, and for one with further members
 *
 * The text is the body of a POST, or the URL of a GET.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isRecord } from '../../base/json.ts';
import type { QueryParameters } from '../../graphql/prepared/prepared-queries.ts';
import { acceptedJsonType, prefersEvents } from '../negotiation/accepted-type.ts';
import { parseRequestJson } from '../negotiation/request-json.ts';
import { endpoint } from '../negotiation/request-url.ts';
import { areIgnored } from './request-parameters.ts';

export interface QueryRequest {
  /** Bytes of the body of a POST; null for a GET. */
  readonly length: number | null;
  /** The content type of the answer. */
  readonly type: string;
  /** Parses the request's text. */
  readonly parametersOf: (text: string) => QueryParameters | null;
}

/** A console's queries are smaller. */
const mostBytes = 64 * 1024;

/** Null when the request's method, path or headers rule it out. */
export function queryRequest({ method, url = '', headers }: IncomingMessage): QueryRequest | null {
  const isGet = method === 'GET' && url.startsWith(`${endpoint}?`);
  const length = isGet ? null : Number(headers['content-length']);
  if (!isGet && !(method === 'POST' && url === endpoint && isJson(headers))) return null;
  if (length !== null && !(length > 0 && length <= mostBytes)) return null;
  const { accept = null } = headers;
  // A live query is answered again and again then.
  if (prefersEvents(accept)) return null;
  const accepted = acceptedJsonType(accept);
  if (accepted === null) return null;
  return {
    length,
    type: `${accepted}; charset=utf-8`,
    parametersOf: isGet ? parametersOfUrl : parametersOfBody,
  };
}

/** Is the body JSON in no coding, which comes with its length? */
function isJson(headers: IncomingHttpHeaders): boolean {
  if (headers['content-encoding'] !== undefined || headers['transfer-encoding'] !== undefined) return false;
  return /^application\/json(;\s*charset=utf-8)?$/i.test(headers['content-type'] ?? '');
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
