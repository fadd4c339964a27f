"""An oracle of abstract kinds: it reads what `kubectl get -o json` prints, evaluates the kinds by its own code, and compares the answers
of a gateway with its own. It is written from docs/ alone and has nothing in common with Portolan's code.

    python3 main.py prepare WORLD    makes kinds, objects and the first file of abstract kinds
    python3 main.py compare WORLD    compares; exits with 1 after a mismatch

WORLD is a JSON file: seed, lists, clusters (name, server, ca, token, kubeconfig), kubectl, gateway, users, abstractKinds.
"""

import json
import random
import sys
import time

from abstract_kinds import rows_of
from churn import World
from clusters import Cluster
from compare import KeptCursor, List, Mismatch
from gateway import Gateway, User
from questions import leaves_of
from random_kinds import RandomKinds
from random_questions import RandomQuestions, shown
from rights import Rights, random_rights
from shapes import KINDS

NAMESPACES = ["oracle-a", "oracle-b", "oracle-c"]
OBJECTS = 9
LISTS_OF_FILE = 300
ROUNDS_OF_FILE = 4
CHANGES_OF_ROUND = 25
MOST_MISMATCHES = 12


class Oracle:
    def __init__(self, described):
        self.described = described
        self.dice = random.Random(described["seed"])
        self.clusters = [Cluster(each, described["kubectl"]) for each in described["clusters"]]
        self.world = World(self.dice, self.clusters, KINDS, NAMESPACES)
        self.rights = Rights()
        self.counts = {"lists": 0, "rows": 0, "partial": 0, "refused": 0, "cursors": 0, "late": 0, "files": 0, "rounds": 0}
        self.mismatches = []

    def prepare(self):
        self.world.prepare(OBJECTS)
        self.declare(0)

    def declare(self, mark):
        """Writes a file of five random abstract kinds. It depends on the seed and the mark alone."""
        dice = random.Random(f"{self.described['seed']} {mark}")
        document = RandomKinds(dice, KINDS).file(mark)
        with open(self.described["abstractKinds"], "w", encoding="utf-8") as file:
            # JSON is YAML.
            json.dump(document, file, ensure_ascii=False, indent=1)
        self.kinds = document["abstractKinds"]

    def compare(self):
        self.gateway = Gateway(self.described["gateway"])
        self.users = [User(each["user"], each["token"], each["groups"], each["administrator"]) for each in self.described["users"]]
        self.admin = next(user for user in self.users if user.is_administrator)
        for cluster in self.clusters:
            self.rights.clear(cluster, NAMESPACES)
        left, file = self.described["lists"], 0
        while left > 0 and len(self.mismatches) < MOST_MISMATCHES:
            # A short run changes the file once, too.
            lists = min(left, LISTS_OF_FILE, -(-self.described["lists"] // 2))
            self.compare_file(file, lists)
            left -= lists
            file += 1
        self.counts["requests"] = self.gateway.requests
        self.counts["files"] = file
        print(json.dumps({"seed": self.described["seed"], **self.counts, "mismatches": len(self.mismatches)}), flush=True)
        return 1 if self.mismatches else 0

    def compare_file(self, file, lists):
        self.declare(file)
        kept = []
        for round_number in range(ROUNDS_OF_FILE):
            self.churn()
            self.wait_for_file(file)
            for asked in kept:
                self.check_kept(asked)
            kept = []
            for index in range(lists * round_number // ROUNDS_OF_FILE, lists * (round_number + 1) // ROUNDS_OF_FILE):
                self.compare_one(kept, index)
                if len(self.mismatches) >= MOST_MISMATCHES:
                    return
            self.counts["rounds"] += 1

    def churn(self):
        """Changes objects and rights, waits for the gateway, and evaluates the kinds anew."""
        items = self.world.read_all()
        self.world.change(items, CHANGES_OF_ROUND)
        for cluster in self.clusters:
            kinds = self.world.served(cluster)
            self.rights.write(cluster, random_rights(self.dice, self.users, kinds, NAMESPACES))
        items = self.world.read_all()
        self.world.wait(self.gateway, self.admin, items, self.rights)
        self.rows = {kind["name"]: rows_of(kind, items) for kind in self.kinds}
        resources = {kind.resource: kind for kind in KINDS}
        self.sights = {
            (user.name, cluster.name, resource): self.rights.sight(user, cluster.name, kind)
            for user in self.users
            for cluster in self.clusters
            for resource, kind in resources.items()
            if kind.served_in(cluster.name)
        }

    def wait_for_file(self, mark):
        """The gateway takes a changed file after it has seen it twice, and makes the objects anew."""
        deadline = time.monotonic() + 90
        for kind in self.kinds:
            expected = len(self.rows[kind["name"]])
            while True:
                data, errors = self.gateway.ask(self.admin, self.file_query(kind, mark))
                if not errors:
                    fields = {field["name"] for field in data["type"]["fields"]}
                    counts = {data["now"]["totalCount"], data["all"]["totalCount"]}
                    if counts == {expected} and set(kind["columns"]) <= fields:
                        break
                if time.monotonic() > deadline:
                    self.mismatch(kind, self.admin, {"wait": mark}, Mismatch("the changed file", expected, shown([data, errors])))
                    return
                time.sleep(0.25)

    def file_query(self, kind, mark):
        name = kind["name"]
        return (
            f"{{ now: {name}(filter: {{ mark: {{ eq: {mark} }} }}) {{ totalCount }} all: {name} {{ totalCount }}"
            f' type: __type(name: "{kind["type"]}") {{ fields {{ name }} }} }}'
        )

    def visible(self, user, kind, condition):
        """The rows that a caller may see, and whether the caller is refused: may list nothing in the namespaces of the filter."""
        condition = condition or {}
        rows = self.rows[kind["name"]]
        seen = [row for row in rows if self.sights[user.name, row.cluster, row.member].shows(row)]
        sights = [
            sight
            for member in kind["members"]
            for cluster in self.clusters
            if (sight := self.sights.get((user.name, cluster.name, member["resource"]))) is not None
        ]
        if any(sight.something(condition.get("namespaces")) for sight in sights):
            return seen, False
        # A RoleBinding of a kind without namespaces gives an empty list or none: the rows are the same.
        return seen, None if any(sight.void for sight in sights) else True

    def compare_one(self, kept, index):
        dice = self.dice
        kind = dice.choice(self.kinds)
        user = self.admin if dice.random() < 0.3 else dice.choice(self.users)
        seen, _ = self.visible(user, kind, None)
        leaves = leaves_of(kind)
        random_questions = RandomQuestions(dice, leaves, seen, [cluster.name for cluster in self.clusters], NAMESPACES)
        condition = random_questions.filter()
        rows, refused = self.visible(user, kind, condition)
        question = {
            "filter": condition,
            "orderBy": random_questions.order(),
            "size": max(dice.randint(1, 30), len(rows) // 8),
            "offset": dice.randint(0, 40),
            "by": random_questions.grouping(),
            "facet": random_questions.facet(),
            "contains": dice.choice([None, None, "e", "1"]),
            "measured": random_questions.measured(),
        }
        asked = List(self.gateway, user, kind, question)
        self.counts["lists"] += 1
        self.counts["refused"] += refused is True
        self.counts["partial"] += 0 < len(rows) < len(self.rows[kind["name"]])
        matching = self.checked(asked, lambda: asked.compare(rows, refused))
        self.counts["rows"] += len(matching or [])
        if matching and len(matching) < 450 and dice.random() < 0.3:
            end = dice.randint(1, len(matching))
            walk = self.checked(asked, lambda: KeptCursor(asked, matching, end))
            if walk is not None:
                kept.append(walk)

    def check_kept(self, walk):
        self.counts["cursors"] += 1
        rows, refused = self.visible(walk.asked.user, walk.asked.kind, walk.asked.question["filter"])
        self.checked(walk.asked, lambda: walk.compare(rows, refused))

    def checked(self, asked, compare):
        """Compares once more after a while: an answer that is late is counted apart from one that is wrong."""
        try:
            return compare()
        except Mismatch as mismatch:
            first = mismatch
        time.sleep(2)
        try:
            result = compare()
            self.counts["late"] += 1
            late = {"caller": asked.user.name, "kind": asked.kind["name"], "what": first.what, "question": asked.question}
            print(f"late: {json.dumps(late, ensure_ascii=False)}\n  expected {shown(first.expected)}\n  got {shown(first.got)}", file=sys.stderr)
            return result
        except Mismatch as mismatch:
            self.mismatch(asked.kind, asked.user, asked.question, mismatch)
            return None

    def mismatch(self, kind, user, question, found):
        self.mismatches.append(found)
        report = {
            "seed": self.described["seed"], "list": self.counts["lists"], "caller": user.name, "kind": kind["name"],
            "what": found.what, "question": question,
        }
        print(f"MISMATCH {json.dumps(report, ensure_ascii=False)}", file=sys.stderr)
        print(f"  kind {shown(kind)}\n  expected {shown(found.expected)}\n  got {shown(found.got)}", file=sys.stderr, flush=True)


def main():
    command, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        oracle = Oracle(json.load(file))
    return oracle.prepare() if command == "prepare" else oracle.compare()


if __name__ == "__main__":
    sys.exit(main())
