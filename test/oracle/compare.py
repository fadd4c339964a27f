"""Compares one list of the gateway with the rows of the oracle: pages both ways, counts, groups, facets, sums and values."""

import json
import re

from questions import Order, groups_of, leaves_of, matches, without_own
from values import amount, canonical_duration, canonical_quantity, decimal_text, key, mean_text


class Mismatch(Exception):
    def __init__(self, what, expected, got):
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.got = got


def same(what, expected, got):
    if expected == got:
        return
    if isinstance(expected, list) and isinstance(got, list):
        at = next((at for at, (one, other) in enumerate(zip(expected, got)) if one != other), min(len(expected), len(got)))
        what += f"; {len(expected)} and {len(got)}, the first that differ: {expected[at : at + 2]} and {got[at : at + 2]}"
    raise Mismatch(what, expected, got)


IDENTITY = "cluster member metadata { namespace name }"


class List:
    """One question of one caller about one kind."""

    def __init__(self, gateway, user, kind, question):
        self.gateway = gateway
        self.user = user
        self.kind = kind
        self.leaves = leaves_of(kind)
        self.question = question
        self.order = Order(self.leaves, question["orderBy"])
        self.columns = list(kind["columns"])

    def matching(self, rows):
        condition = self.question["filter"]
        return self.order.sorted(rows if condition is None else [row for row in rows if matches(self.leaves, condition, row)])

    def page(self, shown, **arguments):
        """The list with these arguments; None where the caller is refused."""
        of_type, name = self.kind["type"], self.kind["name"]
        query = (
            f"query ($filter: {of_type}Filter, $orderBy: [ObjectOrder!], $first: Int, $last: Int, $after: String, $before: String, $offset: Int)"
            f" {{ {name}(filter: $filter, orderBy: $orderBy, first: $first, last: $last, after: $after, before: $before, offset: $offset) {{"
            f" pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} {shown} }} }}"
        )
        question = {"filter": self.question["filter"], "orderBy": self.question["orderBy"] or None}
        data, errors = self.gateway.ask(self.user, query, {**question, **arguments})
        if errors and errors[0].get("extensions", {}).get("code") == "FORBIDDEN" and (data is None or data.get(name) is None):
            return None
        if errors:
            raise Mismatch("errors", [], errors)
        return data[name]

    def compare(self, all_rows, refused):
        """Everything that is asked of this list. Gives the number of rows that match."""
        first = self.page(f"totalCount limited: totalCount(limit: 7) {self.counted()} nodes {{ {self.every_field()} }}", first=self.question["size"])
        if refused or first is None:
            same(f"whether the caller is refused, of {len(all_rows)} rows", refused is not False, first is None)
            return []
        rows = self.matching(all_rows)
        same("totalCount", len(rows), first["totalCount"])
        same("totalCount(limit: 7)", min(7, len(rows)), first["limited"])
        self.compare_counted(first, rows, all_rows)
        self.compare_pages(first, rows)
        self.compare_backward(rows)
        offset = self.question["offset"]
        skipped = self.page(f"nodes {{ {IDENTITY} }}", first=self.question["size"], offset=offset)
        same(f"offset {offset}", identities(rows[offset : offset + self.question["size"]]), shown_identities(skipped["nodes"]))
        return rows

    def every_field(self):
        return f"cluster member metadata {{ namespace name labels annotations creationTimestamp uid }} {' '.join(self.columns)} object {{ cluster kind metadata {{ name uid }} }}"

    def compare_pages(self, page, rows):
        size, at = self.question["size"], 0
        while True:
            expected = rows[at : at + size]
            same(f"rows from {at}", identities(expected), shown_identities(page["nodes"]))
            for row, node in zip(expected, page["nodes"]):
                self.compare_node(row, node)
            info = page["pageInfo"]
            same(f"hasNextPage from {at}", at + size < len(rows), info["hasNextPage"])
            same(f"hasPreviousPage from {at}", at > 0, info["hasPreviousPage"])
            at += size
            if at >= len(rows):
                return
            page = self.page(f"nodes {{ {self.every_field()} }}", first=size, after=info["endCursor"])

    def compare_backward(self, rows):
        size, end, before = self.question["size"], len(rows), None
        while True:
            page = self.page(f"nodes {{ {IDENTITY} }}", last=size, before=before)
            start = max(0, end - size)
            same(f"rows before {end}", identities(rows[start:end]), shown_identities(page["nodes"]))
            same(f"hasPreviousPage before {end}", start > 0, page["pageInfo"]["hasPreviousPage"])
            same(f"hasNextPage before {end}", end < len(rows), page["pageInfo"]["hasNextPage"])
            end, before = start, page["pageInfo"]["startCursor"]
            if end <= 0:
                return

    def compare_node(self, row, node):
        metadata, shown = row.metadata, node["metadata"]
        where = f"{row.identity}"
        same(f"{where} labels", metadata.get("labels") or None, shown["labels"] or None)
        same(f"{where} annotations", metadata.get("annotations") or None, shown["annotations"] or None)
        same(f"{where} creationTimestamp", metadata["creationTimestamp"], shown["creationTimestamp"])
        same(f"{where} uid", None, shown["uid"])
        expected = {"cluster": row.cluster, "kind": row.item["kind"], "metadata": {"name": row.name, "uid": metadata["uid"]}}
        same(f"{where} object", expected, node["object"])
        member = next(each for each in self.kind["members"] if each["resource"] == row.member)
        for name, column in self.kind["columns"].items():
            value = node[name]
            source = json.dumps(member["columns"].get(name), ensure_ascii=False)
            same(f"{where} {name}: {column['type']} from {source} (shown: {value!r})", row.keys[name], key(column["type"], value))
            if column["type"] == "Int64" and value is not None:
                same(f"{where} {name}: number or text", int if abs(row.keys[name]) <= 2**53 - 1 else str, type(value))

    def counted(self):
        by, facet = self.question["by"], self.question["facet"]
        number, other = self.question["measured"]
        quoted = lambda path: '"' + path.replace('"', '\\"') + '"'
        sums = f'count sum(path: "{number}") {{ text }} avg(path: "{number}") {{ text }} min(path: "{other}") max(path: "{other}")'
        contains = "" if self.question["contains"] is None else f', contains: "{self.question["contains"]}"'
        return (
            f"aggregate {{ {sums} groups(by: [{', '.join(map(quoted, by))}], first: 500) {{ keys aggregate {{ {sums} }} }} }}"
            f" facets(paths: [{quoted(facet)}], first: 500{contains}) {{ values {{ value count }} more }}"
        )

    def compare_counted(self, answer, rows, all_rows):
        aggregate = answer["aggregate"]
        self.compare_measures("aggregate", aggregate, rows)
        by = self.question["by"]
        types = [self.leaves[path].type for path in by]
        groups = groups_of(self.leaves, by, rows)
        shown = [(self.shown_keys(types, group["keys"]), group) for group in aggregate["groups"]]
        last_nulls = lambda keys: tuple((each is None, "" if each is None else each) for each in keys)
        expected = sorted(groups, key=lambda keys: (-len(groups[keys]), last_nulls(keys)))
        same(f"groups by {by}", expected[:500], [keys for keys, _ in shown])
        for keys, group in shown:
            self.compare_measures(f"group {keys}", group["aggregate"], groups[keys])
        self.compare_facet(answer["facets"][0], all_rows)

    def compare_facet(self, facet, all_rows):
        path, condition, contains = self.question["facet"], self.question["filter"], self.question["contains"]
        leaf = self.leaves[path]
        rest = None if condition is None else without_own(condition, path)
        rows = [row for row in all_rows if rest is None or matches(self.leaves, rest, row)]
        groups = {keys[0]: len(group) for keys, group in groups_of(self.leaves, [path], rows).items()}
        counts = [each["count"] for each in facet["values"]]
        same(f"facet {path}: the most frequent first", sorted(counts, reverse=True), counts)
        got = {self.shown_keys([leaf.type], [each["value"]])[0]: each["count"] for each in facet["values"]}
        if contains is not None and leaf.type in ("String",):
            wanted = contains.lower()
            groups = {found: count for found, count in groups.items() if found is not None and wanted in ascii_lower(found)}
        if contains is None or leaf.type == "String":
            same(f"facet {path}", groups, got)
            same(f"facet {path}: more", False, facet["more"])

    def shown_keys(self, types, values):
        for of_type, value in zip(types, values):
            found = key(of_type, value)
            if value is not None and of_type == "Duration":
                same("the canonical form of a duration", canonical_duration(found), value)
            if value is not None and of_type == "Quantity" and canonical_quantity(found) is not None:
                same("the canonical form of a quantity", canonical_quantity(found), value)
        return tuple(key(of_type, value) for of_type, value in zip(types, values))

    def compare_measures(self, where, shown, rows):
        number, other = self.question["measured"]
        same(f"{where}: count", len(rows), shown["count"])
        leaf = self.leaves[number]
        amounts = [amount(leaf.type, found) for row in rows if (found := leaf.read(row)) is not None]
        total = decimal_text(sum(amounts)) if amounts else None
        same(f"{where}: sum of {number}", total, shown["sum"] and shown["sum"]["text"])
        mean = mean_text(sum(amounts), len(amounts)) if amounts else None
        same(f"{where}: avg of {number}", mean, shown["avg"] and shown["avg"]["text"])
        leaf = self.leaves[other]
        keys = [found for row in rows if (found := leaf.read(row)) is not None]
        same(f"{where}: min of {other}", min(keys, default=None), key(leaf.type, shown["min"]))
        same(f"{where}: max of {other}", max(keys, default=None), key(leaf.type, shown["max"]))


