/** Chooses the media type of an answer by the request's `accept`, as Yoga does. */

/**
 * The first accepted type that a JSON answer may have; null if there is none, or if the header names a charset. Weights are ignored, and so
 * are types of streams.
 */
export function acceptedJsonType(accept: string | null): string | null {
  for (const element of (accept ?? '*/*').toLowerCase().replace(/\s/g, '').split(',')) {
    const [type, ...parameters] = element.split(';');
    if (parameters.some((parameter) => parameter.startsWith('charset='))) return null;
    switch (type) {
      case 'application/graphql-response+json':
      case 'application/json':
        return type;
      case '*/*':
      case 'application/*':
        return 'application/json';
      default:
        continue;
    }
  }
  return null;
}

/** Does the client prefer a stream of events to a JSON answer? It names the stream first. Weights are ignored. */
export function prefersEvents(accept: string | null): boolean {
  for (const element of (accept ?? '').toLowerCase().replace(/\s/g, '').split(',')) {
    const [type = ''] = element.split(';');
    if (type === 'text/event-stream') return true;
    if (acceptedJsonType(type === '' ? 'none' : type) !== null) return false;
  }
  return false;
}
