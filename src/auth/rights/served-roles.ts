/** Reads the roles and bindings of a cluster from its API server, without a store. */
import { RbacIndex } from '../../access/rbac-index.ts';
import { rbacGroup, rbacKeys } from '../../access/rbac-objects.ts';
import { PortolanError } from '../../base/errors.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';

const pageSize = 500;

interface Page {
  readonly metadata?: { readonly continue?: string };
  readonly items?: readonly { readonly metadata?: { readonly namespace?: string; readonly name?: string } }[];
}

/**
 * The index of the cluster's roles and bindings.
 * @param namespace Roles and RoleBindings of this namespace alone: no others can decide about a request to it. Null: of all.
 * @throws PortolanError FORBIDDEN that names all rights that are missing, or what the request throws.
 */
export async function readServedRoles(client: Pick<RestClient, 'get'>, namespace: string | null): Promise<RbacIndex> {
  const index = new RbacIndex();
  const refused: string[] = [];
  for (const key of rbacKeys) {
    try {
      await readKind(client, index, key, namespace);
    } catch (error) {
      if (!(error instanceof ApiError) || error.httpStatus !== 403) throw error;
      refused.push(key);
    }
  }
  if (refused.length === 0) return index;
  const where = namespace === null ? '' : `, of roles and rolebindings in the namespace ${namespace}`;
  throw new PortolanError(
    'FORBIDDEN',
    `The decision needs the roles and bindings of the cluster, and this account may not read all of them: grant it list on ${refused.join(', ')}${where}.`,
  );
}

async function readKind(
  client: Pick<RestClient, 'get'>,
  index: RbacIndex,
  key: string,
  namespace: string | null,
): Promise<void> {
  const plural = key.slice(0, -rbacGroup.length - 1);
  const namespaced = !plural.startsWith('cluster');
  const resource = { group: rbacGroup, version: 'v1', plural, namespaced };
  const path = namespaced && namespace !== null ? resourcePath(resource, namespace) : resourcePath(resource);
  let token: string | undefined;
  do {
    const page: Page = await client.get<Page>(path, { query: { limit: pageSize, continue: token } });
    for (const item of page.items ?? []) {
      const { namespace: within = '', name } = item.metadata ?? {};
      if (name !== undefined) index.put(key, within, name, item);
    }
    token = page.metadata?.continue;
  } while (token !== undefined && token !== '');
}
