"""Random abstract kinds over the oracle's kinds, as a file of docs/abstract-kinds.md."""

import json
import re

from shapes import WORDS

SORTS = {
    "String": ("text", "word", "flag", "intstr", "int", "number", "bool", "date", "span", "free"),
    "Int64": ("int", "intstr", "text", "quantity", "free"),
    "Float": ("number", "int", "free"),
    "Boolean": ("bool", "flag", "free"),
    "Quantity": ("quantity", "q", "intstr", "int", "text", "free"),
    "DateTime": ("date", "text", "free"),
    "Duration": ("span", "text", "free"),
}
SORTS["Enum"] = SORTS["String"]
CONSTANTS = {
    "String": ["redis", "Ünï", "7", "x y"],
    "Int64": [0, 3, "42", 9007199254740993],
    "Float": [0.5, 3, -1.5],
    "Boolean": [True, False],
    "Quantity": ["1Gi", "500m", 5],
    "DateTime": ["2026-01-01T00:00:00Z"],
    "Duration": ["90m", "1h"],
}

# Names of GraphQL.
ENUM_VALUES = [word for word in WORDS if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", word)]


def step(name):
    return f".{name}" if name.replace("-", "").isascii() and name.replace("-", "").isalnum() else f"[{json.dumps(name, ensure_ascii=False)}]"


def paths_of(shape, at=""):
    """Paths to leaves with their sort: those through `[]` are what a list comes to."""
    if isinstance(shape, str):
        inner = [f"{at}.inner", f"{at}[0]", f"{at}.k", f'{at}["é"]'] if shape == "free" else []
        if shape == "open":
            inner = [f"{at}.{name}" for name in ("version", "size", "since", "ttl", "on", "list[0]", "size.inner")]
            return [(path, "free") for path in inner] + [(f"{at}.list[]", "free")]
        return [(at, shape)] + [(path, "free") for path in inner] + ([(f"{at}[]", "free")] if shape == "free" else [])
    if isinstance(shape, list):
        found = paths_of(shape[0], f"{at}[]") + paths_of(shape[0], f"{at}[0]")
        if isinstance(shape[0], dict) and "type" in shape[0]:
            found += [(f"{at}[type=Ready].{path}", sort) for path, sort in paths_of(shape[0])]
        return found
    if "*" in shape:
        names = ("k1", "a/b", "ключ", 'q"x', "k-2", "with.dot")
        return [(f"{at}[{json.dumps(name, ensure_ascii=False)}]", shape["*"]) for name in names]
    return [found for name, field in shape.items() for found in paths_of(field, at + step(name) if at else name)]


METADATA = [
    ("metadata.name", "word"),
    ("metadata.namespace", "word"),
    ("metadata.creationTimestamp", "date"),
    ('metadata.labels["tier"]', "word"),
    ('metadata.labels["oracle.example/part"]', "int"),
    ('metadata.annotations["note"]', "text"),
    ('metadata.annotations["a/b"]', "word"),
]


class RandomKinds:
    def __init__(self, dice, kinds):
        self.dice = dice
        self.kinds = kinds

    def file(self, mark):
        """Five kinds. The column `mark` has the number of the file, which tells when the gateway has taken it."""
        names = [("listAs", "ListA"), ("listBs", "ListB"), ("allInstances", "ListC"), ("listsD", "ListD"), ("e", "Listing")]
        return {"abstractKinds": [self.kind(name, of_type, mark) for name, of_type in names]}

    def kind(self, name, of_type, mark):
        dice = self.dice
        types = dice.sample(list(SORTS), len(SORTS)) + [dice.choice(list(SORTS)) for _ in range(dice.choice([0, 2, 5, 12]))]
        columns = {"mark": {"type": "Int64"}}
        for index, column_type in enumerate(types):
            column = {"type": column_type}
            if column_type == "String" and dice.random() < 0.2:
                column["values"] = dice.sample([word for word in WORDS if word != ""], 5)
            if column_type == "Enum":
                column["values"] = dice.sample(ENUM_VALUES, dice.randint(2, 5))
            columns[f"{column_type[0].lower()}{index}"] = column
        some = dice.sample(self.kinds, dice.randint(2, 7))
        return {"name": name, "type": of_type, "columns": columns, "members": [self.member(each, columns, mark) for each in some]}

    def member(self, kind, columns, mark):
        dice = self.dice
        paths = sorted({path for cluster in ("east", "east-2", "west") for path in paths_of(kind.shapes(cluster))}) + METADATA
        sources = {"mark": {"value": mark}}
        for name, column in columns.items():
            if name != "mark" and dice.random() < 0.9:
                # Constants must be among the values that the column may have.
                some = column.get("values", CONSTANTS["String"])
                self.constants = {**CONSTANTS, "String": some, "Enum": some}
                sources[name] = self.source(column["type"], paths, 3)
        member = {"resource": kind.resource, "columns": sources}
        if dice.random() < 0.3:
            member["where"] = dict(self.condition(paths) for _ in range(dice.randint(1, 2)))
        if dice.random() < 0.25:
            member["labels"] = self.selector()
        return member

    def path(self, of_type, paths, through_lists=False):
        dice = self.dice
        fitting = [path for path, sort in paths if ("[]" in path) == through_lists and sort in SORTS[of_type]]
        every = [path for path, _ in paths if ("[]" in path) == through_lists]
        if not every:
            return None
        return dice.choice(fitting if fitting and dice.random() < 0.8 else every)

    def source(self, of_type, paths, depth):
        dice = self.dice
        how = dice.random() if depth > 0 else 0
        if how < 0.45:
            return self.path(of_type, paths)
        if how < 0.6:
            path = self.path(of_type, paths, True)
            functions = ["min", "max"] if of_type != "Boolean" else ["max"]
            functions += ["sum"] * (3 if of_type in ("Int64", "Float", "Quantity", "Duration") else 1)
            functions += ["count"] if of_type in ("Int64", "Float", "Quantity", "String") else []
            return f"{dice.choice(functions)}({path})" if path is not None else self.path(of_type, paths)
        if how < 0.66:
            return {"value": dice.choice(self.constants[of_type])}
        if how < 0.8:
            return {"firstOf": [self.source(of_type, paths, depth - 1) for _ in range(dice.randint(2, 3))]}
        if how < 0.9 and of_type in ("String", "Int64"):
            glue = [{"value": dice.choice([":", "", "/", "é"])}] if of_type == "String" else []
            return {"concat": [self.source("String", paths, depth - 1), *glue, self.source("String", paths, depth - 1)]}
        mapped = {word: dice.choice(self.constants[of_type]) for word in ("Ready", "running", "10", "True", "ünï")}
        source = {"of": self.source("String", paths, depth - 1), "map": mapped}
        if dice.random() < 0.5:
            source["otherwise"] = dice.choice(self.constants[of_type])
        return source

    def condition(self, paths):
        dice = self.dice
        scalar = [path for path, sort in paths if "[]" not in path and sort not in ("free", "number")]
        several = [path for path, sort in paths if "[]" in path and sort in ("word", "int")]
        numbers = [path for path, sort in paths if "[]" not in path and sort == "int"]
        how = dice.random()
        if how < 0.15 and several:
            return dice.choice(several), dice.sample(["Ready", "redis", "10", 2, 80], 3)
        if how < 0.3 and numbers:
            word = dice.choice(["lessThan", "greaterThan"])
            return dice.choice(numbers), {word: dice.choice([2, 0, dice.choice(numbers)])}
        words = ["ready", "Broken", "redis", "front", "True", True, 3]
        return dice.choice(scalar), dice.choice(
            [
                {"exists": dice.random() < 0.7},
                {"not": dice.sample(words, 2)},
                {"not": dice.choice(words)},
                {"startsWith": ["Re", "b", "1", "a"]},
                dice.sample(words, 4),
            ]
        )

    def selector(self):
        dice = self.dice
        expressions = [
            {"key": "tier", "operator": "In", "values": ["front", "back"]},
            {"key": "tier", "operator": "NotIn", "values": ["front"]},
            {"key": "oracle.example/part", "operator": "Exists"},
            {"key": "oracle.example/part", "operator": "DoesNotExist"},
        ]
        if dice.random() < 0.3:
            return {"matchLabels": {"tier": "back"}}
        return {"matchExpressions": dice.sample(expressions, dice.randint(1, 2))}
