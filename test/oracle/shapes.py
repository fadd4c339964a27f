"""The kinds of the oracle's clusters: their definitions, and random objects of them whose values are often not what a console expects.

A shape is a field tree in few words: a dict is an object, a list of one is a list, and a word is a leaf of this sort.
"""

GROUP = "oracle.example"

CONDITIONS = [{"type": "word", "status": "flag", "reason": "text", "lastTransitionTime": "date"}]
SHARDS = [{"name": "word", "replicas": "int", "memory": "intstr", "weight": "number", "ttl": "span", "tags": ["word"]}]


class Kind:
    def __init__(self, plural, group, kind, namespaced, shape, clusters=None, version="v1"):
        self.plural = plural
        self.group = group
        self.kind = kind
        self.namespaced = namespaced
        # By cluster, where clusters differ.
        self.shapes = shape if callable(shape) else lambda _cluster: shape
        self.clusters = clusters
        self.version = version
        self.custom = group.endswith(GROUP)
        self.resource = f"{plural}.{group}" if group else plural

    def served_in(self, cluster):
        return self.clusters is None or cluster in self.clusters

    def path(self, namespace=None):
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{root}{f'/namespaces/{namespace}' if namespace else ''}/{self.plural}"


def widget(cluster):
    """A definition that differs between clusters: its size is a number, or text, or not there."""
    size = {"east": "int", "east-2": "text", "west": "free"}[cluster]
    return {"spec": {"size": size, "pull-policy": "word", "a.b": "text", "exists": "bool", "ttl": "span"}, "free": "free"}


KINDS = [
    Kind(
        "redises", f"cache.{GROUP}", "Redis", True,
        {
            "spec": {
                "version": "text", "memory": "intstr", "enabled": "bool", "ratio": "number", "shards": SHARDS,
                "tags": ["word"], "limits": {"*": "text"}, "since": "date", "free": "free", "ttl": "span",
            },
            "status": {"state": "word", "conditions": CONDITIONS},
        },
    ),
    Kind(
        "mysqls", f"db.{GROUP}", "MySQL", True,
        {
            "spec": {"image": {"tag": "text"}, "version": "int", "storage": "quantity", "instances": "int", "free": "free"},
            "status": {"phase": "word", "conditions": CONDITIONS, "ready": "flag", "started": "date"},
        },
    ),
    Kind("buckets", f"s3.{GROUP}", "Bucket", True, {"spec": "open", "status": "open"}),
    Kind(
        "queues", f"mq.{GROUP}", "Queue", True,
        {"spec": {"groups": [{"members": SHARDS, "name": "word"}], "depth": "int", "free": "free"}, "status": {"state": "word"}},
        clusters=("east", "west"),
    ),
    Kind("tenants", GROUP, "Tenant", False, {"spec": {"plan": "word", "quota": "quantity", "free": "free", "since": "date", "limits": {"*": "intstr"}}}),
    Kind("licences", f"sub.{GROUP}", "Licence", False, {"spec": {"seats": "int", "price": "number", "valid": "bool", "until": "free", "term": "span"}}),
    Kind("widgets", f"w.{GROUP}", "Widget", True, widget),
    Kind("configmaps", "", "ConfigMap", True, {"data": {"*": "text"}}),
    Kind(
        "pods", "", "Pod", True,
        {
            "spec": {"containers": [{"image": "word", "resources": {"requests": {"memory": "q", "cpu": "q"}}}], "nodeName": "word"},
            "status": {"phase": "word", "conditions": CONDITIONS, "startTime": "date"},
        },
    ),
    Kind("services", "", "Service", True, {"spec": {"ports": [{"port": "int", "targetPort": "intstr", "name": "word"}], "type": "word", "sessionAffinity": "word"}}),
    Kind("nodes", "", "Node", False, {"spec": {"unschedulable": "bool", "podCIDR": "word"}, "status": {"capacity": {"memory": "q", "cpu": "q"}, "conditions": CONDITIONS}}),
    Kind("namespaces", "", "Namespace", False, {"status": {"phase": "word"}}),
]

