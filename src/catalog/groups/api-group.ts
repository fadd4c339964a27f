/** API groups: their names on the wire, and which may be those of CustomResourceDefinitions. */

/** The API group of abstract kinds (src/catalog/abstract). No API server serves it: the group of a definition has a dot. */
export const abstractGroup = 'abstract';

/** Is it an abstract kind? */
export function isAbstract({ resource }: { readonly resource: { readonly group: string } }): boolean {
  return resource.group === abstractGroup;
}

/** Is it the resourceKey of an abstract kind? */
export function isAbstractKey(key: string): boolean {
  return key.endsWith(`.${abstractGroup}`);
}

/** The group of a custom resource has a dot. Built-in groups with a dot end in k8s.io, but so do the groups of some add-ons. */
export function mayBeCustom(group: string): boolean {
  return group.includes('.') && !builtInGroups.has(group);
}

/** Groups that kube-apiserver serves itself. Their resources have no CustomResourceDefinition. */
const builtInGroups: ReadonlySet<string> = new Set(
  [
    'admissionregistration',
    'apiextensions',
    'authentication',
    'authorization',
    'certificates',
    'coordination',
    'discovery',
    'events',
    'flowcontrol.apiserver',
    'internal.apiserver',
    'networking',
    'node',
    'rbac.authorization',
    'resource',
    'scheduling',
    'storage',
    'storagemigration',
  ].map((name) => `${name}.k8s.io`),
);

/** The API group of `v1` or `apps/v1`; the empty string is the core group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}