def ascii_lower(text):
    return re.sub("[A-Z]", lambda found: found[0].lower(), text)


def identities(rows):
    return [row.identity for row in rows]


def shown_identities(nodes):
    return [(node["cluster"], node["member"], node["metadata"]["namespace"] or "", node["metadata"]["name"]) for node in nodes]


class KeptCursor:
    """A walk that goes on after the objects have changed: docs/queries.md, "pages never repeat or lose an object"."""

    def __init__(self, asked, rows, page_end):
        self.asked = asked
        self.end = page_end
        self.places = {row.identity: asked.order.place(row) for row in rows}
        self.seen = identities(rows[:page_end])
        self.place = asked.order.place(rows[page_end - 1])
        page = asked.page(f"nodes {{ {IDENTITY} }}", first=page_end)
        same("rows before the cursor", self.seen, shown_identities(page["nodes"]))
        self.cursor = page["pageInfo"]["endCursor"]

    def compare(self, all_rows, refused):
        asked = self.asked
        page = asked.page(f"nodes {{ {IDENTITY} }}", first=500, after=self.cursor)
        if refused or page is None:
            same("whether the caller is refused", refused is not False, page is None)
            return
        rows = asked.matching(all_rows)
        found = shown_identities(page["nodes"])
        same("rows after a cursor from before the changes", identities(asked.order.after(rows, self.place)), found)
        # The laws: what kept its place is shown exactly once by the two parts of the walk.
        kept = {row.identity for row in rows if self.places.get(row.identity) == asked.order.place(row)}
        walked = [identity for identity in self.seen + found if identity in kept]
        same("rows that kept their place, once each", sorted(kept), sorted(walked))
        back = asked.page(f"nodes {{ {IDENTITY} }}", last=500, before=self.cursor)
        same("rows before a cursor from before the changes", identities(asked.order.before(rows, self.place)), shown_identities(back["nodes"]))
