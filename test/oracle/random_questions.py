"""Random questions of one list: a filter, an order, a size of pages, groups and facets."""

import datetime
import json

from shapes import DATES, FLOATS, INTS, NAMES, TEXTS
from values import NUMBERS, canonical_duration, canonical_quantity, decimal_text

POOLS = {
    "String": [text for text in TEXTS if len(text) < 2000],
    "Int64": INTS,
    "Float": FLOATS,
    "Boolean": [True, False],
    "Quantity": ["1Gi", "1024Mi", "500m", "0.5", "1e3", "-1", "0", "1.5Gi"],
    "DateTime": DATES,
    "Duration": ["1h", "90m", "-5s", "0s", "1us", "5400s"],
}
PATTERNS = ["^[A-Z]", "e", "(?:1|2)0?$", "^$", "web-[0-9]+", "a.b", "^(?:r|R)e", "[^a-z]+", "ü", "x{10,}"]


def literal(of_type, found):
    """A JSON value whose key this is."""
    if of_type == "Boolean":
        return bool(found)
    if of_type == "Int64":
        return found if abs(found) < 2**53 else str(found)
    if of_type == "Quantity":
        return canonical_quantity(found) or decimal_text(found)
    if of_type == "Duration":
        return canonical_duration(found)
    if of_type == "DateTime":
        moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=found)
        return f"{moment.year:04}-{moment:%m-%dT%H:%M:%S}.{moment.microsecond:06}Z"
    return found


