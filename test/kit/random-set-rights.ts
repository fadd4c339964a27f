/** Random roles of users on sets and on the kinds of their members: verbs, names of resources, and namespaces. */

interface RandomRights {
  readonly random: () => number;
  readonly users: readonly string[];
  readonly namespaces: readonly string[];
  /** Group and plural of the kinds of members, with the names of their objects in all namespaces. */
  readonly kinds: readonly {
    readonly group: string;
    readonly resource: string;
    readonly names: readonly string[];
  }[];
  /** Group and plural of sets, with their names. */
  readonly sets: { readonly group: string; readonly resource: string; readonly names: readonly string[] };
  readonly records: { readonly group: string; readonly resource: string };
}

const memberVerbs = [['get'], ['list'], ['get', 'list'], ['watch', 'list'], ['get', 'list', 'watch', 'patch']];
const setVerbs = [
  ['get', 'list', 'watch'],
  ['get', 'list', 'watch', 'patch', 'update'],
  ['get', 'patch', 'update'],
  ['list', 'watch'],
];

/**
 * The manifests of roles and bindings. The last user reads all sets of the cluster, and no member. The last but one reads sets and records
 * everywhere, and members of some kinds.
 */
export function randomSetRights({ random, users, namespaces, kinds, sets, records }: RandomRights): readonly object[] {
  const pick = (count: number): number => Math.floor(random() * count);
  const chance = (part: number): boolean => random() < part;
  const rule = (group: string, resource: string, verbs: readonly string[], resourceNames: readonly string[] = []) => ({
    apiGroups: [group],
    resources: [resource],
    verbs,
    ...(resourceNames.length === 0 ? {} : { resourceNames }),
  });
  const some = (names: readonly string[]): readonly string[] => names.filter(() => chance(0.5));
  const isLast = (user: string, places: number): boolean => users.indexOf(user) >= users.length - places;
  const role = (user: string, namespace: string | null, rules: readonly object[]): readonly object[] => {
    const kind = namespace === null ? 'ClusterRole' : 'Role';
    const metadata = { name: `random-${user}`, ...(namespace === null ? {} : { namespace }) };
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    return [
      { apiVersion, kind, metadata, rules },
      {
        ...{ apiVersion, kind: `${kind}Binding`, metadata },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: metadata.name },
      },
    ];
  };
  return users.flatMap((user) => {
    if (isLast(user, 1)) return role(user, null, [rule(sets.group, sets.resource, setVerbs[0] ?? [])]);
    const isReader = isLast(user, 2);
    const everywhere = isReader
      ? [rule(sets.group, sets.resource, setVerbs[1] ?? []), rule(records.group, records.resource, setVerbs[0] ?? [])]
      : [];
    const inNamespaces = namespaces.flatMap((namespace) => {
      const ofSets = setVerbs[pick(setVerbs.length)] ?? [];
      const isOfSomeSets = chance(0.2);
      const ofMembers = kinds.flatMap(({ group, resource, names }) => {
        if (chance(0.45)) return [];
        const verbs = memberVerbs[pick(memberVerbs.length)] ?? [];
        // An empty list of names would be a right to all of them.
        const only = chance(0.35) ? ['none', ...some(names)] : [];
        return [rule(group, resource, verbs, only)];
      });
      const own = rule(sets.group, sets.resource, ofSets, isOfSomeSets ? ['none', ...some(sets.names)] : []);
      return role(user, namespace, [own, ...ofMembers]);
    });
    return [...(everywhere.length === 0 ? [] : role(`${user}`, null, everywhere)), ...inNamespaces];
  });
}