LEAF_SCHEMAS = {
    "text": {"type": "string"}, "word": {"type": "string"}, "flag": {"type": "string"}, "span": {"type": "string"},
    "quantity": {"x-kubernetes-int-or-string": True}, "intstr": {"x-kubernetes-int-or-string": True},
    "int": {"type": "integer", "format": "int64"}, "number": {"type": "number"}, "bool": {"type": "boolean"},
    "date": {"type": "string", "format": "date-time"}, "free": {"x-kubernetes-preserve-unknown-fields": True},
    "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
}


def schema_of(shape):
    if isinstance(shape, str):
        return LEAF_SCHEMAS[shape]
    if isinstance(shape, list):
        return {"type": "array", "items": schema_of(shape[0])}
    if "*" in shape:
        return {"type": "object", "additionalProperties": schema_of(shape["*"])}
    return {"type": "object", "properties": {name: schema_of(field) for name, field in shape.items()}}


def definition_of(kind, cluster):
    schema = schema_of(kind.shapes(cluster))
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.resource},
        "spec": {
            "group": kind.group,
            "names": {"plural": kind.plural, "kind": kind.kind},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [{"name": kind.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }


WORDS = ["Ready", "ready", "READY", "Running", "Broken", "", "Ünï", "ünï", "redis", "True", "10", "9", "web-2", "web-10", "web-02"]
TEXTS = WORDS + [
    "7.2", "7.10", "7", "007", "-7", "+7", " 7", "1.5", "5.5", "true", "false", "True", "False", "null", "1Gi", "1024Mi", "1h30m", "90m",
    "2026-01-01T00:00:00Z", "😀", "\uffff", "é", "e\u0301", "a\u0000b", "line\nbreak", "İ", "ſ", "K", "x" * 4096, "x" * 4097, "é" * 4096, "😀" * 2048, "😀" * 2049,
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "9007199254740993",
]
QUANTITIES = ["1Gi", "1024Mi", "1073741824", 1073741824, "1e3", "1E3", "1k", 1000, "500m", "0.5", "-1", "+1", ".5", "1.", "1n", "1500u", "1Ki", "1ki", "1KB", "", "abc", "1E", "1e-3", 0, "0", "1.5Gi", "100M", " 1"]
SPANS = ["1h", "60m", "90m", "1h30m", "5400s", "250ms", "0.25s", "-5s", "0", "0s", "1d", "", "5", "+3s", ".5s", "1.s", "1us", "1µs", "1ns", "1h1h", "1 h", "3000000h", "s"]
DATES = ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2025-12-31T23:00:00-01:00", "2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.500000Z", "2026-01-01T00:00:00.123456789Z", "1969-12-31T23:59:59.5Z", "2024-02-29T12:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
INTS = [0, 1, 2, 3, 3, 10, -1, 9007199254740993, 9223372036854775807, -9223372036854775808]
FLOATS = [0, 0.5, 0.1, 0.2, 0.30000000000000004, -1.5, 3, 1e21, 1.5e-7, 2.5e10, 100]
NAMES = ["a", "b", "c", "app-1", "app-2", "x", "y"]


class Objects:
    """Random objects by a dice."""

    def __init__(self, dice):
        self.dice = dice

    def leaf(self, sort):
        dice = self.dice
        if sort in ("free", "open"):
            return self.free(2)
        if sort == "flag":
            return dice.choice(["True", "False", "Unknown", "true", ""])
        pools = {
            "text": TEXTS, "word": WORDS, "intstr": INTS[:6] + ["7", "1Gi", "50%", "", "80"], "quantity": QUANTITIES,
            "span": SPANS, "date": DATES, "int": INTS, "number": FLOATS, "bool": [True, False], "q": ["1Gi", "1024Mi", "500m", "2", "1e3", "0.5"],
        }
        value = dice.choice(pools[sort])
        # A definition's int-or-string takes whole numbers of 32 bits only.
        return int(value) % 1000 if sort in ("intstr", "quantity") and isinstance(value, int) else value

    def free(self, depth):
        """Any JSON."""
        dice = self.dice
        how = dice.random()
        if how < 0.08:
            return {} if depth < 2 else {"inner": None}
        if how < 0.2 and depth > 0:
            return {name: self.free(depth - 1) for name in ("inner", "k", "é") if dice.random() < 0.6}
        if how < 0.32 and depth > 0:
            return [self.free(depth - 1) for _ in range(dice.randint(0, 3))]
        if how < 0.38:
            return None if depth < 2 else False
        return dice.choice(dice.choice([TEXTS, QUANTITIES, SPANS, DATES, INTS, FLOATS, [True, False]]))

    def tree(self, shape):
        dice = self.dice
        if isinstance(shape, str):
            if shape == "open":
                return {name: self.free(2) for name in ("version", "size", "list", "since", "ttl", "on") if dice.random() < 0.8}
            return self.leaf(shape)
        if isinstance(shape, list):
            return [self.tree(shape[0]) for _ in range(dice.choice([0, 1, 1, 2, 3]))]
        if "*" in shape:
            return {name: self.tree(shape["*"]) for name in ("k1", "a/b", "ключ", 'q"x') if dice.random() < 0.5}
        return {name: self.tree(field) for name, field in shape.items() if dice.random() < 0.8}

    def metadata(self):
        dice = self.dice
        labels = {"tier": dice.choice(["front", "back", "Front", ""]), "oracle.example/part": dice.choice(["1", "2", "10"])}
        notes = {"note": dice.choice(TEXTS), "a/b": dice.choice(["1", "2"])}
        kept = lambda values: {name: value for name, value in values.items() if dice.random() < 0.6}
        return {"labels": kept(labels), "annotations": kept(notes)}

    def of(self, kind, cluster, name, namespace):
        """A manifest, and the status that is written afterwards; None if the manifest has it."""
        dice = self.dice
        body = {"apiVersion": f"{kind.group}/{kind.version}" if kind.group else kind.version, "kind": kind.kind}
        body["metadata"] = {"name": name, **({"namespace": namespace} if kind.namespaced else {}), **self.metadata()}
        if kind.custom:
            return {**body, **self.tree(kind.shapes(cluster))}, None
        if kind.plural == "configmaps":
            names = ["k1", "k-2", "K_3", "with.dot"]
            return {**body, "data": {each: dice.choice(TEXTS) for each in names if dice.random() < 0.6}}, None
        if kind.plural == "pods":
            requests = lambda: {"memory": self.leaf("q"), "cpu": self.leaf("q")}
            # The memory of a Pod is in whole bytes.
            containers = [
                {"name": f"c{index}", "image": f"web:{dice.randint(1, 12)}", "resources": {"requests": {**requests(), "memory": dice.choice(["1Gi", "1024Mi", "2", "1e3"])}}}
                for index in range(dice.randint(1, 3))
            ]
            conditions = [{"type": each, "status": dice.choice(["True", "False", "Unknown"])} for each in ("Ready", "Initialized")]
            status = {"phase": dice.choice(["Pending", "Running", "Failed"]), "conditions": dice.sample(conditions, dice.randint(0, 2))}
            return {**body, "spec": {"containers": containers, "terminationGracePeriodSeconds": 0}}, status
        if kind.plural == "services":
            ports = [
                {"name": f"p{index}", "port": 80 + index * 10 + dice.randint(0, 5), "targetPort": dice.choice([8080, 80, "http", "web-2"])}
                for index in range(dice.randint(1, 3))
            ]
            return {**body, "spec": {"clusterIP": "None", "ports": ports, "sessionAffinity": dice.choice(["None", "ClientIP"])}}, None
        if kind.plural == "nodes":
            capacity = {"cpu": self.leaf("q"), "memory": dice.choice(["1Gi", "1024Mi", "2", "1e3", "16441671Ki"])}
            conditions = [{"type": "Ready", "status": dice.choice(["True", "False", "Unknown"])}]
            status = {"capacity": capacity, "conditions": dice.sample(conditions, dice.randint(0, 1))}
            return {**body, "spec": {"unschedulable": dice.random() < 0.5}}, status
        return body, None
