/** The kube room against a real kube-apiserver. Runs when KUBEBUILDER_ASSETS names one. */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { type Connection, connect } from '../../src/kube/client/connection.ts';
import { explainConnectionFailure } from '../../src/kube/client/explain.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { discover } from '../../src/kube/discovery/discovery.ts';
import { clusterUid } from '../../src/kube/discovery/identity.ts';
import { fetchOpenApi } from '../../src/kube/discovery/openapi.ts';
import { apiErrorFromStatus } from '../../src/kube/http/api-error.ts';
import { resourcePath } from '../../src/kube/http/resource-path.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { expectedOf, type VersionDifference } from '../kit/version-difference.ts';

const versionsOfAutoscalers: VersionDifference<readonly string[]> = {
  since: 26,
  why: 'Kubernetes 1.23 prefers autoscaling/v2, and 1.26 no longer serves its beta versions.',
  before: ['v1 preferred', 'v2beta1', 'v2beta2'],
  after: ['v1', 'v2 preferred'],
};
const openApiForm: VersionDifference<{ form: 'v2' | 'v3'; documents: readonly string[] }> = {
  since: 24,
  why: 'OpenAPI v3, one document for each group version, is served by default since Kubernetes 1.24.',
  before: { form: 'v2', documents: ['*'] },
  after: { form: 'v3', documents: ['v1', 'apps/v1'] },
};

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true };

interface WatchEvent {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string } };
}

