/** The RBAC attributes of a request, and the 403 for a caller without permission. */
import type { Attributes, Caller, Rbac } from '../access/rbac.ts';
import { StatusError } from '../objects/status-error.ts';
import type { ResourcePath } from './request-info.ts';

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

function attributesOf(
  method: string,
  path: string,
  about: ResourcePath | undefined,
  params: URLSearchParams,
): Attributes {
  if (!about) return { verb: method.toLowerCase(), path };
  const { group, plural, namespace = '', name = '', subresource } = about;
  let verb = verbs[method] ?? 'get';
  const watch = about.watch || params.get('watch') === 'true' || params.get('watch') === '1';
  if (verb === 'get' && (about.watch || name === '')) verb = watch ? 'watch' : 'list';
  else if (verb === 'delete' && name === '') verb = 'deletecollection';
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const selects = !about.watch && name === '' && (verb === 'list' || verb === 'watch');
  const named = selects ? selectedName(params) : name;
  // RBAC treats a Namespace object as part of its own namespace.
  return { verb, group, resource, namespace: plural === 'namespaces' && group === '' ? name : namespace, name: named };
}

/** A list or a watch of one object by `fieldSelector=metadata.name=…` is authorized as one that names the object. */
function selectedName(params: URLSearchParams): string {
  const terms = (params.get('fieldSelector') ?? '').split(',');
  for (const term of terms) {
    const [, name = ''] = /^metadata\.name==?([^=/%]+)$/.exec(term) ?? [];
    if (name !== '' && name !== '.' && name !== '..') return name;
  }
  return '';
}

/** Throws a 403 Status when the caller may not do what the request asks. */
export function authorize(
  rbac: Rbac,
  { user, groups }: Caller,
  request: {
    readonly method: string;
    readonly path: string;
    readonly about: ResourcePath | undefined;
    readonly params: URLSearchParams;
  },
): void {
  const attributes = attributesOf(request.method, request.path, request.about, request.params);
  if (rbac.allows({ user, groups }, attributes)) return;
  if ('path' in attributes) {
    const message = `forbidden: User ${JSON.stringify(user)} cannot ${attributes.verb} path ${JSON.stringify(attributes.path)}`;
    throw new StatusError(403, 'Forbidden', message, {});
  }
  const { verb, group, resource, namespace, name } = attributes;
  const plural = resource.split('/')[0] ?? resource;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const what = `${group === '' ? plural : `${plural}.${group}`}${name === '' ? '' : ` ${JSON.stringify(name)}`}`;
  throw new StatusError(
    403,
    'Forbidden',
    `${what} is forbidden: User ${JSON.stringify(user)} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}`,
    { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: plural },
  );
}
