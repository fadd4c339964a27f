/**
 * The meaning of a request's path at the door.
 *
 *   /apis/G/V/shadowresources                         the sets of all namespaces
 *   /apis/G/V/namespaces/shop/shadowresources         those of a namespace
 *   /apis/G/V/namespaces/shop/shadowresources/web     one of them
 */
import { plural, type ServedApi } from './served-api.ts';

/** A request for sets. */
export interface SetPath {
  /** Null for all namespaces. */
  readonly namespace: string | null;
  /** Null for a list. */
  readonly name: string | null;
}

/** Null for a path that is none of sets. A subresource, such as `scale`, is none. */
export function setPath(path: string, { group, version }: ServedApi): SetPath | null {
  const parts = partsOf(path);
  if (parts === null) return null;
  const [apis, inGroup, inVersion, ...rest] = parts;
  if (apis !== 'apis' || inGroup !== group || inVersion !== version) return null;
  if (rest[0] !== 'namespaces') return rest.length === 1 && rest[0] === plural ? { namespace: null, name: null } : null;
  const [, namespace = '', resource, name = null, ...below] = rest;
  if (namespace === '' || resource !== plural || name === '' || below.length > 0) return null;
  return { namespace, name };
}

/** The verb of a request for sets, as rights name it; `other` for a method that there is not. */
export function verbOf(method: string | undefined, { name }: SetPath, isWatch: boolean): string {
  const isOne = name !== null;
  switch (method) {
    case 'GET':
      return isOne ? 'get' : isWatch ? 'watch' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return isOne ? 'delete' : 'deletecollection';
    default:
      return 'other';
  }
}

/** The decoded parts of a path; null for one that cannot be decoded. A part may not hide a slash. */
function partsOf(path: string): readonly string[] | null {
  try {
    const parts = path.replace(/^\//, '').split('/').map(decodeURIComponent);
    return parts.some((part) => part.includes('/')) ? null : parts;
  } catch {
    return null;
  }
}
