/**
 * Object ids: an identity as an opaque text, the same in every answer and for every store, for as long as the identity lives.
 *
 *   base64url( version byte, JSON [ cluster, key, namespace or "", name ] )
 *
 * Invariant: one identity has one id; any other spelling of it is refused.
 */
import { PortolanError } from '../../base/errors.ts';
import { jsonListParts, pageColumns } from '../../store/pages/page-columns.ts';
import type { RowPart } from '../../store/pages/page-template.ts';
import type { Identity } from './filter.ts';

const version = 1;
const members = ['cluster', 'key', 'namespace', 'name'] as const;

export function encodeObjectId(identity: Identity): string {
  const json = JSON.stringify(members.map((member) => identity[member] ?? ''));
  return Buffer.concat([Buffer.from([version]), Buffer.from(json)]).toString('base64url');
}

/** The parts that write the id of a row, for a page that is written as text. */
export function objectIdParts(key: string): readonly RowPart[] {
  const items = members.map(
    (member): RowPart =>
      member === 'key'
        ? { is: 'text', text: JSON.stringify(key) }
        : { is: 'column', at: pageColumns[member], otherwise: '""' },
  );
  return [{ is: 'opaque', of: [{ is: 'text', text: String.fromCharCode(version) }, ...jsonListParts(items)] }];
}

/**
 * The identity that an id stands for; nothing says that there is such an object.
 * @throws PortolanError BAD_USER_INPUT when it is no id.
 */
export function decodeObjectId(id: string): Identity {
  const bytes = Buffer.from(id, 'base64url');
  const identity = bytes[0] === version ? read(bytes.subarray(1).toString()) : null;
  if (identity === null || encodeObjectId(identity) !== id) {
    const shown = JSON.stringify(id.length > 40 ? `${id.slice(0, 40)}…` : id);
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${shown} is not an object id; use the \`id\` of an object, just as it was given.`,
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
