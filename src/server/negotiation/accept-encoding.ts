/** Chooses the content coding of an answer by the request's `accept-encoding` (RFC 9110, 12.5.3). */

/** A name of HTTP's content codings; `identity` is the answer as it is. */
export type ContentCoding = 'zstd' | 'br' | 'gzip' | 'identity';

/**
 * The offered coding with the greatest weight; of equal weights, the one offered first. Without a header the answer is not encoded. If
 * the client rejects every coding, it is not encoded either, because the server prefers to answer.
 */
export function contentCoding<C extends ContentCoding>(header: string | null, offered: readonly C[]): C | 'identity' {
  if (header === null) return 'identity';
  const weights = weightsOf(header);
  let best: { readonly coding: C | 'identity'; readonly weight: number } = { coding: 'identity', weight: 0 };
  for (const coding of [...offered, 'identity'] as const) {
    const weight = weights.get(coding) ?? weights.get('*') ?? (coding === 'identity' ? leastWeight : 0);
    if (weight > best.weight) best = { coding, weight };
  }
  return best.coding;
}

/** The weight of identity when the header omits it: acceptable, but after all codings in the header. */
const leastWeight = 0.0001;

function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const element of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = element.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    // A malformed element is ignored.
    if (name !== '' && /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality)) {
      weights.set(name === 'x-gzip' ? 'gzip' : name, Number(quality));
    }
  }
  return weights;
}
