/** Builds the URL paths of resources; this module alone does it. */
import { PortolanError } from '../../base/errors.ts';

/**
 * The encoded path of a collection, an object or a subresource, relative to the server's address. Without a namespace, the path
 * of a namespaced resource is the collection over all namespaces. Throws BAD_USER_INPUT for parts that a server or a proxy would
 * read as another path.
 */
export function resourcePath(
  resource: {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
    readonly namespaced: boolean;
  },
  namespace?: string,
  name?: string,
  subresource?: string,
): string {
  if (!resource.namespaced && namespace !== undefined) {
    throw new PortolanError('BAD_USER_INPUT', `${resource.plural} are not namespaced: leave the namespace out.`);
  }
  if (resource.namespaced && name !== undefined && namespace === undefined) {
    throw new PortolanError('BAD_USER_INPUT', `${resource.plural} are namespaced: say in which namespace.`);
  }
  if (name === undefined && subresource !== undefined) {
    throw new PortolanError('BAD_USER_INPUT', `A subresource belongs to one object: say the name.`);
  }
  const parts = resource.group === '' ? ['api', resource.version] : ['apis', resource.group, resource.version];
  if (namespace !== undefined) parts.push('namespaces', namespace);
  parts.push(resource.plural);
  if (name !== undefined) parts.push(name);
  if (subresource !== undefined) parts.push(subresource);
  return `/${parts.map(segment).join('/')}`;
}

function segment(part: string): string {
  // The API server rejects these names too. A proxy may decode an encoded slash.
  if (part === '' || part === '.' || part === '..' || /[/%]/.test(part)) {
    throw new PortolanError('BAD_USER_INPUT', `${JSON.stringify(part)} cannot be part of a path: use a valid name.`);
  }
  return encodeURIComponent(part);
}
