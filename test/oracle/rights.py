"""Who may see which row, by the Roles and bindings that the oracle has written: docs/security.md, "What a caller sees"."""

RBAC = "rbac.authorization.k8s.io"


def random_rights(dice, users, kinds, namespaces):
    """Roles and bindings of one cluster, new for every round."""
    manifests = []
    count = 0

    def rules():
        made = []
        for _ in range(dice.randint(1, 3)):
            some = dice.sample(kinds, dice.randint(1, 4))
            names = None
            if dice.random() < 0.25:
                names = [f"{dice.choice(['a', 'b', 'c', 'app-1', 'app-2', 'x'])}{dice.choice(['', '-1', '-2'])}" for _ in range(4)]
            everything = dice.random() < 0.06
            rule = {
                "apiGroups": ["*"] if everything else sorted({kind.group for kind in some}),
                "resources": ["*"] if everything and dice.random() < 0.5 else sorted(kind.plural for kind in some),
                "verbs": dice.choice([["list"], ["get", "list", "watch"], ["*"], ["get"], ["watch"], ["list", "get"]]),
            }
            if names is not None:
                rule["resourceNames"] = names
            made.append(rule)
        return made

    for user in users:
        if user.is_administrator:
            continue
        for _ in range(dice.randint(0, 4)):
            count += 1
            name = f"oracle-{user.name}-{count}"
            subject = dice.choice(
                [{"kind": "User", "name": user.name}, {"kind": "User", "name": user.name}]
                + [{"kind": "Group", "name": group} for group in user.groups]
            )
            subject = {**subject, "apiGroup": RBAC}
            namespace = dice.choice(namespaces)
            how = dice.random()
            role_kind = "Role" if how < 0.35 else "ClusterRole"
            metadata = {"name": name, "labels": {"oracle": "rights"}}
            inside = {**metadata, "namespace": namespace}
            role = {"kind": role_kind, "metadata": inside if role_kind == "Role" else metadata, "rules": rules()}
            binding_kind = "RoleBinding" if how < 0.7 else "ClusterRoleBinding"
            binding = {
                "kind": binding_kind,
                "metadata": inside if binding_kind == "RoleBinding" else metadata,
                "roleRef": {"apiGroup": RBAC, "kind": role_kind, "name": name},
                "subjects": [subject],
            }
            manifests += [role, binding]
    return manifests


PLURALS = {
    "Role": "roles",
    "ClusterRole": "clusterroles",
    "RoleBinding": "rolebindings",
    "ClusterRoleBinding": "clusterrolebindings",
}


def path_of(manifest):
    namespace = manifest["metadata"].get("namespace")
    inside = "" if namespace is None else f"/namespaces/{namespace}"
    return f"/apis/{RBAC}/v1{inside}/{PLURALS[manifest['kind']]}"


class Rights:
    """The rights of all callers in all clusters, as they were written last."""

    def __init__(self):
        self.written = {}

    def clear(self, cluster, namespaces):
        """Removes what an earlier run has written."""
        for plural in ("roles", "rolebindings"):
            for namespace in namespaces:
                cluster.write("DELETE", f"/apis/{RBAC}/v1/namespaces/{namespace}/{plural}?labelSelector=oracle%3Drights")
        for plural in ("clusterroles", "clusterrolebindings"):
            cluster.write("DELETE", f"/apis/{RBAC}/v1/{plural}?labelSelector=oracle%3Drights")

    def write(self, cluster, manifests):
        """Replaces what was written to this cluster before."""
        for old in self.written.get(cluster.name, []):
            cluster.write("DELETE", f"{path_of(old)}/{old['metadata']['name']}", accept=(404,))
        for manifest in manifests:
            cluster.write("POST", path_of(manifest), {"apiVersion": f"{RBAC}/v1", **manifest})
        self.written[cluster.name] = manifests

    def rules(self, user, cluster_name):
        """Pairs of a rule and the namespace that it holds in; None for everywhere."""
        manifests = self.written.get(cluster_name, [])
        roles = {(each["kind"], each["metadata"]["name"]): each["rules"] for each in manifests if "rules" in each}
        for binding in manifests:
            if "subjects" not in binding:
                continue
            for subject in binding["subjects"]:
                mine = subject["name"] == user.name if subject["kind"] == "User" else subject["name"] in user.groups
                if mine:
                    role = binding["roleRef"]
                    for rule in roles[role["kind"], role["name"]]:
                        yield rule, binding["metadata"].get("namespace")

    def sight(self, user, cluster_name, kind):
        return Sight(user, list(self.rules(user, cluster_name)), kind)


class Sight:
    """What one caller sees of one kind in one cluster."""

    def __init__(self, user, rules, kind):
        self.everything = user.is_administrator
        self.namespaces = set()
        # Pairs of a name and the namespace that it counts in; None for everywhere.
        self.names = set()
        # Namespaces that their own RoleBindings let the caller get.
        self.themselves = set()
        # Does a RoleBinding name a kind without namespaces? It lets see nothing.
        self.void = False
        for rule, namespace in rules:
            if not matches(rule["apiGroups"], kind.group) or not matches(rule["resources"], kind.plural):
                continue
            lists, gets = matches(rule["verbs"], "list"), matches(rule["verbs"], "get")
            is_itself = kind.plural == "namespaces" and kind.group == "" and namespace is not None
            if not kind.namespaced and namespace is not None and not is_itself:
                self.void |= lists or (gets and "resourceNames" in rule)
                continue
            if "resourceNames" in rule:
                if gets or (lists and not is_itself):
                    for name in rule["resourceNames"]:
                        if not is_itself:
                            self.names.add((namespace, name))
                        elif name == namespace:
                            self.themselves.add(name)
            elif is_itself:
                if gets:
                    self.themselves.add(namespace)
            elif lists:
                if namespace is None:
                    self.everything = True
                else:
                    self.namespaces.add(namespace)

    def something(self, namespaces):
        """Is there anything that the caller may see, whether it exists or not: in these namespaces, or anywhere for None?"""
        names_in = {namespace for namespace, _ in self.names}
        if self.everything or None in names_in or self.themselves:
            return True
        found = self.namespaces | names_in
        return bool(found if namespaces is None else found & set(namespaces))

    def shows(self, row):
        return (
            self.everything
            or row.namespace in self.namespaces
            or (None, row.name) in self.names
            or (row.namespace, row.name) in self.names
            or (row.namespace == "" and row.name in self.themselves)
        )


def matches(some, value):
    return "*" in some or value in some
