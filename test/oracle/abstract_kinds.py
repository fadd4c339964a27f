"""Abstract kinds as docs/abstract-kinds.md describes them: the rows that a description makes of the JSON of objects."""

import re
from fractions import Fraction

from values import LONGEST_TEXT, NUMBERS, floating, is_number, key, length, text_of

STEP = re.compile(
    r"""\.?(?:(?P<name>[^.\[\]()]+)|\["(?P<quoted>(?:[^"\\]|\\.)*)"\]|\[(?P<index>[0-9]+)\]"""
    r"""|\[(?P<by>[^=\]"]+)=(?P<equal>[^\]]*)\]|(?P<all>\[\]))"""
)
FUNCTION = re.compile(r"(sum|count|min|max)\((.*)\)", re.DOTALL)


def steps_of(path):
    """`spec.list[0]["a/b"]` as steps: ('name', 'spec'), ('name', 'list'), ('index', 0), ('name', 'a/b')."""
    steps, at = [], 0
    while at < len(path):
        found = STEP.match(path, at)
        if found is None:
            raise ValueError(f"no path: {path}")
        if found["name"] is not None:
            steps.append(("name", found["name"]))
        elif found["quoted"] is not None:
            steps.append(("name", re.sub(r"\\(.)", r"\1", found["quoted"])))
        elif found["index"] is not None:
            steps.append(("index", int(found["index"])))
        elif found["all"] is not None:
            steps.append(("all", None))
        else:
            steps.append(("equal", (found["by"], found["equal"])))
        at = found.end()
    return steps


def values_at(value, steps):
    """Every value that is not null at a path; several through `[]`."""
    if value is None:
        return []
    if not steps:
        return [value]
    (what, operand), rest = steps[0], steps[1:]
    if what == "name":
        return values_at(value.get(operand), rest) if isinstance(value, dict) else []
    if not isinstance(value, list):
        return []
    if what == "index":
        return values_at(value[operand], rest) if operand < len(value) else []
    if what == "all":
        return [found for each in value for found in values_at(each, rest)]
    name, wanted = operand
    for each in value:
        if isinstance(each, dict) and text_of(each.get(name)) == wanted:
            return values_at(each, rest)
    return []


def value_at(value, path):
    found = values_at(value, steps_of(path))
    return found[0] if found else None


def total(of_type, function, values):
    """What the values of a list come to, in a column of this type."""
    if function == "count":
        return len(values)
    if function == "sum" and of_type not in (*NUMBERS, "Duration"):
        # Where a text is wanted, the values are added as the numbers that they are.
        of_type = "Int64" if all(key("Int64", value) is not None for value in values) else "Float"
        added = total(of_type, function, values)
        return None if added is None else added.key(of_type)
    fitting = [(each, value) for value in values if (each := key(of_type, value)) is not None]
    if function == "sum":
        added = Total(sum((Fraction(repr(each)) if of_type == "Float" else Fraction(each) for each, _ in fitting), Fraction(0)))
        # A sum out of the type's range is no value.
        return added if added.key(of_type) is not None else None
    if not fitting:
        return None
    return (min if function == "min" else max)(fitting, key=lambda pair: pair[0])[1]


class Total:
    """A sum in the unit of the keys of its column."""

    def __init__(self, exact):
        self.exact = exact

    def key(self, of_type):
        if of_type == "Int64":
            return int(self.exact) if -(2**63) <= self.exact < 2**63 else None
        if of_type == "Float":
            return float(self.exact)
        if of_type == "Duration":
            return int(self.exact) if -(2**63) < self.exact < 2**63 else None
        return self.exact