class RandomQuestions:
    def __init__(self, dice, leaves, rows, clusters, namespaces):
        self.dice = dice
        self.leaves = leaves
        self.rows = rows
        self.clusters = clusters
        self.namespaces = namespaces
        self.columns = [path for path in leaves if path.isalnum() and path not in ("cluster", "member", "mark")]
        self.paths = list(leaves)

    def value(self, leaf):
        """A value of the leaf that a row has, or one of the pool."""
        dice = self.dice
        found = leaf.read(dice.choice(self.rows)) if self.rows and dice.random() < 0.7 else None
        if found is not None and (leaf.type != "String" or len(found) < 2000):
            return literal(leaf.type, found)
        value = dice.choice(leaf.values if leaf.type == "Enum" else POOLS[leaf.type])
        return str(value) if leaf.type == "Int64" and abs(value) >= 2**53 else value

    def operators(self, leaf):
        dice = self.dice
        if leaf.type == "Boolean":
            return dice.choice([{"eq": self.value(leaf)}, {"ne": self.value(leaf)}, {"exists": dice.random() < 0.5}])
        if leaf.type == "Enum":
            several = [self.value(leaf) for _ in range(dice.randint(1, 4))]
            return dice.choice([{"eq": several[0]}, {"ne": several[0]}, {"in": several}, {"notIn": several}, {"exists": dice.random() < 0.6}])
        ranges = {dice.choice(["gt", "gte"]): self.value(leaf), **({dice.choice(["lt", "lte"]): self.value(leaf)} if dice.random() < 0.4 else {})}
        several = [self.value(leaf) for _ in range(dice.randint(1, 4))]
        choices = [
            {"eq": self.value(leaf)}, {"ne": self.value(leaf)}, {"in": several}, {"notIn": several}, ranges,
            {dice.choice(["lt", "lte"]): self.value(leaf)}, {"exists": dice.random() < 0.6},
        ]
        if leaf.type == "String":
            text = self.value(leaf)
            part = text[: dice.randint(0, 3)] if dice.random() < 0.7 else text[-2:]
            found = dice.choice([
                {"startsWith": part}, {"endsWith": text[-2:]}, {"contains": part}, {"matches": dice.choice(PATTERNS)},
                {"eq": text}, {"notIn": several}, {"ne": text},
            ])
            choices += [found, {**found, "ignoreCase": True}]
            if dice.random() < 0.3:
                return {**found, "ignoreCase": True, "exists": True}
        return dice.choice(choices)

    def condition(self, depth):
        dice = self.dice
        how = dice.random()
        if depth > 0 and how < 0.12:
            # Namespaces stand at the top alone: what they name there decides whether a caller is refused.
            some = [self.condition(depth - 1) for _ in range(dice.randint(1, 3))]
            return {"and": [{"not": each} if {"namespaces", "and"} & set(each) else each for each in some]}
        if depth > 0 and how < 0.3:
            return {"or": [self.condition(depth - 1) for _ in range(dice.randint(1, 3))]}
        if depth > 0 and how < 0.4:
            return {"not": self.condition(depth - 1)}
        if how < 0.46:
            return {"clusters": dice.sample(self.clusters, dice.randint(1, 2))}
        if how < 0.5:
            return {"namespaces": dice.sample(self.namespaces, dice.randint(1, 2))}
        if how < 0.54:
            terms = ["tier=front", "tier!=back", "oracle.example/part", "!oracle.example/part", "tier in (front,Front)", "oracle.example/part notin (1,10)"]
            return {"labelSelector": ",".join(dice.sample(terms, dice.randint(1, 2)))}
        if how < 0.6:
            field = dice.choice(["name", "namespace", "creationTimestamp"])
            leaf = self.leaves[f"metadata.{field}"]
            values = {"in": dice.sample(NAMES, 3)} if field == "name" and dice.random() < 0.5 else self.operators(leaf)
            return {"metadata": {field: values}}
        if how < 0.65:
            name, path = dice.choice([("tier", 'metadata.labels["tier"]'), ("oracle.example/part", 'metadata.labels["oracle.example/part"]')])
            return {"metadata": {"labels": [{"key": name, **self.operators(self.leaves[path])}]}}
        if how < 0.69:
            return {"member": self.operators(self.leaves["member"])}
        if how < 0.77:
            path = dice.choice(self.paths)
            return {"path": [{"path": path, **self.operators(self.leaves[path])}]}
        if how < 0.81:
            return {"compare": [self.comparison()]}
        path = dice.choice(self.columns)
        return {path: self.operators(self.leaves[path])}

    def comparison(self):
        dice = self.dice
        first = dice.choice(self.columns)
        of_type = self.leaves[first].type
        numbers = of_type in NUMBERS
        fitting = [
            path for path in self.columns
            if self.leaves[path].type == of_type or (numbers and self.leaves[path].type in NUMBERS)
        ]
        words = ["eq", "ne"] if of_type == "Boolean" else ["eq", "ne", "lt", "lte", "gt", "gte"]
        times = {"times": dice.choice([0.5, 2, 0.1])} if (numbers or of_type == "Duration") and dice.random() < 0.4 else {}
        return {"path": first, dice.choice(words): dice.choice(fitting), **times}

    def filter(self):
        dice = self.dice
        if dice.random() < 0.15:
            return None
        made = {}
        for _ in range(dice.choice([1, 1, 2, 3])):
            for name, value in self.condition(2).items():
                made.setdefault(name, value)
        return made

    def order(self):
        dice = self.dice
        terms = []
        for path in dice.sample(self.paths, dice.choice([0, 1, 1, 2, 3])):
            term = {"path": path}
            if dice.random() < 0.6:
                term["direction"] = dice.choice(["ASC", "DESC"])
            if dice.random() < 0.4:
                term["nulls"] = dice.choice(["FIRST", "LAST"])
            if self.leaves[path].type == "String" and dice.random() < 0.3:
                term["natural"] = True
            terms.append(term)
        return terms

    def grouping(self):
        return self.dice.sample(self.paths, self.dice.choice([1, 1, 2]))

    def facet(self):
        return self.dice.choice(self.paths)

    def measured(self):
        """A column of numbers to add up, and any column for least and greatest."""
        numbers = [path for path in self.columns if self.leaves[path].type in (*NUMBERS, "Duration")]
        return self.dice.choice(numbers), self.dice.choice(self.columns)


def shown(value):
    text = json.dumps(plain(value), ensure_ascii=False)
    return text if len(text) < 3000 else f"{text[:3000]}…"


def plain(value):
    """JSON of anything that was compared."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
