/**
 * Chooses the media type of an answer by the request's `accept`, as Yoga does: the first type in the header counts. So the server puts the
 * types of each request in the order of their weights (RFC 9110, 12.5.1) before anything reads them.
 *
 *   application/json;q=0.5, application/graphql-response+json   ->   application/graphql-response+json,application/json;q=0.5
 */

/** The types with the greatest weight first, and without those of weight 0. Unchanged if it has no weights, or if nothing is left. */
export function byWeight(accept: string): string {
  if (!/;\s*q\s*=/i.test(accept)) return accept;
  const weighted = accept.split(',').map((element) => ({ element: element.trim(), weight: weightOf(element) }));
  const accepted = weighted.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
  return accepted.length === 0 ? accept : accepted.map(({ element }) => element).join(',');
}

/** 1 without a weight, and for one that is malformed. */
function weightOf(element: string): number {
  const [, quality = '1'] = /;\s*q\s*=\s*([^;\s]*)/i.exec(element) ?? [];
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 1;
}

/**
 * The first accepted type that a JSON answer may have; null if there is none, or if the header names a charset. Types of
 * streams are ignored. The header is one that `byWeight` has ordered.
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

/** Does the client prefer a stream of events to a JSON answer? It names the stream first, in a header that `byWeight` has ordered. */
export function prefersEvents(accept: string | null): boolean {
  for (const element of (accept ?? '').toLowerCase().replace(/\s/g, '').split(',')) {
    const [type = ''] = element.split(';');
    if (type === 'text/event-stream') return true;
    if (acceptedJsonType(type === '' ? 'none' : type) !== null) return false;
  }
  return false;
}
