/**
 * Installs the definition of ShadowRecord in a cluster, and takes it out again.
 *
 *   uninstall   list -> each record: label and ownerReference off its members -> finalizers off
 *                 ^                                                              |
 *                 +--------------- until nothing is left to do ------------------+      then the definition is deleted
 *
 * The records go with the definition. The garbage collector would delete the members of a record that is gone, so they are released first.
 * Others may write sets meanwhile. A finalizer of anybody would keep the definition half deleted, so all of them are taken off.
 * Invariant: the definition is not deleted while a member could not be released, and not while a record has a finalizer.
 */
import { PortolanError } from '../base/errors.ts';
import { list, records, strings, text } from '../base/json.ts';
import { recordOf } from '../catalog/values/displayed-value.ts';
import type { RestClient } from '../kube/client/rest-client.ts';
import { ApiError, nullIfAbsent } from '../kube/http/api-error.ts';
import { resourcePath } from '../kube/http/resource-path.ts';
import { unmarked } from './members/wanted-members.ts';
import { recordResource } from './record/set-record.ts';
import { shadowRecordCrd } from './record/shadow-record-crd.ts';

type Json = Readonly<Record<string, unknown>>;
type Client = Pick<RestClient, 'get' | 'patch' | 'delete'>;

const definitions = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  namespaced: false,
} as const;
/** The path of the definition of ShadowRecord. */
export const definitionPath = resourcePath(definitions, undefined, `${recordResource.plural}.${recordResource.group}`);
/** Attempts to change an object that others change meanwhile. */
const mostAttempts = 10;
const pageSize = 100;

/** Applies the definition. @throws ApiError */
export async function installDefinition(client: Client): Promise<void> {
  const query = { fieldManager: 'portolan', force: true };
  await client.patch(definitionPath, 'apply', shadowRecordCrd(), { query });
}

/** The records of all sets; null if the definition is not installed. @throws ApiError */
export async function installedSets(client: Client): Promise<readonly Json[] | null> {
  const found: Json[] = [];
  for (let from = ''; ; ) {
    const query = { limit: pageSize, ...(from === '' ? {} : { continue: from }) };
    const page = await client.get<Json>(resourcePath(recordResource), { query }).catch(nullIfAbsent);
    if (page === null) return null;
    found.push(
      ...list(page['items']).flatMap((each): readonly Json[] => {
        const object = recordOf(each);
        return object === null ? [] : [object];
      }),
    );
    from = text(recordOf(page['metadata'])?.['continue']) ?? '';
    if (from === '') return found;
  }
}

/** Releases the members of each set, and deletes the definition with the records. @throws ApiError, PortolanError CONFLICT */
export async function uninstallDefinition(client: Client): Promise<void> {
  const released = new Set<string>();
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const left = ((await installedSets(client)) ?? []).filter((set) => !released.has(stateOf(set)));
    if (left.length === 0) return void (await client.delete(definitionPath).catch(nullIfAbsent));
    for (const set of left) if (!(await release(client, set))) released.add(stateOf(set));
  }
  throw new PortolanError('CONFLICT', 'The sets change too often: stop what writes them, and uninstall again.');
}

/** Another one after each change that has to be released. */
function stateOf({ metadata, spec }: Json): string {
  const { uid, finalizers } = recordOf(metadata) ?? {};
  return JSON.stringify([uid, finalizers ?? [], recordOf(spec)?.['members']]);
}

/** @returns whether there was something to do */
async function release(client: Client, set: Json): Promise<boolean> {
  const { namespace, name, uid } = recordOf(set['metadata']) ?? {};
  if (typeof namespace !== 'string' || typeof name !== 'string' || typeof uid !== 'string') return false;
  let isChanged = false;
  for (const member of records(recordOf(set['spec'])?.['members'])) {
    const [version, plural, own] = [text(member['version']), text(member['resource']), text(member['name'])];
    if (version === undefined || plural === undefined || own === undefined) continue;
    const resource = { group: text(member['group']) ?? '', version, plural, namespaced: true };
    const isReleased = await changed(client, resourcePath(resource, namespace, own), (live) => {
      const owners = records(recordOf(live['metadata'])?.['ownerReferences']);
      return owners.some((each) => each['uid'] === uid) ? unmarked(live, { uid }) : null;
    });
    isChanged ||= isReleased;
  }
  const record = await changed(client, resourcePath(recordResource, namespace, name), (live) => {
    const finalizers = strings(recordOf(live['metadata'])?.['finalizers']);
    return finalizers.length === 0 ? null : { metadata: { finalizers: null } };
  });
  return isChanged || record;
}

/** Sends the patch that `patchOf` makes of the live object; nothing where it makes none, and where there is no object. @returns whether it did */
async function changed(client: Client, path: string, patchOf: (live: Json) => Json | null): Promise<boolean> {
  for (let attempt = 1; attempt <= mostAttempts; attempt += 1) {
    const live = await client.get<Json>(path).catch(nullIfAbsent);
    const patch = live === null ? null : patchOf(live);
    if (live === null || patch === null) return false;
    const { resourceVersion } = recordOf(live['metadata']) ?? {};
    const held = { ...patch, metadata: { ...recordOf(patch['metadata']), resourceVersion } };
    try {
      await client.patch(path, 'merge', held);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || (error.httpStatus !== 409 && error.httpStatus !== 404)) throw error;
    }
  }
  throw new PortolanError('CONFLICT', `${path} changes too often: stop what writes it, and uninstall again.`);
}
