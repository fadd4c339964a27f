/** Secrets, and the rights of callers to them, as manifests. The text of a Secret's data is the name of the Secret behind `text-of-`. */

export const secretsNamespace = 'vault';

export interface Manifest {
  readonly path: string;
  readonly body: object;
}

/** The text that only the API server may have. */
export const secretText = (name: string): string => `text-of-${name}`;

export const encoded = (text: string): string => Buffer.from(text).toString('base64');

export function secretManifest(name: string): Manifest {
  return {
    path: `/api/v1/namespaces/${secretsNamespace}/secrets`,
    body: { metadata: { name }, type: 'Opaque', data: { password: encoded(secretText(name)) } },
  };
}

/** A Role with one rule for Secrets, and its binding to a user. */
export function secretRight(user: string, verbs: readonly string[], resourceNames?: readonly string[]): Manifest[] {
  const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${secretsNamespace}`;
  const names = resourceNames === undefined ? {} : { resourceNames };
  return [
    {
      path: `${roles}/roles`,
      body: { metadata: { name: user }, rules: [{ apiGroups: [''], resources: ['secrets'], verbs, ...names }] },
    },
    {
      path: `${roles}/rolebindings`,
      body: {
        metadata: { name: user },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      },
    },
  ];
}

/** alice may get one Secret by name, bob may list and watch, carol may do everything that reads. */
export const secretWorld: readonly Manifest[] = [
  { path: '/api/v1/namespaces', body: { metadata: { name: secretsNamespace } } },
  ...['own', 'other'].map(secretManifest),
  ...secretRight('alice', ['get'], ['own']),
  ...secretRight('bob', ['list', 'watch']),
  ...secretRight('carol', ['get', 'list', 'watch']),
];
