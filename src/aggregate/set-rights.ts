/** The rights of callers on ShadowResource. */
import type { Caller } from '../access/caller.ts';
import type { Rights } from '../access/rights.ts';
import { plural, resourceOf, type ServedApi } from './protocol/served-api.ts';
import { statusError } from './protocol/status.ts';

type SetVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

interface SetRights {
  readonly api: ServedApi;
  readonly rights: Pick<Rights, 'allows'>;
  readonly cluster: string;
}

/** @param namespace empty for all @param name empty for none @throws PortolanError that means 403. */
export async function authorizeSet(
  { api, rights, cluster }: SetRights,
  caller: Caller,
  verb: SetVerb,
  namespace: string,
  name: string,
): Promise<void> {
  const attributes = { verb, group: api.group, resource: plural, subresource: '', namespace, name };
  if ((await rights.allows(caller, cluster, attributes)) === true) return;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const what = `${resourceOf(api)}${name === '' ? '' : ` "${name}"`} is forbidden`;
  throw statusError(
    'Forbidden',
    `${what}: User "${caller.user?.user ?? caller.name}" cannot ${verb} resource "${plural}" in API group "${api.group}" ${where}`,
    { ...(name === '' ? {} : { name }), group: api.group, kind: plural },
  );
}
