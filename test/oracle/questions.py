"""Filters, orders, groups and facets as docs/queries.md and docs/values.md describe them, over the rows of an abstract kind."""

import functools
import re

from values import NUMBERS, amount, key, natural_key

ASCII_FOLD = {code: code + 32 for code in range(65, 91)}


def fold_ascii(text):
    return text.translate(ASCII_FOLD)


class Leaf:
    """A path of a list: its type, its key in a row, and the values of an enum."""

    def __init__(self, path, of_type, read, values=None):
        self.path = path
        self.type = of_type
        self.read = read
        self.values = values


def leaves_of(kind):
    """The paths that questions use, by their text."""
    metadata = lambda name: lambda row: row.metadata.get(name)
    labels = lambda name: lambda row: (row.metadata.get("labels") or {}).get(name)
    notes = lambda name: lambda row: (row.metadata.get("annotations") or {}).get(name)
    leaves = [
        Leaf("cluster", "String", lambda row: row.cluster),
        Leaf("member", "String", lambda row: row.member),
        Leaf("metadata.name", "String", metadata("name")),
        Leaf("metadata.namespace", "String", metadata("namespace")),
        Leaf("metadata.creationTimestamp", "DateTime", lambda row: key("DateTime", row.metadata["creationTimestamp"])),
        Leaf('metadata.labels["tier"]', "String", labels("tier")),
        Leaf('metadata.labels["oracle.example/part"]', "String", labels("oracle.example/part")),
        Leaf('metadata.annotations["a/b"]', "String", notes("a/b")),
    ]
    for name, column in kind["columns"].items():
        leaves.append(Leaf(name, column["type"], lambda row, name=name: row.keys[name], column.get("values")))
    return {leaf.path: leaf for leaf in leaves}


def condition_holds(of_type, condition, found):
    """Do all operators of a condition hold for a key?"""
    operators = {name: value for name, value in condition.items() if name not in ("path", "key", "ignoreCase")}
    folds = condition.get("ignoreCase", False) and of_type == "String"
    same = fold_ascii if folds else (lambda text: text)
    as_key = lambda literal: key(of_type, literal)
    equals = lambda literal: found is not None and same(found) == same(as_key(literal))
    tests = {
        "exists": lambda wanted: (found is not None) == wanted,
        "eq": equals,
        "ne": lambda literal: not equals(literal),
        "in": lambda literals: any(map(equals, literals)),
        "notIn": lambda literals: not any(map(equals, literals)),
        "lt": lambda literal: found is not None and found < as_key(literal),
        "lte": lambda literal: found is not None and found <= as_key(literal),
        "gt": lambda literal: found is not None and found > as_key(literal),
        "gte": lambda literal: found is not None and found >= as_key(literal),
        "startsWith": lambda text: found is not None and same(found).startswith(same(text)),
        "endsWith": lambda text: found is not None and same(found).endswith(same(text)),
        "contains": lambda text: found is not None and same(text) in same(found),
        "matches": lambda pattern: found is not None
        and re.search(pattern.replace("$", r"\Z"), found[:16384], re.IGNORECASE if folds else 0) is not None,
    }
    return all(tests[name](value) for name, value in operators.items())


def compares(leaves, condition, row):
    left = leaves[condition["path"]]
    (operator, other), = ((name, value) for name, value in condition.items() if name not in ("path", "times"))
    right = leaves[other]
    first, second = left.read(row), right.read(row)
    if first is None and second is None:
        return operator == "ne"
    if left.type in NUMBERS or left.type == "Duration":
        first, second = (0 if each is None else amount(of, each) for of, each in ((left.type, first), (right.type, second)))
        second *= amount("Float", float(condition.get("times", 1)))
    elif first is None or second is None:
        return operator == "ne"
    return {
        "eq": first == second, "ne": first != second, "lt": first < second,
        "lte": first <= second, "gt": first > second, "gte": first >= second,
    }[operator]


def selects_labels(selector, labels):
    """The terms that the oracle writes: a=b, a!=b, a, !a, a in (b,c), a notin (b,c)."""
    for term in terms_of(selector):
        ranged = re.fullmatch(r"(\S+) (in|notin) \((.*)\)", term)
        if ranged is not None:
            holds = (labels.get(ranged[1]) in ranged[3].split(",")) == (ranged[2] == "in")
        elif "!=" in term:
            name, value = term.split("!=")
            holds = labels.get(name) != value
        elif "=" in term:
            name, value = term.split("=")
            holds = labels.get(name) == value
        else:
            holds = (term.lstrip("!") in labels) != term.startswith("!")
        if not holds:
            return False
    return True


