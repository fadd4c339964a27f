/**
 * Object ids: an identity as an opaque text, the same in every answer and for every store, for as long as the identity lives.
 *
 *   base64url( version byte, JSON [ cluster, key, namespace or "", name ] )
 *
 * Invariant: one identity has one id; any other spelling of it is refused.
 */
import { PortolanError } from '../../base/errors.ts';
import type { RowPart } from '../../store/pages/page-template.ts';
import type { Identity } from './filter.ts';
import { textColumns } from './text-columns.ts';

const version = 1;

export function encodeObjectId({ cluster, key, namespace, name }: Identity): string {
  const json = JSON.stringify([cluster, key, namespace ?? '', name]);
  return Buffer.concat([Buffer.from([version]), Buffer.from(json)]).toString('base64url');
}

/** The same for a row of a page that is written as text. */
export function objectIdParts(key: string): readonly RowPart[] {
  const { cluster, namespace, name } = textColumns;
  const column = (at: number): RowPart => ({ is: 'column', at, otherwise: '""' });
  const text = (json: string): RowPart => ({ is: 'text', text: json });
  const head = text(`${String.fromCharCode(version)}[`);
  const of = [
    head,
    column(cluster),
    text(`,${JSON.stringify(key)},`),
    column(namespace),
    text(','),
    column(name),
    text(']'),
  ];
  return [{ is: 'opaque', of }];
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
