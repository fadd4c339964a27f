/** The subscription roots of a gateway, and the root that a user names. */
import { z } from 'zod';
import { PortolanError } from '../../base/errors.ts';
import type { GatewayClient } from './gateway-client.ts';
import type { ShortForm, SubscriptionRoots } from './watch-document.ts';

const rootsShape = z.object({
  __type: z
    .object({ fields: z.array(z.object({ name: z.string(), args: z.array(z.object({ name: z.string() })) })) })
    .nullable(),
});

/** The subscription roots of the gateway; null when the signal aborts before it has a schema. */
export async function rootsOf(
  gateway: GatewayClient,
  signal: AbortSignal,
  wait: () => Promise<void>,
): Promise<SubscriptionRoots | null> {
  while (!signal.aborted) {
    const found = await gateway.ask('{ __type(name: "Subscription") { fields { name args { name } } } }', rootsShape);
    if (found !== null) {
      const fields = found.__type?.fields ?? [];
      return new Map(fields.map(({ name, args }) => [name, new Set(args.map((each) => each.name))]));
    }
    await wait();
  }
  return null;
}

const resourcesShape = z.object({
  resources: z.array(
    z.object({
      key: z.string(),
      plural: z.string(),
      kind: z.string(),
      shortNames: z.array(z.string()),
      list: z.string().nullable(),
      subscription: z.string().nullable(),
    }),
  ),
});

/**
 * The subscription root that a short form names: by itself, or by a resource as kubectl takes it.
 * @throws PortolanError CONFIGURATION unless there is exactly one.
 */
export async function rootNamed(
  gateway: GatewayClient,
  { name }: ShortForm,
  roots: SubscriptionRoots,
): Promise<string> {
  if (roots.has(name)) return name;
  const query = '{ resources { key plural kind shortNames list subscription } }';
  const { resources } = (await gateway.ask(query, resourcesShape)) ?? { resources: [] };
  const lower = name.toLowerCase();
  const found = resources.filter(({ key, plural, kind, shortNames, list }) =>
    [key, plural, kind, list, ...shortNames].some((each) => each?.toLowerCase() === lower),
  );
  // A resource of the core group has its plural as its key, as kubectl prefers it.
  const exact = found.filter(({ key }) => key === lower);
  const names = [...new Set((exact.length > 0 ? exact : found).flatMap(({ subscription }) => subscription ?? []))];
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  throw new PortolanError(
    'CONFIGURATION',
    names.length > 1
      ? `${name} names several kinds: watch one of ${names.join(', ')}.`
      : `The gateway has no subscription ${name}, and no kind of this name; portolan watch takes a subscription document, a root such as podChanges or a resource such as pods.`,
  );
}
