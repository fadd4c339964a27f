/** Definitions of custom kinds for tests. */

interface CustomKind {
  readonly group: string;
  readonly kind: string;
  /** The name of the resource in paths. */
  readonly plural: string;
  /** The OpenAPI schema of its objects. */
  readonly schema: object;
  /** More fields of the version, such as `subresources`. */
  readonly version?: object;
}

/** A CustomResourceDefinition with the version `v1`, whose objects are in namespaces. */
export function customKind({ group, kind, plural, schema, version = {} }: CustomKind): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    },
  };
}
