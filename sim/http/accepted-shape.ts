/** The representation that an Accept header selects: the object, its metadata alone, or a table. */
import { StatusError } from '../objects/status-error.ts';

type AcceptedShape = 'object' | 'metadata' | 'table';

/**
 * The first supported form in the header. `metadataKind` is the kind for metadata alone; it differs for lists.
 * Throws a 406 Status when no form is supported.
 */
export function acceptedShape(accept: string | undefined, metadataKind: string): AcceptedShape {
  if (accept === undefined || accept.trim() === '') return 'object';
  for (const part of accept.split(',')) {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice('as='.length);
    if (as === undefined) return 'object';
    if (as === metadataKind) return 'metadata';
    if (as === 'Table') return 'table';
  }
  throw new StatusError(406, 'NotAcceptable', 'only the following media types are accepted: application/json');
}