def matches(leaves, condition, row):
    """Does a whole filter hold for a row?"""
    for name, value in condition.items():
        if name == "clusters":
            holds = row.cluster in value
        elif name == "namespaces":
            holds = row.namespace != "" and row.namespace in value
        elif name == "labelSelector":
            holds = selects_labels(value, row.metadata.get("labels") or {})
        elif name == "and":
            holds = all(matches(leaves, each, row) for each in value)
        elif name == "or":
            holds = any(matches(leaves, each, row) for each in value)
        elif name == "not":
            holds = not matches(leaves, value, row)
        elif name == "path":
            holds = all(condition_holds(leaves[each["path"]].type, each, leaves[each["path"]].read(row)) for each in value)
        elif name == "compare":
            holds = all(compares(leaves, each, row) for each in value)
        elif name == "metadata":
            holds = all(metadata_holds(leaves, field, conditions, row) for field, conditions in value.items())
        else:
            holds = condition_holds(leaves[name].type, value, leaves[name].read(row))
        if not holds:
            return False
    return True


def metadata_holds(leaves, field, conditions, row):
    if field not in ("labels", "annotations"):
        leaf = leaves[f"metadata.{field}"]
        return condition_holds(leaf.type, conditions, leaf.read(row))
    entries = row.metadata.get(field) or {}
    return all(condition_holds("String", each, entries.get(each["key"])) for each in conditions)


class Order:
    """The terms of an order and the ties of identity, which go in the direction of the last term."""

    def __init__(self, leaves, terms):
        self.terms = [(leaves[term["path"]], term) for term in terms]
        self.down = bool(terms) and terms[-1].get("direction") == "DESC"

    def place(self, row):
        """Where a row stands: it can be kept after the row has changed or gone."""
        keys = []
        for leaf, term in self.terms:
            found = leaf.read(row)
            keys.append(natural_key(found) if term.get("natural") and found is not None else found)
        return (*keys, row.tie)

    def compare(self, first, second):
        for index, (_, term) in enumerate(self.terms):
            one, other = first[index], second[index]
            if one is None or other is None:
                if (one is None) != (other is None):
                    return -1 if (one is None) == (term.get("nulls") == "FIRST") else 1
            elif one != other:
                return -1 if (one < other) != (term.get("direction") == "DESC") else 1
        if first[-1] == second[-1]:
            return 0
        return -1 if (first[-1] < second[-1]) != self.down else 1

    def sorted(self, rows):
        return sorted(rows, key=functools.cmp_to_key(lambda one, other: self.compare(self.place(one), self.place(other))))

    def after(self, rows, place):
        return [row for row in rows if self.compare(self.place(row), place) > 0]

    def before(self, rows, place):
        return [row for row in rows if self.compare(self.place(row), place) < 0]


def groups_of(leaves, paths, rows):
    """Lists of rows by the keys at the paths."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(leaves[path].read(row) for path in paths), []).append(row)
    return groups


def concerns(name, value):
    """The paths of a condition of a filter."""
    if name in ("and", "or"):
        return {path for each in value for part in each.items() for path in concerns(*part)}
    if name == "not":
        return {path for part in value.items() for path in concerns(*part)}
    if name == "labelSelector":
        return {label_path(re.split(r"[ !=]", term.lstrip("!"))[0]) for term in terms_of(value)}
    if name == "path":
        return {each["path"] for each in value}
    if name == "compare":
        return {"two paths"}
    if name == "metadata":
        labels = {label_path(each["key"]) for each in value.get("labels", [])}
        return labels | {f"metadata.{field}" for field in value if field != "labels"}
    return {{"clusters": "cluster", "namespaces": "metadata.namespace"}.get(name, name)}


def label_path(name):
    return f'metadata.labels["{name}"]'


def terms_of(selector):
    return re.split(r",(?![^(]*\))", selector)


def parts_of(condition):
    """The conditions that must all hold, one by one."""
    for name, value in condition.items():
        if name == "and":
            for each in value:
                yield from parts_of(each)
        elif name == "path":
            yield from ({"path": [each]} for each in value)
        elif name == "metadata":
            for field, conditions in value.items():
                several = [[each] for each in conditions] if isinstance(conditions, list) else [conditions]
                yield from ({"metadata": {field: each}} for each in several)
        elif name == "labelSelector":
            yield from ({"labelSelector": term} for term in terms_of(value))
        else:
            yield {name: value}


def without_own(condition, path):
    """A filter without the conditions of its top level that concern only this path."""
    return {"and": [part for part in parts_of(condition) if concerns(*next(iter(part.items()))) != {path}]}
