"""The gateway's HTTP door, as any client uses it."""

import time

from clusters import Connection

WAITS = {"TIMEOUT", "TOO_MANY_REQUESTS", "OVERLOADED", "CACHE_NOT_READY"}


class User:
    def __init__(self, name, token, groups=(), is_administrator=False):
        self.name = name
        self.token = token
        self.groups = groups
        self.is_administrator = is_administrator


class Gateway:
    def __init__(self, address):
        self.connection = Connection(address)
        self.requests = 0

    def ask(self, user, query, variables=None):
        """Data and errors. An error that says to try again is tried again."""
        for attempt in range(30):
            self.requests += 1
            _, answer = self.connection.send("POST", "", user.token, {"query": query, "variables": variables or {}})
            errors = answer.get("errors") or []
            codes = {error.get("extensions", {}).get("code") for error in errors}
            if not codes & WAITS or attempt == 29:
                return answer.get("data"), errors
            time.sleep(0.3)
        raise AssertionError("unreachable")

    def data(self, user, query, variables=None):
        data, errors = self.ask(user, query, variables)
        if errors:
            raise RuntimeError(f"{query}: {errors}")
        return data

    def versions(self, user, kinds):
        """The resourceVersion of every object of these kinds by (cluster, kind, namespace, name)."""
        query = """query ($kinds: [String!]!, $after: String) { objects(kinds: $kinds, first: 500, after: $after) {
            pageInfo { hasNextPage endCursor } nodes { cluster kind metadata { namespace name resourceVersion } } } }"""
        found, after = {}, None
        while True:
            page = self.data(user, query, {"kinds": kinds, "after": after})["objects"]
            for node in page["nodes"]:
                metadata = node["metadata"]
                name = (node["cluster"], node["kind"], metadata["namespace"] or "", metadata["name"])
                found[name] = metadata["resourceVersion"]
            if not page["pageInfo"]["hasNextPage"]:
                return found
            after = page["pageInfo"]["endCursor"]
