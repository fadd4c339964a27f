/**
 * Object ids (src/catalog/resources/object-id.ts) of identities.
 *
 * Invariant: an identity has exactly one id. Other encodings of the same identity are refused.
 */
import { PortolanError } from '../../base/errors.ts';
import { objectIdOf, objectIdVersion } from '../../catalog/resources/object-id.ts';
import { jsonListParts, pageColumns } from '../../store/pages/page-columns.ts';
import type { RowPart } from '../../store/pages/page-template.ts';
import type { Identity } from './filter.ts';

const members = ['cluster', 'key', 'namespace', 'name'] as const;

export function encodeObjectId(identity: Identity): string {
  return objectIdOf(identity.cluster, identity.key, identity.namespace ?? '', identity.name);
}

/** The parts that write the id of a row into a page template. */
export function objectIdParts(key: string): readonly RowPart[] {
  const items = members.map(
    (member): RowPart =>
      member === 'key'
        ? { is: 'text', text: JSON.stringify(key) }
        : { is: 'column', at: pageColumns[member], otherwise: '""' },
  );
  return [{ is: 'opaque', of: [{ is: 'text', text: String.fromCharCode(objectIdVersion) }, ...jsonListParts(items)] }];
}

/**
 * The identity in an id. The object need not exist.
 * @throws PortolanError BAD_USER_INPUT for text that is not an id.
 */
export function decodeObjectId(id: string): Identity {
  const bytes = Buffer.from(id, 'base64url');
  const identity = bytes[0] === objectIdVersion ? read(bytes.subarray(1).toString()) : null;
  if (identity === null || encodeObjectId(identity) !== id) {
    const abbreviated = JSON.stringify(id.length > 40 ? `${id.slice(0, 40)}…` : id);
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${abbreviated} is not an object id; use the \`id\` of an object, just as it was given.`,
    );
  }
  return identity;
}

function read(json: string): Identity | null {
  let content: unknown;
  try {
    content = JSON.parse(json);
  } catch {
    return null;
  }
  if (!Array.isArray(content) || content.length !== 4 || !content.every((item) => typeof item === 'string'))
    return null;
  const [cluster = '', key = '', namespace = '', name = ''] = content as string[];
  if (cluster === '' || key === '' || name === '') return null;
  return { cluster, key, namespace: namespace === '' ? null : namespace, name };
}