def evaluate(of_type, source, item):
    """The value of a source before it is fitted into the column."""
    if isinstance(source, str):
        function = FUNCTION.fullmatch(source)
        if function is None:
            return value_at(item, source)
        return total(of_type, function[1], values_at(item, steps_of(function[2])))
    if "value" in source:
        return source["value"]
    if "firstOf" in source:
        for each in source["firstOf"]:
            value = evaluate(of_type, each, item)
            if value is not None:
                return value
        return None
    if "concat" in source:
        texts = [text_of(evaluate("String", each, item)) for each in source["concat"]]
        joined = None if None in texts else "".join(texts)
        return joined if joined is not None and length(joined) <= LONGEST_TEXT else None
    value = evaluate("String", source["of"], item)
    if value is None:
        return None
    text = text_of(value)
    if text is None:
        return None
    folded = {fold(name): to for name, to in source["map"].items()}
    if fold(text) in folded:
        return folded[fold(text)]
    return source.get("otherwise")


def fold(text):
    return text.lower()


def column_key(column, source, item):
    value = evaluate(column["type"], source, item)
    found = value.key(column["type"]) if isinstance(value, Total) else key(column["type"], value)
    return found if "values" not in column or found in column["values"] else None


def holds(condition, values, item):
    """Does a condition of `where` hold for the values at its path?"""
    if isinstance(condition, dict):
        (word, operand), = condition.items()
        if word == "not":
            return not any(is_one_of(value, operand) for value in values)
        if word == "exists":
            return any(value != "" for value in values) == operand
        if word == "startsWith":
            heads = operand if isinstance(operand, list) else [operand]
            texts = [fold(text) for value in values if (text := text_of(value)) is not None]
            return any(text.startswith(fold(head)) for text in texts for head in heads)
        other = operand if is_number(operand) else value_at(item, operand)
        left, right = number_of(values[0] if values else None), number_of(other)
        return left < right if word == "lessThan" else left > right
    return any(is_one_of(value, condition) for value in values)


def number_of(value):
    """A text of a number counts as the number; what is none counts as 0."""
    return floating(value) or 0


def is_one_of(value, wanted):
    texts = [fold(text_of(each)) for each in (wanted if isinstance(wanted, list) else [wanted])]
    text = text_of(value)
    return text is not None and fold(text) in texts


def selects(selector, labels):
    """A label selector with matchLabels and matchExpressions."""
    if any(labels.get(name) != value for name, value in selector.get("matchLabels", {}).items()):
        return False
    for requirement in selector.get("matchExpressions", []):
        value, operator = labels.get(requirement["key"]), requirement["operator"]
        if operator == "In" and value not in requirement["values"]:
            return False
        if operator == "NotIn" and value in requirement["values"]:
            return False
        if operator == "Exists" and value is None:
            return False
        if operator == "DoesNotExist" and value is not None:
            return False
    return True


class Row:
    """One object of an abstract kind. `keys` has the key of each column; None is no value."""

    def __init__(self, cluster, member, item, keys):
        self.cluster = cluster
        self.member = member
        self.item = item
        self.metadata = item["metadata"]
        self.keys = keys
        self.namespace = self.metadata.get("namespace", "")
        self.name = self.metadata["name"]
        self.identity = (cluster, member, self.namespace, self.name)
        # What breaks ties: the cluster and the resource as one text, the namespace and the name.
        self.tie = (f"{cluster}/{member}", self.namespace, self.name)


def rows_of(kind, objects):
    """The rows of an abstract kind. `objects` has lists of JSON objects by (cluster, resource)."""
    rows = []
    for member in kind["members"]:
        resource = member["resource"]
        sources = member.get("columns", {})
        for (cluster, found), items in objects.items():
            if found != resource:
                continue
            for item in items:
                if not selects(member.get("labels", {}), item["metadata"].get("labels") or {}):
                    continue
                conditions = member.get("where", {}).items()
                if not all(holds(condition, values_at(item, steps_of(path)), item) for path, condition in conditions):
                    continue
                keys = {
                    name: column_key(column, sources[name], item) if name in sources else None
                    for name, column in kind["columns"].items()
                }
                rows.append(Row(cluster, resource, item, keys))
    return rows
