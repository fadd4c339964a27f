/**
 * Tokens of one user with different extra, where a webhook decides by the extra before RBAC. Each caller sees what kubectl shows with the
 * same credentials, over tokens, a front proxy and impersonation. What one of them has asked is never shown to another.
 */
import { createClient } from 'graphql-ws';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { must } from '../../src/base/must.ts';
import { can } from '../../src/cli/rights/can.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { Dice } from '../fuzz/dice.ts';
import { type Certificate, type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { type ScopedToken, scopeExtra, startScopeWebhook } from '../kit/scope-webhook.ts';

const requests = Number(process.env['PORTOLAN_RESTRICTED_REQUESTS'] ?? randomRuns(500, 2000));

const namespaces = ['a', 'b', 'c'];
const names = ['one', 'two'];
const kinds = [
  { list: 'configMaps', one: 'configMap', group: '', plural: 'configmaps' },
  { list: 'serviceAccounts', one: 'serviceAccount', group: '', plural: 'serviceaccounts' },
  { list: 'deployments', one: 'deployment', group: 'apps', plural: 'deployments' },
] as const;
type Kind = (typeof kinds)[number];

const tokenOf = (name: string, scopes: readonly string[] | null, uid = '42'): ScopedToken => {
  const [user = ''] = name.split(' ');
  return { token: `token-${name.replaceAll(/[ :]/g, '-')}`, user, groups: ['devs'], uid, scopes };
};

/** alice sees a and b by RBAC, olga everything. */
const callers: readonly ScopedToken[] = ['alice', 'olga'].flatMap((user) => [
  tokenOf(user, null),
  tokenOf(`${user} all`, ['all']),
  tokenOf(`${user} ns:a`, ['ns:a']),
  tokenOf(`${user} ns:b`, ['ns:b', 'ns:nowhere']),
  tokenOf(`${user} kind:configmaps`, ['kind:configmaps']),
  tokenOf(`${user} allow:c`, ['allow:c']),
  tokenOf(`${user} none`, ['ns:nowhere']),
  tokenOf(`${user} suspended`, ['all'], 'suspended'),
]);

interface Listed {
  readonly items: readonly { readonly metadata: { readonly namespace: string; readonly name: string } }[];
}
interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}
type Named = { readonly metadata: { readonly namespace: string; readonly name: string } };

const bind = (user: string, role: string, namespace?: string): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
  metadata: { name: `${user}-${role}`, ...(namespace === undefined ? {} : { namespace }) },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
});

const world: readonly object[] = [
  ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  ...namespaces.flatMap((namespace) =>
    names.flatMap((name) => [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } },
      { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, stringData: { text: `text of ${namespace}` } },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { namespace, name },
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: name } },
          template: { metadata: { labels: { app: name } }, spec: { containers: [{ name, image: name }] } },
        },
      },
    ]),
  ),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'reader' },
    rules: [
      {
        apiGroups: ['', 'apps'],
        resources: ['configmaps', 'serviceaccounts', 'secrets', 'deployments'],
        verbs: ['get', 'list', 'watch'],
      },
    ],
  },
  bind('alice', 'reader', 'a'),
  bind('alice', 'reader', 'b'),
  bind('olga', 'cluster-admin'),
];