describeOn([mainServer, oldServer], 'the kube room on a real API server', { timeout: 60_000 }, (server) => {
  let plane: ControlPlane;
  let connection: Connection;
  let api: RestClient;
  const others: Connection[] = [];

  beforeAll(async () => {
    plane = await startControlPlane({ server, controllerManager: true });
    connection = await connect({ kubeconfig: plane.kubeconfigPath, env: {} });
    api = new RestClient(connection);
  }, 120_000);
  afterAll(async () => {
    for (const each of [connection, ...others]) await each?.close();
    await plane?.stop();
  }, 60_000);

  /** A client with the administrator's kubeconfig, in which the cluster entry is changed. */
  async function other(kubeconfig: string): Promise<RestClient> {
    const opened = await connect({ kubeconfig, env: {} });
    others.push(opened);
    return new RestClient(opened);
  }
  function changed(name: string, cluster: object): string {
    const path = join(plane.dir, `${name}.yaml`);
    writeFileSync(
      path,
      JSON.stringify({
        'current-context': 'test',
        clusters: [{ name: 'test', cluster: { server: plane.server, ...cluster } }],
        users: [{ name: 'test', user: {} }],
        contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      }),
    );
    return path;
  }
  async function explained(client: RestClient, path = '/api/v1/pods'): Promise<string> {
    const error = await client.get(path).then(
      () => new Error('it worked'),
      (thrown: unknown) => thrown,
    );
    const explanation = explainConnectionFailure(error, client.connection);
    return `${explanation.code}: ${explanation.message}`;
  }

  test('is one cluster with an identity', async () => {
    const uid = await clusterUid(api);
    expect(uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(await plane.kubectl(['get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}'])).toBe(uid);
  });

  test('tells what it serves, as kubectl sees it, and what it serves no more', async () => {
    const found = await discover(api);
    expect(found.failures).toEqual([]);
    const preferred = found.resources
      .filter((each) => each.preferred)
      .map((each) => (each.group === '' ? each.plural : `${each.plural}.${each.group}`));
    const listed = (await plane.kubectl(['api-resources', '-o', 'name'])).trim().split('\n');
    expect(preferred.sort()).toEqual(listed.sort());
    const pods = must(
      found.resources.find((each) => each.plural === 'pods'),
      'pods are served',
    );
    expect(pods).toMatchObject({ group: '', version: 'v1', singular: 'pod', kind: 'Pod', namespaced: true });
    expect(pods.subresources).toEqual(expect.arrayContaining(['status', 'log', 'exec']));
    const autoscalers = found.resources.filter((each) => each.plural === 'horizontalpodautoscalers');
    expect(autoscalers.map(({ version, preferred }) => (preferred ? `${version} preferred` : version)).sort()).toEqual(
      expectedOf(plane.version, versionsOfAutoscalers),
    );
  });

  test('describes its kinds in OpenAPI, and fetches a known document once', async () => {
    const groupVersions = ['v1', 'apps/v1'];
    const first = await fetchOpenApi(api, groupVersions);
    const { form, documents } = expectedOf(plane.version, openApiForm);
    expect(first).toMatchObject({ form, failures: [] });
    expect([...first.documents.keys()]).toEqual(documents);
    const schemas = Object.assign({}, ...[...first.documents.values()].map((document) => document.schemas));
    expect(schemas['io.k8s.api.core.v1.Pod']).toMatchObject({ type: 'object' });
    expect(schemas['io.k8s.api.apps.v1.Deployment']).toMatchObject({ type: 'object' });
    const known = new Map([...first.documents.values()].map((document) => [document.hash, document.schemas]));
    const again = await fetchOpenApi(api, groupVersions, { known });
    for (const [name, document] of again.documents)
      expect(document.schemas, name).toBe(first.documents.get(name)?.schemas);
  });

  test('answers 304 to the tag of the OpenAPI v2 document', async () => {
    const { headers } = await api.send('GET', '/openapi/v2', undefined, {});
    const conditional = { headers: { 'if-none-match': String(headers['etag']) } };
    expect((await api.send('GET', '/openapi/v2', undefined, conditional)).status).toBe(304);
  });

  test('takes writes of each kind, and says why it refuses one', async () => {
    const at = (name?: string): string => resourcePath(configMaps, 'default', name);
    const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: '1' } };
    await api.post(at(), made);
    await expect(api.post(at(), made)).rejects.toMatchObject({ code: 'ALREADY_EXISTS', httpStatus: 409 });
    const merged = await api.patch<{ metadata: { resourceVersion: string } }>(at('a'), 'merge', { data: { k: '2' } });
    const stale = { ...made, metadata: { name: 'a', resourceVersion: '1' } };
    await expect(api.put(at('a'), stale)).rejects.toMatchObject({ code: 'CONFLICT', reason: 'Conflict' });
    expect(Number(merged.metadata.resourceVersion)).toBeGreaterThan(1);
    const applied = { ...made, data: { k: '3' } };
    const conflict = api.patch(at('a'), 'apply', applied, { query: { fieldManager: 'portolan' } });
    await expect(conflict).rejects.toMatchObject({
      code: 'CONFLICT',
      causes: [{ reason: 'FieldManagerConflict', field: '.data.k' }],
    });
    const query = { fieldManager: 'portolan', force: true };
    expect(await api.patch(at('a'), 'apply', applied, { query })).toMatchObject({ data: { k: '3' } });
    await expect(api.post(at(), { ...made, metadata: { name: 'Not Valid' } })).rejects.toMatchObject({
      code: 'INVALID',
    });
    await api.delete(at('a'), { propagationPolicy: 'Background' });
    await expect(api.get(at('a'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(api.get('/apis/none.example/v1')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('keeps the case of names in paths', async () => {
    const path = resourcePath(
      { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', namespaced: false },
      undefined,
      'system:MyAdmin',
    );
    await plane.kubectl(
      ['create', '-f', '-'],
      JSON.stringify({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'system:MyAdmin' },
        rules: [],
      }),
    );
    expect(await api.get(path)).toMatchObject({ metadata: { name: 'system:MyAdmin' } });
  });

  test('streams a list in pages, and then a watch, which ends with its server', async () => {
    for (const name of ['one', 'two', 'three']) await plane.kubectl(['create', 'configmap', name, '-n', 'kube-public']);
    const path = resourcePath(configMaps, 'kube-public');
    const page = await api.stream(path, { limit: 2 });
    const { metadata, items } = JSON.parse(await readText(page.body)) as {
      metadata: { continue: string; resourceVersion: string };
      items: unknown[];
    };
    expect(items).toHaveLength(2);
    expect(metadata.continue).not.toBe('');

    const { resourceVersion } = metadata;
    const watch = await api.stream(path, { watch: true, resourceVersion, allowWatchBookmarks: true });
    const lines = linesOf(watch.body);
    await plane.kubectl(['create', 'configmap', 'four', '-n', 'kube-public', '--from-literal=k=4']);
    // The controllers of a new cluster add their own objects to the namespace at any moment.
    let event = await nextEvent(lines);
    while (event.object.metadata.name !== 'four') event = await nextEvent(lines);
    expect(event).toMatchObject({ type: 'ADDED', object: { data: { k: '4' } } });
    const next = expect(lines.next()).rejects.toMatchObject({
      code: expect.stringMatching(/UND_ERR_SOCKET|ECONNRESET/),
    });
    await plane.killApiServer('SIGKILL');
    await next;
    expect(await explained(api)).toMatch(/^UPSTREAM_UNAVAILABLE: .*(ECONNREFUSED|UND_ERR_SOCKET|ECONNRESET)/);
    await plane.startApiServer();
    expect(await readText((await api.stream(path)).body)).toContain('"name":"four"');
  });

  test('refuses a watch from before what it remembers with 410, inside the stream', async () => {
    // Its watch cache begins at its restart, long after this revision.
    const watch = await api.stream(resourcePath(configMaps), { watch: true, resourceVersion: '1' });
    const event = JSON.parse(await readText(watch.body)) as { type: string; object: unknown };
    expect(event.type).toBe('ERROR');
    expect(apiErrorFromStatus(event.object, 'The watch')).toMatchObject({
      code: 'GONE',
      httpStatus: 410,
      reason: 'Expired',
    });
  });

  test('has controllers, which make Pods of a Deployment', async () => {
    await plane.kubectl(['create', 'deployment', 'web', '--image=none', '--replicas=2']);
    const path = resourcePath({ group: '', version: 'v1', plural: 'pods', namespaced: true }, 'default');
    const { body } = await api.stream(path, { watch: true, labelSelector: 'app=web' });
    const names = new Set<string>();
    for await (const line of linesOf(body)) {
      names.add((JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name);
      if (names.size === 2) break;
    }
    expect([...names].every((name) => name.startsWith('web-'))).toBe(true);
  });

  test('does not let in whom it does not know, and says what another lacks', async () => {
    expect(await explained(await other(plane.kubeconfigFor('unknown')))).toMatch(
      /^UNAUTHENTICATED: .*\(401\).*log in again/,
    );
    expect(await explained(await other(plane.kubeconfigFor('nobody')))).toMatch(
      /^FORBIDDEN: .*User "nobody" cannot list resource "pods".*ClusterRoleBinding/,
    );
    expect(await clusterUid(await other(plane.kubeconfigFor('nobody')))).toBeNull();
  });

  test('has a certificate that is checked', async () => {
    const ca = Buffer.from(plane.caPem()).toString('base64');
    expect(await explained(await other(changed('no-ca', {})))).toContain('certificate-authority-data');
    const named = { 'certificate-authority-data': ca, 'tls-server-name': 'elsewhere.example' };
    expect(await explained(await other(changed('other-name', named)))).toContain('tls-server-name');
    const anonymous = await other(changed('ca', { 'certificate-authority-data': ca }));
    expect(await explained(anonymous)).toMatch(/^FORBIDDEN: .*system:anonymous/);
    const plain = await other(changed('plain', { server: plane.server.replace('https:', 'http:') }));
    expect(await explained(plain)).toContain('HTTP request to an HTTPS server');
  });

  test('is gone with the process that started it, however that ends', async () => {
    const support = pathToFileURL(join(import.meta.dirname, '..', 'kit', 'control-plane.ts')).href;
    const source = `import { startControlPlane } from ${JSON.stringify(support)};
      const plane = await startControlPlane();
      console.log(JSON.stringify({ dir: plane.dir, server: plane.server }));
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, [mainServer.variable]: server.assets.dir },
    });
    const told = JSON.parse(await readText(child.stdout)) as { dir: string; server: string };
    const state = async (): Promise<string> => {
      const answer = await fetch(`${told.server}/readyz`).catch((error: Error) => error);
      const server = answer instanceof Error ? String((answer.cause as { code?: string }).code) : 'answers';
      return `${server}, folder ${existsSync(told.dir) ? 'there' : 'gone'}`;
    };
    await expect.poll(state, { timeout: 20_000 }).toBe('ECONNREFUSED, folder gone');
  });
});

async function nextEvent(lines: AsyncGenerator<string, void>): Promise<WatchEvent> {
  return JSON.parse((await lines.next()).value as string) as WatchEvent;
}

/** The lines of a stream; leaving the loop ends the stream. */
async function* linesOf(body: Readable): AsyncGenerator<string, void> {
  let rest = Buffer.alloc(0);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
      yield rest.subarray(0, end).toString('utf8');
      rest = rest.subarray(end + 1);
    }
  }
}
