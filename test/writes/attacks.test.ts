/**
 * Attacks on mutations, against the simulated cluster behind a proxy that records every request: what is refused sends no write, and what
 * is sent is what the caller may send.
 */
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { SimCluster } from '../../sim/sim-cluster.ts';
import { Dice } from '../fuzz/dice.ts';
import { attacked, codesOf, created, idOf, startAttackedCluster, writesOf } from '../kit/attacked-cluster.ts';
import { runGateway } from '../kit/gateway.ts';
import { type Answer, ask } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { configMap, deployment, mutationText, send, type Written } from '../kit/writes-suite.ts';
import { clusterName, WritingGateway } from '../kit/writing-gateway.ts';

describe('without authentication', () => {
  const folder = kubeconfigFolder();
  let sim: SimCluster;
  let proxy: LoopbackServer;
  let gateway: WritingGateway;

  beforeAll(async () => {
    ({ sim, proxy } = await startAttackedCluster());
    gateway = await WritingGateway.start(folder.write({ server: proxy.url }));
  });
  afterAll(async () => {
    await gateway?.close();
    await proxy?.close();
    await sim?.close();
    folder.remove();
  });

  const at = (name: string) => sim.get(`/api/v1/namespaces/${attacked}/configmaps/${name}`);

  /** Does the attack, and expects that no request that writes was sent. */
  async function harmless<T>(attack: () => Promise<T>): Promise<T> {
    const before = writesOf(proxy).length;
    const result = await attack();
    expect(writesOf(proxy).slice(before)).toEqual([]);
    return result;
  }

  const body = (name: string) =>
    JSON.stringify({
      query: mutationText('create', { docs: '[ManifestInput!]!' }),
      variables: created(name),
    });

  test('the same request without tricks writes', async () => {
    const headers = { ...gateway.headers, 'content-type': 'application/json' };
    const answer = await fetch(gateway.url, { method: 'POST', headers, body: body('usual') });
    expect(await answer.json()).toMatchObject({ data: { create: { items: [{ result: 'CREATED' }] } } });
    expect(at('usual')).toBeDefined();
  });

  test.each(['application/json', 'text/event-stream', 'application/graphql-response+json'])(
    'a mutation by GET is refused (%s)',
    async (accept) => {
      const url = new URL(gateway.url);
      const { query, variables } = JSON.parse(body('by-get')) as { query: string; variables: object };
      url.searchParams.set('query', query);
      url.searchParams.set('variables', JSON.stringify(variables));
      const headers = { ...gateway.headers, accept, 'content-type': 'application/json', 'x-requested-with': 'test' };
      const answer = await harmless(() => fetch(url, { headers }));
      expect(answer.status).toBe(405);
    },
  );

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'the content type %j is refused',
    async (type) => {
      const form = new URLSearchParams(JSON.parse(body('by-form')) as Record<string, string>).toString();
      const multipart = `--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${body('by-form')}\r\n--x\r\ncontent-disposition: form-data; name="map"\r\n\r\n{}\r\n--x--\r\n`;
      const text = type.startsWith('multipart') ? multipart : type.includes('form') ? form : body('by-form');
      const headers = { ...gateway.headers, ...(type === '' ? {} : { 'content-type': type }) };
      const answer = await harmless(() => request(gateway.url, { method: 'POST', headers, body: text }));
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      await answer.body.dump();
    },
  );

  test.each<Record<string, string>>([
    { origin: 'https://elsewhere.example' },
    { origin: 'null' },
    { host: 'elsewhere.example' },
    { host: 'localhost.elsewhere.example:80' },
    { origin: 'https://elsewhere.example', accept: 'text/event-stream' },
    { host: 'elsewhere.example', accept: 'text/event-stream' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
  ])('a request of another page is refused: %j', async (more) => {
    const headers = { ...gateway.headers, 'content-type': 'application/json', ...more };
    const answer = await harmless(() => request(gateway.url, { method: 'POST', headers, body: body('by-page') }));
    expect(answer.statusCode).toBeGreaterThanOrEqual(400);
    await answer.body.dump();
  });

  test('a mutation over an event stream needs the start token as well', async () => {
    const stream = (more: object) =>
      request(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...more },
        body: body('by-stream'),
      }).then((answer) => answer.body.text());
    expect(await harmless(() => stream({}))).toContain('FORBIDDEN');
    expect(await harmless(() => stream({ authorization: 'Bearer wrong' }))).toContain('FORBIDDEN');
    expect(at('by-stream')).toBeUndefined();
  });

  test('without the start token nothing is written, and the read of the same request is answered', async () => {
    const tokens = [
      {},
      { authorization: 'Bearer ' },
      { authorization: `Bearer ${'0'.repeat(43)}` },
      { cookie: 'token=x' },
    ];
    for (const headers of tokens) {
      const answer = await harmless(() => send(gateway.url, 'create', created('no-token'), headers));
      expect(codesOf(answer)).toEqual(['FORBIDDEN']);
    }
    expect(await ask(gateway.url, '{ clusters { name } }')).toMatchObject({
      data: { clusters: [{ name: clusterName }] },
    });
  });

  test('a batch of requests is refused', async () => {
    const headers = { ...gateway.headers, 'content-type': 'application/json' };
    const many = `[${body('batched-1')},${body('batched-2')}]`;
    const answer = await harmless(() => fetch(gateway.url, { method: 'POST', headers, body: many }));
    expect(answer.status).toBe(400);
  });

  test('one field and many aliases write at most 1,000 objects', async () => {
    const targets = (count: number, prefix: string) => ({
      objects: Array.from({ length: count }, (_, index) => ({ id: idOf('configmaps', `${prefix}-${index}`) })),
    });
    const single = await harmless(() => gateway.answer('delete', { targets: targets(1001, 'x') }));
    expect(codesOf(single)).toEqual(['QUERY_TOO_COSTLY']);
    const yaml = Array.from(
      { length: 1001 },
      (_, index) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: c-${index}}}`,
    );
    const docs = await harmless(() =>
      gateway.answer('create', { docs: [{ namespace: attacked, yaml: yaml.join('\n---\n') }] }),
    );
    expect(docs.errors).toHaveLength(1);
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: Array.from({ length: 600 }, () => configMap(attacked, 'l', {})),
    };
    const lists = await harmless(() => gateway.answer('create', { docs: [{ json: list }, { json: list }] }));
    // The reader of manifests refuses them before there are targets.
    expect(codesOf(lists)).toEqual(['BAD_USER_INPUT']);
    const text = `mutation ($a: TargetsInput!, $b: TargetsInput!, $c: TargetsInput!) {
      a: delete(targets: $a) { items { result } } b: delete(targets: $b) { items { result } }
      c: delete(targets: $c) { items { result } } }`;
    const before = writesOf(proxy).length;
    const variables = { a: targets(400, 'a'), b: targets(400, 'b'), c: targets(400, 'c') };
    const answer = await ask(gateway.url, text, variables, gateway.headers);
    expect(answer.errors).toMatchObject([{ path: ['c'], extensions: { code: 'QUERY_TOO_COSTLY' } }]);
    expect(
      writesOf(proxy)
        .slice(before)
        .filter(({ url }) => url?.includes('/configmaps/c-')),
    ).toEqual([]);
  });

  test('forged ids of plans are refused', async () => {
    const args = created('planned');
    const { planId } = await gateway.write('create', { ...args, options: { dryRun: true } });
    const text = planId ?? '';
    const [payload = '', seal = ''] = text.split('.');
    const dice = new Dice(1);
    const altered = (given: string): string => {
      const bytes = Buffer.from(given, 'base64url');
      const at = dice.below(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << dice.below(8));
      return bytes.toString('base64url');
    };
    const forged = [
      '',
      '.',
      'x',
      payload,
      `${payload}.`,
      `.${seal}`,
      `${seal}.${payload}`,
      `${payload}.${seal.slice(0, -4)}`,
      `${payload}.${seal}${seal}`,
      text.slice(1),
      '\u0000'.repeat(50),
      ...dice.times(100, () => `${altered(payload)}.${seal}`),
      ...dice.times(100, () => `${payload}.${altered(seal)}`),
    ];
    for (const plan of forged) {
      const answer = await harmless(() => gateway.answer('create', { ...args, options: { plan } }));
      expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
    }
    // Of other arguments, of another verb, and of other options that are written.
    for (const [verb, others] of [
      ['create', created('other')],
      ['apply', args],
    ] as const) {
      const answer = await harmless(() => gateway.answer(verb, { ...others, options: { plan: planId } }));
      expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
    }
    const asOther = { plan: planId, fieldManager: 'other' };
    expect(codesOf(await harmless(() => gateway.answer('create', { ...args, options: asOther })))).toEqual([
      'BAD_USER_INPUT',
    ]);
    expect((await gateway.write('create', { ...args, options: { plan: planId } })).items).toMatchObject([
      { result: 'CREATED' },
    ]);
  });

  test('texts that grow are refused', async () => {
    const levels = Array.from({ length: 12 }, (_, level) =>
      level === 0
        ? 'a0: &a0 [x,x,x,x,x,x,x,x,x]'
        : `a${level}: &a${level} [${Array(9)
            .fill(`*a${level - 1}`)
            .join(',')}]`,
    );
    const bombs = [
      levels.join('\n'),
      `a: &a [*a, *a]\n`,
      `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
      `${'- '.repeat(20_000)}x`,
      `x: ${'{a: '.repeat(5000)}1${'}'.repeat(5000)}`,
    ];
    for (const bomb of bombs) {
      const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\ndata:\n  ${bomb.replaceAll('\n', '\n  ')}\n`;
      for (const docs of [[{ yaml: bomb, namespace: attacked }], [{ yaml, namespace: attacked }]]) {
        const answer = await harmless(() => gateway.answer('apply', { docs }));
        expect(codesOf(answer)).toEqual(['BAD_USER_INPUT']);
      }
    }
    const large = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\ndata: {a: "${'x'.repeat(4 * 2 ** 20)}"}\n`;
    const answer = await harmless(() => gateway.answer('apply', { docs: [{ yaml: large, namespace: attacked }] }));
    expect(answer.errors).toHaveLength(1);
  });

  test('a manifest of 2 MiB is larger than a request', async () => {
    const values = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`k${index}`, 'x'.repeat(2 ** 15)]));
    const wide = configMap(attacked, 'wide', values);
    for (const doc of [{ json: wide }, { yaml: JSON.stringify(wide) }]) {
      const answer = await harmless(() => gateway.answer('apply', { docs: [doc] }));
      expect(codesOf(answer)).toEqual(['REQUEST_ENTITY_TOO_LARGE']);
    }
  });

  test('names of JavaScript are refused, or are names like others', async () => {
    const headers = { ...gateway.headers, 'content-type': 'application/json' };
    const post = async (query: string, variables: string): Promise<Answer<Record<string, Written>>> => {
      const text = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
      return (await (await fetch(gateway.url, { method: 'POST', headers, body: text })).json()) as never;
    };
    const query = mutationText('create', { docs: '[ManifestInput!]!' });
    for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      for (const [form, isKey] of [
        ['json', true],
        ['yaml', true],
        ['literal', true],
        ['json', false],
        ['yaml', false],
      ] as const) {
        const name = `${key.toLowerCase().replaceAll('_', '')}-${form}-${isKey}`;
        const metadata = `"metadata":{"name":"${name}","namespace":"${attacked}"}`;
        const inner = isKey ? `"data":{"${key}":"value"}` : `"${key}":{"polluted":"yes"}`;
        const json = `{"apiVersion":"v1","kind":"ConfigMap",${metadata},${inner}}`;
        const literal = `mutation { create(docs: [{ json: ${json.replaceAll(/"(\w+)":/g, '$1:')} }]) { items { result } } }`;
        const answer =
          form === 'literal'
            ? await post(literal, '{}')
            : await post(query, `{"docs":[{"${form}":${form === 'json' ? json : JSON.stringify(json)}}]}`);
        const made = at(name);
        if (answer.errors === undefined && answer.data?.['create']?.items[0]?.result === 'CREATED') {
          expect(JSON.stringify(made?.['data'])).toBe(isKey ? `{"${key}":"value"}` : undefined);
        } else expect(made).toBeUndefined();
        expect(key === '__proto__' || !isKey || made !== undefined).toBe(true);
      }
    }
    const id = idOf('configmaps', 'constructor-json-true');
    const patches = [
      '{"data":{"constructor":"other"}}',
      '{"data":{"__proto__":"other"}}',
      '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}',
      '{"metadata":{"labels":{"__proto__":"x","constructor":"y"}}}',
    ];
    for (const patch of patches) {
      for (const options of ['{"dryRun":true}', '{"onError":"REVERT"}']) {
        const types = { target: 'TargetInput!', patch: 'JSON!', options: 'WriteOptions' };
        await post(mutationText('patch', types), `{"target":{"id":"${id}"},"patch":${patch},"options":${options}}`);
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(at('constructor-json-true')).toMatchObject({ data: { constructor: 'other' } });
  });

  test('a patch cannot write another object than its target', async () => {
    await gateway.write('create', {
      docs: ['target', 'bystander'].map((name) => ({ json: configMap(attacked, name, { a: '1' }) })),
    });
    const before = JSON.stringify(at('bystander'));
    const patches: readonly (readonly [string, unknown])[] = [
      ['MERGE', { metadata: { name: 'bystander' }, data: { a: 'hit' } }],
      ['MERGE', { metadata: { namespace: 'default' }, data: { a: 'hit' } }],
      ['MERGE', { metadata: { uid: 'other' }, data: { a: 'hit' } }],
      ['MERGE', { kind: 'Secret', data: { a: 'hit' } }],
      ['JSON', [{ op: 'replace', path: '/metadata/name', value: 'bystander' }]],
      ['STRATEGIC', { metadata: { name: 'bystander' }, data: { a: 'hit' } }],
    ];
    for (const [type, patch] of patches) {
      const { items } = await gateway.write('patch', { target: { id: idOf('configmaps', 'target') }, type, patch });
      expect(items).toMatchObject([{ result: 'NONE' }]);
    }
    expect(at('target')).toMatchObject({ data: { a: '1' } });
    expect(JSON.stringify(at('bystander'))).toBe(before);
  });

  test('names and subresources cannot lead to another path', async () => {
    sim.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pin', namespace: attacked }, data: {} });
    sim.create(deployment(attacked, 'beside') as never);
    const names = [
      '../secrets/pin',
      '..',
      '.',
      'a%2f..%2fsecrets',
      'a/../../secrets/pin',
      'x?dryRun=All',
      'x#y',
      'x\r\ny: z',
      'pin/status',
    ];
    const bystander = idOf('deployments.apps', 'beside');
    const before = writesOf(proxy).length;
    for (const name of names) {
      for (const id of [idOf('configmaps', name), idOf('configmaps', 'a', name), idOf(name, 'a')]) {
        const { items } = await gateway.write('delete', { targets: { objects: [{ id }] } });
        expect(items).toMatchObject([{ result: 'NONE' }]);
        const options = { onError: 'REVERT', order: 'GIVEN' };
        await gateway.write('delete', { targets: { objects: [{ id }] }, options });
        await gateway.write('delete', { targets: { objects: [{ id }] }, options: { dryRun: true } });
        await gateway.write('evict', { targets: { objects: [{ id }] } });
        // One that cannot be addressed hides nothing of another one.
        const pair = { objects: [{ id: bystander }, { id }] };
        const both = await gateway.write('scale', {
          targets: pair,
          replicas: 3,
          options: { ...options, onError: 'CONTINUE' },
        });
        expect(both.items.map(({ result }) => result)).toEqual([expect.stringMatching(/CHANGED$/), 'NONE']);
      }
      const target = { id: idOf('configmaps', 'usual') };
      const { items } = await gateway.write('patch', { target, patch: {}, subresource: name });
      expect(items).toMatchObject([{ result: 'NONE' }]);
    }
    const paths = writesOf(proxy)
      .slice(before)
      .map(({ url }) => new URL(url ?? '', proxy.url).pathname);
    const allowed = new RegExp(
      `^/apis/apps/v1/namespaces/${attacked}/deployments/beside|^/api/v1/namespaces/[^/]+/configmaps/[^/]+(/[^/]+)?$`,
    );
    expect(paths.filter((path) => !allowed.test(path))).toEqual([]);
    expect(paths.filter((path) => path.includes('secrets'))).toEqual([]);
    expect(sim.get(`/api/v1/namespaces/${attacked}/secrets/pin`)).toBeDefined();
  });

  test.each([
    [{ kinds: ['*'] }],
    [{ kinds: ['configmap*'] }],
    [{ kinds: ['*.apps'] }],
    [{ kinds: ['Namespace'] }],
    [{ kinds: ['ns'] }],
    [{ kinds: ['NAMESPACES'] }],
    [{ kinds: ['ConfigMap', 'namespaces'] }],
    [{ kinds: ['crd'] }],
    [{ kinds: ['customresourcedefinitions.apiextensions.k8s.io'] }],
    [{ kinds: [] }],
    [{ kinds: ['ConfigMap'], filter: { usedBy: { exists: true } } }],
    [{ kinds: ['ConfigMap'], filter: { not: { or: [{ usedBy: { exists: true } }] } } }],
  ])('a query that must not write is refused: %j', async (query) => {
    const targets = { query: { ...query, expect: 1 } };
    for (const options of [{}, { dryRun: true }]) {
      const answer = await harmless(() => gateway.answer('delete', { targets, options }));
      expect(answer.errors).toHaveLength(1);
    }
  });

  test('a live mutation is refused', async () => {
    const text = 'mutation ($docs: [ManifestInput!]!) @live { create(docs: $docs) { complete } }';
    for (const accept of ['application/json', 'text/event-stream']) {
      const answer = await harmless(() =>
        fetch(gateway.url, {
          method: 'POST',
          headers: { ...gateway.headers, accept, 'content-type': 'application/json' },
          body: JSON.stringify({ query: text, variables: created('live') }),
        }).then((found) => found.text()),
      );
      expect(answer).toContain('"errors"');
    }
    expect(at('live')).toBeUndefined();
  });

  test('a mutation that was sent before, also as a persisted query, is not answered by GET', async () => {
    const query = mutationText('create', { docs: '[ManifestInput!]!' });
    await ask(gateway.url, query, created('persisted-1'), gateway.headers);
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(query))).toString('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash: hash } };
    const headers = { ...gateway.headers, 'content-type': 'application/json' };
    const posted = JSON.stringify({ query, variables: created('persisted-2'), extensions });
    await (await fetch(gateway.url, { method: 'POST', headers, body: posted })).text();
    const url = new URL(gateway.url);
    url.searchParams.set('extensions', JSON.stringify(extensions));
    url.searchParams.set('variables', JSON.stringify(created('persisted-3')));
    const answer = await harmless(() => fetch(url, { headers }));
    expect(await answer.text()).toContain('"errors"');
    expect(at('persisted-3')).toBeUndefined();
  });

  test('each of many equal mutations is carried out', async () => {
    const generated = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: 'equal-', namespace: attacked },
    };
    const names = new Set<unknown>();
    for (let index = 0; index < 20; index += 1) {
      const { items } = await gateway.write('create', { docs: [{ json: generated }] });
      names.add(items[0]?.target.name);
      await ask(gateway.url, '{ configMaps(first: 100) { totalCount } }');
    }
    expect(names.size).toBe(20);
    const kept = sim
      .list(`/api/v1/namespaces/${attacked}/configmaps`)
      .filter(({ metadata }) => String((metadata as { name: string }).name).startsWith('equal-'));
    expect(kept).toHaveLength(20);
  });

  test('nothing is written if the audit cannot be', async () => {
    const audited = await WritingGateway.start(folder.write({ server: proxy.url }, {}, 'audited'), {
      auditLog: '/dev/full',
    });
    onTestFinished(() => audited.close());
    const answer = await harmless(() => audited.answer('create', created('unaudited')));
    expect(answer.data?.['create']?.items).toMatchObject([{ result: 'NONE', errors: [{ code: 'AUDIT_UNAVAILABLE' }] }]);
    expect(at('unaudited')).toBeUndefined();
  });

  test('a read-only gateway writes nothing', async () => {
    for (const flags of [{ readOnly: 'true' }, {}]) {
      const kubeconfig = folder.write({ server: proxy.url }, {}, 'read-only');
      const readOnly = await runGateway({ name: clusterName, kubeconfig }, flags);
      onTestFinished(() => readOnly.close());
      for (const options of [{}, { dryRun: true }]) {
        const args = { ...created('read-only'), options };
        expect(codesOf(await harmless(() => send(readOnly.url, 'create', args, gateway.headers)))).toEqual([
          'FORBIDDEN',
        ]);
      }
    }
  });
});
