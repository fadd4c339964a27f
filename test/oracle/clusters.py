"""API servers: what the oracle writes through their REST door, and what it reads by `kubectl get -o json` as the administrator."""

import http.client
import json
import os
import ssl
import subprocess
import time
import urllib.parse


class Connection:
    """Requests with JSON on one connection that is kept."""

    def __init__(self, address, ca_file=None):
        parts = urllib.parse.urlsplit(address)
        self.path = parts.path
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=ca_file)
            self.http = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=60, context=context)
        else:
            self.http = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)

    def send(self, method, path, token, body=None, content_type="application/json"):
        headers = {"authorization": f"Bearer {token}", "content-type": content_type}
        text = None if body is None else json.dumps(body).encode()
        for attempt in (1, 2):
            try:
                self.http.request(method, self.path + path, text, headers)
                answer = self.http.getresponse()
                return answer.status, json.loads(answer.read())
            except (http.client.HTTPException, OSError):
                # The server closes connections that nobody used for a while.
                self.http.close()
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")


class Cluster:
    def __init__(self, described, kubectl):
        self.name = described["name"]
        self.token = described["token"]
        self.kubeconfig = described["kubeconfig"]
        self.kubectl = kubectl
        self.connection = Connection(described["server"], described["ca"])

    def write(self, method, path, body=None, content_type="application/json", accept=()):
        status, answer = self.connection.send(method, path, self.token, body, content_type)
        if status >= 400 and status not in accept:
            raise RuntimeError(f"{self.name}: {method} {path}: {status} {answer.get('message')}: {json.dumps(body)[:2000]}")
        return answer

    def create_when_ready(self, path, body):
        """Creates an object of a kind whose definition may have come a moment ago."""
        deadline = time.monotonic() + 30
        while True:
            status, answer = self.connection.send("POST", path, self.token, body)
            if status < 300:
                return answer
            if status not in (404, 500, 503) or time.monotonic() > deadline:
                raise RuntimeError(f"{self.name}: POST {path}: {status} {answer.get('message')}: {json.dumps(body)[:2000]}")
            time.sleep(0.2)

    def read(self, resources):
        """Lists of objects by resource, as `kubectl get -o json` prints them."""
        cache = os.path.join(os.path.dirname(self.kubeconfig), "oracle-kubectl")
        command = [self.kubectl, f"--kubeconfig={self.kubeconfig}", f"--cache-dir={cache}", "get", "-A", "-o", "json"]
        printed = subprocess.run([*command, ",".join(resources)], capture_output=True, check=True).stdout
        by_kind = {}
        for item in json.loads(printed)["items"]:
            by_kind.setdefault((item["apiVersion"].rpartition("/")[0], item["kind"]), []).append(item)
        return by_kind
