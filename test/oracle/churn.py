"""Writes random changes to the clusters, and waits until the gateway shows them."""

import time

from shapes import NAMES, Objects, definition_of

RBAC_KINDS = ["roles", "clusterroles", "rolebindings", "clusterrolebindings"]


class World:
    def __init__(self, dice, clusters, kinds, namespaces):
        self.dice = dice
        self.clusters = clusters
        self.kinds = kinds
        self.namespaces = namespaces
        self.objects = Objects(dice)

    def prepare(self, count):
        """Definitions, namespaces and the first objects: so many of each kind in each cluster."""
        for cluster in self.clusters:
            for namespace in self.namespaces:
                cluster.write("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}}, accept=(409,))
            for kind in self.served(cluster):
                if kind.custom:
                    definition = definition_of(kind, cluster.name)
                    cluster.write("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
            for kind in self.served(cluster):
                for place in self.dice.sample(self.places(kind), min(count, len(self.places(kind)))):
                    self.create(cluster, kind, *place)

    def served(self, cluster):
        return [kind for kind in self.kinds if kind.served_in(cluster.name)]

    def places(self, kind):
        """The names that objects of a kind may have. They are the same for all kinds and clusters."""
        names = NAMES if kind.namespaced else [name + more for name in NAMES for more in ("", "-1", "-2")]
        return [(name, namespace) for name in names for namespace in (self.namespaces if kind.namespaced else [None])]

    def create(self, cluster, kind, name, namespace):
        body, status = self.objects.of(kind, cluster.name, name, namespace)
        cluster.create_when_ready(kind.path(namespace), body)
        self.write_status(cluster, kind, name, namespace, status)

    def write_status(self, cluster, kind, name, namespace, status):
        if status is not None:
            merge = "application/merge-patch+json"
            cluster.write("PATCH", f"{kind.path(namespace)}/{name}/status", {"status": status}, merge)

    def change(self, items, count):
        """Creates, replaces and deletes objects. `items` has what was read last, by (cluster, resource)."""
        dice = self.dice
        for cluster in self.clusters:
            for _ in range(count):
                kind = dice.choice(self.served(cluster))
                there = {(item["metadata"]["name"], item["metadata"].get("namespace")): item for item in items[cluster.name, kind.resource]}
                place = dice.choice(self.places(kind))
                item = there.get(place)
                if item is None:
                    self.create(cluster, kind, *place)
                    items[cluster.name, kind.resource] = self.read(cluster, [kind])[cluster.name, kind.resource]
                elif dice.random() < 0.3 and kind.plural != "namespaces":
                    cluster.write("DELETE", f"{kind.path(place[1])}/{place[0]}", accept=(404,))
                    items[cluster.name, kind.resource].remove(item)
                else:
                    self.replace(cluster, kind, place, item)

    def replace(self, cluster, kind, place, item):
        name, namespace = place
        body, status = self.objects.of(kind, cluster.name, name, namespace)
        path = f"{kind.path(namespace)}/{name}"
        if kind.custom or kind.plural == "configmaps":
            # Without a resourceVersion in between: it is changed again if it is the same object.
            metadata = cluster.write("GET", path)["metadata"]
            body["metadata"]["resourceVersion"] = metadata["resourceVersion"]
            cluster.write("PUT", path, body)
            return
        gone = lambda field: {name: None for name in item["metadata"].get(field) or {} if name != "kubernetes.io/metadata.name"}
        metadata = {field: {**gone(field), **body["metadata"][field]} for field in ("labels", "annotations")}
        patch = {"metadata": metadata}
        if kind.plural == "nodes":
            patch["spec"] = {"unschedulable": body["spec"]["unschedulable"]}
        cluster.write("PATCH", path, patch, "application/merge-patch+json")
        self.write_status(cluster, kind, name, namespace, status)

    def read(self, cluster, kinds):
        by_kind = cluster.read([kind.resource for kind in kinds])
        return {(cluster.name, kind.resource): by_kind.get((kind.group, kind.kind), []) for kind in kinds}

    def read_all(self):
        found = {}
        for cluster in self.clusters:
            found.update(self.read(cluster, self.served(cluster)))
        return found

    def wait(self, gateway, admin, items, rights):
        """Waits until the gateway has every object at the version that kubectl printed, and the rights that were written."""
        kinds = {(kind.resource): kind for kind in self.kinds}
        expected = {}
        for (cluster, resource), some in items.items():
            for item in some:
                metadata = item["metadata"]
                name = (cluster, kinds[resource].kind, metadata.get("namespace", ""), metadata["name"])
                expected[name] = metadata["resourceVersion"]
        roles = {
            (cluster, each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): None
            for cluster, manifests in rights.written.items()
            for each in manifests
        }
        deadline = time.monotonic() + 60
        while True:
            found = gateway.versions(admin, list(kinds))
            written = [name for name in gateway.versions(admin, [f"{each}.rbac.authorization.k8s.io" for each in RBAC_KINDS]) if name[3].startswith("oracle-")]
            if found == expected and sorted(written) == sorted(roles):
                break
            if time.monotonic() > deadline:
                differing = {name: (expected.get(name), found.get(name)) for name in {*expected, *found} if expected.get(name) != found.get(name)}
                raise RuntimeError(f"the gateway does not catch up: {differing}; rights: {set(written) ^ set(roles)}")
            time.sleep(0.1)
        # What is derived from these objects follows within the same turn of the ingest thread.
        time.sleep(0.3)
