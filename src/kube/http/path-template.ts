/** The path of a request without names, for traces: names of namespaces and objects stay out of them. */

/** The segments that only namespaces themselves have as subresources. */
const ofNamespaces = new Set(['status', 'finalize']);

/**
 * `/api/v1/namespaces/{namespace}/secrets/{name}` for `/api/v1/namespaces/shop/secrets/db?pretty=1`. Paths that are not of resources
 * have no names and stay as they are.
 */
export function pathTemplate(path: string): string {
  const [bare = ''] = path.split('?', 1);
  const [, root, ...rest] = bare.split('/');
  const prefix = root === 'api' ? 1 : root === 'apis' ? 2 : null;
  if (prefix === null || rest.length <= prefix) return bare;
  const parts = rest.slice(prefix);
  const isNamespaced = parts[0] === 'namespaces' && parts.length > 2 && !ofNamespaces.has(parts[2] ?? '');
  if (isNamespaced) parts[1] = '{namespace}';
  const name = isNamespaced ? 3 : 1;
  if (parts.length > name) parts[name] = '{name}';
  return ['', root, ...rest.slice(0, prefix), ...parts].join('/');
}
