/** How a running gateway names its types (`--type-prefix`): `WriteOptions` is `K8s_WriteOptions` with the prefix `K8s_`. */
import { z } from 'zod';

/** Asks for a type whose name is known. */
export const prefixQuery = '{ clusters { __typename } }';

/** The data of its answer. */
export const prefixShape = z.object({ clusters: z.array(z.object({ __typename: z.string().regex(/^\w*Cluster$/) })) });

/** The prefix in the data; empty without one. */
export function prefixIn({ clusters }: z.output<typeof prefixShape>): string {
  return clusters[0]?.__typename.replace(/Cluster$/, '') ?? '';
}