describeOn([mainServer], 'restricted tokens of a real cluster', { timeout: 600_000 }, () => {
  let plane: ControlPlane;
  let webhook: LoopbackServer;
  let proxies: CertificateAuthority;
  let front: Certificate;
  let byToken: RunningGateway;
  let byProxy: RunningGateway;
  let agent: Agent;
  let proxyAgent: Agent;

  beforeAll(async () => {
    proxies = await createCertificateAuthority('proxies');
    front = await proxies.issue({ names: [], commonName: 'front' });
    webhook = await startScopeWebhook(callers);
    const { file, write } = kubeconfigFolder();
    const proxyCa = file('proxies.crt', proxies.ca);
    plane = await startControlPlane({ apiServer: { webhook: write({ server: webhook.url }), proxyCaFile: proxyCa } });
    await plane.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: world }));
    const cluster = { name: 'east', kubeconfig: plane.kubeconfigPath };
    byToken = await runGateway(cluster, { auth: ['token'], secretData: 'live' });
    const own = await proxies.issue({ names: ['IP:127.0.0.1'], commonName: 'gateway' });
    byProxy = await runGateway(cluster, {
      ...{ auth: ['proxy'], proxyClientCa: proxyCa, secretData: 'live', impersonate: 'classic' },
      ...{ tlsCert: file('gateway.crt', own.cert), tlsKey: file('gateway.key', own.key) },
    });
    agent = new Agent({ connect: { ca: plane.caPem() } });
    const { cert, key } = front;
    proxyAgent = new Agent({ connect: { ca: `${plane.caPem()}\n${proxies.ca}`, cert, key } });
  }, 240_000);
  afterAll(async () => {
    await byToken?.close();
    await byProxy?.close();
    await agent?.close();
    await proxyAgent?.close();
    await plane?.stop();
    await webhook?.close();
    proxies?.remove();
  }, 60_000);

  /** The ways in which a caller reaches the API server and Portolan alike. */
  const ways = {
    token: {
      headers: ({ token }: ScopedToken) => [['authorization', `Bearer ${token}`]],
      agent: () => agent,
      gateway: () => byToken,
    },
    proxy: {
      headers: ({ user, groups, uid, scopes }: ScopedToken) => [
        ['x-remote-user', user],
        ['x-remote-uid', uid],
        ...groups.map((group) => ['x-remote-group', group]),
        ...(scopes ?? []).map((scope) => [`x-remote-extra-${encodeURIComponent(scopeExtra)}`, scope]),
      ],
      agent: () => proxyAgent,
      gateway: () => byProxy,
    },
  } as const;
  type Way = keyof typeof ways;

  const send = (way: Way, caller: ScopedToken, url: string, query?: string) =>
    fetch(url, {
      dispatcher: query === undefined || way === 'proxy' ? ways[way].agent() : agent,
      headers: [...ways[way].headers(caller), ['content-type', 'application/json']] as [string, string][],
      ...(query === undefined ? {} : { method: 'POST', body: JSON.stringify({ query }) }),
    });
  const ask = async (way: Way, caller: ScopedToken, query: string): Promise<Answer> =>
    (await (await send(way, caller, ways[way].gateway().url, query)).json()) as Answer;

  const pathOf = ({ group, plural }: Kind, namespace: string, name = ''): string =>
    `${group === '' ? '/api/v1' : `/apis/${group}/v1`}${namespace === '' ? '' : `/namespaces/${namespace}`}/${plural}${name === '' ? '' : `/${name}`}`;

  const oracle = new Map<string, readonly string[] | null>();
  /** What the API server lists as `namespace/name`, or null where it refuses. Nothing changes, so it is asked once. */
  async function served(way: Way, caller: ScopedToken, path: string): Promise<readonly string[] | null> {
    const key = [way, caller.token, path].join(' ');
    const known = oracle.get(key);
    if (known !== undefined) return known;
    const answer = await send(way, caller, `${plane.server}${path}`);
    if (answer.status >= 400 && answer.status !== 403) throw new Error(`${path}: ${answer.status}`);
    const body = (await answer.json()) as Partial<Listed> & Partial<Named>;
    const rows = (body.items ?? [body as Named]).filter(({ metadata }) => namespaces.includes(metadata?.namespace));
    const found = answer.status === 403 ? null : rows.map(textOf).toSorted();
    oracle.set(key, found);
    return found;
  }

  const textOf = ({ metadata: { namespace, name } }: Named): string => `${namespace}/${name}`;
  const rowsOf = (answer: Answer): readonly string[] | null => {
    const list = answer.data?.['w'] as { readonly nodes: readonly Named[] } | Named | null | undefined;
    if (list === null || list === undefined) return null;
    const rows = 'nodes' in list ? list.nodes : [list];
    return rows
      .map(textOf)
      .filter((text) => namespaces.includes(text.split('/')[0] ?? ''))
      .toSorted();
  };

  /** Answers by user and outcome. */
  const counts = new Map<string, number>();

  /** A random request, and how Portolan's answer differs from the API server's; null if it does not. */
  async function difference(way: Way, caller: ScopedToken, dice: Dice): Promise<string | null> {
    const kind = dice.pick(kinds);
    const namespace = dice.pick(namespaces);
    const name = dice.pick(names);
    const form = dice.pick(['list', 'ordered', 'one', 'whole'] as const);
    const inNamespace = `filter: { namespaces: ["${namespace}"] }`;
    const fields = 'nodes { metadata { namespace name } }';
    const query = {
      list: `{ w: ${kind.list}(${inNamespace}) { ${fields} } }`,
      ordered: `{ w: ${kind.list}(${inNamespace}, orderBy: [{ path: "metadata.name", direction: DESC }]) { ${fields} totalCount } }`,
      one: `{ w: ${kind.one}(namespace: "${namespace}", name: "${name}") { metadata { namespace name } } }`,
      whole: `{ w: ${kind.list}(first: 500) { ${fields} } }`,
    }[form];
    const answer = await ask(way, caller, query);
    const found = rowsOf(answer);
    const outcome = `${caller.user} ${found === null ? 'refused' : 'shown'}`;
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    const differs = (expected: unknown): string =>
      `${way} ${caller.token} ${query}: ${JSON.stringify(answer)}, expected ${JSON.stringify(expected)}`;
    if (found === null && answer.errors?.[0]?.extensions.code !== 'FORBIDDEN') return differs('FORBIDDEN');
    if (form !== 'whole') {
      const expected = await served(way, caller, pathOf(kind, namespace, form === 'one' ? name : ''));
      return JSON.stringify(found) === JSON.stringify(expected) ? null : differs(expected);
    }
    const whole = await served(way, caller, pathOf(kind, ''));
    if (whole !== null) return JSON.stringify(found) === JSON.stringify(whole) ? null : differs(whole);
    // kubectl would refuse it. Portolan shows the namespaces that roles name and the API server allows, and may show what was named.
    const plain = must(
      callers.find(({ user, scopes }) => user === caller.user && scopes === null),
      'the whole user',
    );
    const everywhere = (await served(way, plain, pathOf(kind, ''))) !== null;
    const parts = await Promise.all(
      namespaces.map(async (each) => ({
        own: (await served(way, caller, pathOf(kind, each))) ?? [],
        byRoles: everywhere ? [] : ((await served(way, plain, pathOf(kind, each))) ?? []),
      })),
    );
    const most = parts.flatMap(({ own }) => own);
    const least = parts.flatMap(({ own, byRoles }) => own.filter((row) => byRoles.includes(row)));
    const isRight = least.every((row) => found?.includes(row)) && (found ?? []).every((row) => most.includes(row));
    return isRight ? null : differs({ least, most });
  }

  test.each(['token', 'proxy'] as const)('random requests are answered as kubectl is, by %s', async (way) => {
    const dice = new Dice(3702);
    counts.clear();
    const mismatches: string[] = [];
    for (let count = 0; count < requests; count += 4) {
      // Two callers of one user at a time, with the same requests one after the other.
      const user = dice.pick(['alice', 'olga']);
      const [one, other] = dice.sample(
        callers.filter((caller) => caller.user === user),
        2,
      );
      const seed = dice.below(1_000_000);
      for (const caller of [one, other, one, other]) {
        const found = await difference(way, must(caller, 'a caller'), new Dice(seed));
        if (found !== null) mismatches.push(found);
      }
    }
    process.stdout.write(
      `${JSON.stringify({ restricted: way, requests, ...Object.fromEntries(counts), mismatches: mismatches.length })}\n`,
    );
    expect(mismatches).toEqual([]);
    // Each user is shown something and refused something, often.
    expect([...counts.values()].filter((count) => count > requests / 20)).toHaveLength(4);
  });

  test('kubectl itself shows the same', async () => {
    for (const caller of callers) {
      const kubeconfig = plane.writeKubeconfig('caller', { token: caller.token });
      for (const namespace of namespaces) {
        const args = [`--kubeconfig=${kubeconfig}`, 'get', 'configmaps', '-n', namespace, '-o', 'name'];
        const printed = await plane.kubectl(args).catch((error: Error) => {
          expect(error.message).toContain('forbidden');
          return null;
        });
        const answer = await ask(
          'token',
          caller,
          `{ w: configMaps(filter: { namespaces: ["${namespace}"] }) { nodes { metadata { namespace name } } } }`,
        );
        const lines = printed
          ?.split('\n')
          .filter(Boolean)
          .map((line) => line.replace('configmap', namespace))
          .toSorted();
        expect([caller.token, namespace, rowsOf(answer)]).toEqual([caller.token, namespace, lines ?? null]);
      }
    }
  });

  test('portolan can --check asks with the uid and the extra', async () => {
    const config = loadConfig({ flags: { kubeconfig: plane.kubeconfigPath }, environment: {} });
    const question = { ...{ as: 'alice', groups: [], verb: 'list', target: 'configmaps', name: '' }, check: true };
    const asked = async (scope: string, namespace: string, uid = ''): Promise<number> =>
      can(config, { ...question, namespace, uid, extra: [`${scopeExtra}=${scope}`] }, { write: () => {} });
    expect([await asked('ns:a', 'a'), await asked('ns:a', 'b'), await asked('all', 'a', 'suspended')]).toEqual([
      0, 2, 2,
    ]);
  });

  test.each(['token', 'proxy'] as const)('the data of a Secret is read with the extra, by %s', async (way) => {
    for (const caller of callers) {
      for (const namespace of namespaces) {
        const path = `/api/v1/namespaces/${namespace}/secrets/one`;
        const { status } = await send(way, caller, `${plane.server}${path}`);
        const answer = await ask(
          way,
          caller,
          `{ w: secret(namespace: "${namespace}", name: "one") { metadata { name } data } }`,
        );
        const found = (answer.data?.['w'] as { readonly data: unknown } | null)?.data ?? null;
        const expected = status === 200 ? { text: Buffer.from(`text of ${namespace}`).toString('base64') } : null;
        expect([way, caller.token, namespace, found]).toEqual([way, caller.token, namespace, expected]);
      }
    }
  });

  test('live lists and live pages show each caller its own, and history too', async () => {
    const of = (name: string): ScopedToken =>
      must(
        callers.find(({ token }) => token === `token-alice-${name}`),
        name,
      );
    const received = new Map<string, Set<string>>();
    for (const name of ['all', 'ns-a', 'ns-b', 'none']) {
      const client = createClient({
        url: byToken.url.replace('http', 'ws'),
        webSocketImpl: WebSocket,
        connectionParams: { authorization: `Bearer ${of(name).token}` },
      });
      onTestFinished(() => void client.dispose());
      const rows = new Set<string>();
      received.set(name, rows);
      const documents = [
        'subscription { w: configMapChanges { phase changes { object { metadata { namespace name } } } } }',
        'query @live { w: configMaps(first: 500) { nodes { metadata { namespace name } } } }',
      ];
      for (const query of documents) {
        client.subscribe(
          { query },
          {
            next: ({ data }) => collect(data, rows),
            error: () => {},
            complete: () => {},
          },
        );
      }
    }
    await eventually(() => expect([...must(received.get('all'), 'all')].filter(isOurs)).toHaveLength(4));
    for (const namespace of namespaces) {
      await plane.kubectl(['create', 'configmap', 'late', '--namespace', namespace]);
    }
    const ofNamespaces = (...some: readonly string[]) =>
      some.flatMap((each) => ['late', ...names].map((name) => `${each}/${name}`)).toSorted();
    const shown = (name: string) => [...must(received.get(name), name)].filter(isOurs).toSorted();
    await eventually(() => expect(shown('all')).toEqual(ofNamespaces('a', 'b')));
    await eventually(() => expect(shown('ns-a')).toEqual(ofNamespaces('a')));
    await eventually(() => expect(shown('ns-b')).toEqual(ofNamespaces('b')));
    expect(shown('none')).toEqual([]);
    const changes = '{ w: changes(since: "-10m", kinds: ["configmaps"], first: 100) { nodes { namespace name } } }';
    for (const [name, some] of [
      ['all', ['a', 'b']],
      ['ns-a', ['a']],
      ['none', []],
      ['ns-b', ['b']],
    ] as const) {
      const { data } = await ask('token', of(name), changes);
      const nodes = (data?.['w'] as { readonly nodes: readonly Named['metadata'][] } | null)?.nodes ?? [];
      const found = nodes
        .map(({ namespace, name: own }) => `${namespace}/${own}`)
        .filter((row) => row.endsWith('/late'));
      expect([name, found.toSorted()]).toEqual([name, some.map((each) => `${each}/late`)]);
    }
  });

  const isOurs = (row: string): boolean =>
    namespaces.includes(row.split('/')[0] ?? '') && !row.endsWith('kube-root-ca.crt');

  /** Adds every `namespace/name` in a message. */
  function collect(value: unknown, rows: Set<string>): void {
    if (typeof value !== 'object' || value === null) return;
    if ('namespace' in value && 'name' in value) rows.add(`${value.namespace}/${value.name}`);
    for (const each of Object.values(value)) collect(each, rows);
  }
});
