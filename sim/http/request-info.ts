/** The resource and object that a request path names. Source: the API concepts of Kubernetes, "Resource URIs". */
export interface ResourcePath {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  /** The deprecated form /watch/ before the resource. */
  readonly watch: boolean;
}

/** The resource that a path names; undefined for other paths. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  let group = '';
  if (parts[0] === 'apis') {
    group = parts[1] ?? '';
    parts.splice(0, 2);
  } else if (parts[0] === 'api') parts.splice(0, 1);
  else return undefined;
  const version = parts.shift();
  if (version === undefined) return undefined;
  return afterVersion(group, version, parts);
}

function afterVersion(group: string, version: string, parts: string[]): ResourcePath | undefined {
  const watch = parts[0] === 'watch';
  if (watch) parts.shift();
  let namespace: string | undefined;
  if (parts[0] === 'namespaces' && parts.length >= 2) {
    const isNamespaceItself = parts.length === 2 || parts[2] === 'status' || parts[2] === 'finalize';
    if (!(isNamespaceItself && group === '' && !(parts.length === 3 && watch))) {
      namespace = parts[1];
      parts.splice(0, 2);
    }
  }
  const [plural, name, subresource, ...rest] = parts;
  if (plural === undefined || rest.length > 0) return undefined;
  return { group, version, plural, namespace, name, subresource, watch };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
