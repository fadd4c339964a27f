/**
 * The argument `from` of the subscription `logs` for the words of a command line.
 *
 *   deploy/web pod/web-1 -n shop     asks for their ids           {objects: […]}
 *   Deployment web cart -n shop      the same
 *   Pod -l app=web                   a kind with a filter         {query: {kinds: ["Pod"], filter: …}}
 */
import { z } from 'zod';
import { PortolanError } from '../../base/errors.ts';
import { isNamed, namedObject } from '../mutations/kind-and-names.ts';
import type { GatewayClient } from '../remote/gateway-client.ts';
import { filterOf, inPlace, orHidden, placeFilter } from '../remote/object-filter.ts';
import type { LogFlags } from './log-flags.ts';

const found = z.object({
  data: z.object({ objects: z.object({ nodes: z.array(z.object({ id: z.string() })) }).nullish() }).nullish(),
  errors: z.array(z.object({ message: z.string() })).optional(),
});

/** @param typeOf a type as the gateway names it @throws PortolanError CONFIGURATION for words that name nothing, NOT_FOUND */
export async function logTargets(
  gateway: GatewayClient,
  flags: LogFlags,
  typeOf: (type: string) => string,
): Promise<object> {
  const { words } = flags;
  const [kind, ...names] = words;
  if (kind === undefined) {
    throw new PortolanError(
      'CONFIGURATION',
      'Name the objects: deploy/web, pod/web-1, or a kind with -n, -l, --where or -A.',
    );
  }
  const named = words.some(isNamed) ? words.map(namedObject) : names.map((name) => ({ kind, name }));
  if (named.length > 0) {
    if (flags.where !== undefined || flags.selector !== undefined) {
      throw new PortolanError(
        'CONFIGURATION',
        'A name says which object: give --where and --selector with a kind alone.',
      );
    }
    const ids = await Promise.all(named.map((each) => idsOf(gateway, each, flags, typeOf)));
    return { objects: ids.flat() };
  }
  const { where, selector, namespace, allNamespaces, cluster } = flags;
  if ([where, selector, namespace, cluster].every((each) => each === undefined) && allNamespaces !== true) {
    throw new PortolanError(
      'CONFIGURATION',
      `${kind} alone would mean every object of the kind: add -n, -l, --where or --cluster, or -A for all namespaces.`,
    );
  }
  const filter = {
    ...placeFilter(flags),
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(where === undefined ? {} : { and: [filterOf('--where', where)] }),
  };
  return { query: { kinds: [kind], filter } };
}

async function idsOf(
  gateway: GatewayClient,
  { kind, name }: ReturnType<typeof namedObject>,
  flags: LogFlags,
  typeOf: (type: string) => string,
): Promise<readonly string[]> {
  const query = `query Named($kinds: [String!]!, $filter: ${typeOf('ObjectFilter')}) {
    objects(kinds: $kinds, filter: $filter) { nodes { id } } }`;
  const filter = { ...placeFilter(flags), metadata: { name: { in: [name] } } };
  const text = await gateway.post(JSON.stringify({ query, variables: { kinds: [kind], filter } }));
  const answer = found.safeParse(JSON.parse(text));
  if (!answer.success) throw gateway.notPortolan(text);
  const { data, errors } = answer.data;
  const [first] = errors ?? [];
  if (first !== undefined) throw new PortolanError('BAD_USER_INPUT', first.message);
  const ids = (data?.objects?.nodes ?? []).map(({ id }) => id);
  if (ids.length > 0) return ids;
  throw new PortolanError('NOT_FOUND', `There is no ${kind} ${name}${inPlace(flags)}, ${orHidden}`);
}
