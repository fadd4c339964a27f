/**
 * Values that the tables of Portolan do not have, such as the data of Secrets and redacted paths, stay as they are in each write of a set that
 * does not change them. And what else of an API server's answers has to come through: warnings, refusals for a time, preconditions.
 */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { type ApiAnswer, type ApiRequest, apiRequest } from '../kit/api-request.ts';
import { customKind } from '../kit/custom-kind.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { runKubectl } from '../kit/kubectl-run.ts';
import type { LoopbackServer } from '../kit/loopback-server.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { startRecordingProxy } from '../kit/recording-proxy.ts';

const token = 'token-of-jane';
const namespace = 'default';
const path = `/apis/shadow.portolan.dev/v1alpha1/namespaces/${namespace}/shadowresources`;
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

interface IllWrites {
  readonly path: string;
  readonly status: number;
  readonly reason: string;
  /** Dry runs reach the API server. */
  readonly realOnly: boolean;
}

describeOn([mainServer], 'values that sets keep', { timeout: 90_000, needs: ['kubectl'] }, (server) => {
  let aggregated: AggregatedPlane;
  let gateway: RunningGateway;
  let proxy: LoopbackServer;
  /** What answers writes of an object in place of the API server. */
  let ill: IllWrites | null = null;

  const run = (args: readonly string[], input?: unknown, env: Readonly<Record<string, string>> = {}) =>
    runKubectl(server, aggregated.plane, { token, args, input, env });
  const kubectl = async (args: readonly string[], input?: unknown, env: Readonly<Record<string, string>> = {}) => {
    const { code, stdout, stderr } = await run(args, input, env);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  const json = async (...args: readonly string[]) => JSON.parse(await kubectl(['get', ...args, '-o', 'json']));
  const send = (to: string, asked: ApiRequest = {}): Promise<ApiAnswer> =>
    apiRequest(aggregated.plane, token, `${path}${to}`, asked);

  beforeAll(async () => {
    aggregated = await startAggregatedPlane({
      server,
      flags: {
        impersonate: 'constrained',
        redact: ['deployments=spec.template.spec.containers[].env'],
        readOnly: 'false',
      },
      users: [{ token, user: 'jane', groups: [] }],
      run: async (plane, flags) => {
        proxy = await startRecordingProxy({ url: plane.server, ca: plane.caPem() }, (request, response) => {
          const { method, url = '' } = request;
          if (ill === null || method !== 'PATCH' || !url.includes(ill.path)) return false;
          if (ill.realOnly && url.includes('dryRun')) return false;
          const { status: code, reason } = ill;
          const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: 'for a while' };
          response.writeHead(code, { 'content-type': 'application/json', 'retry-after': '1' });
          response.end(JSON.stringify(status));
          return true;
        });
        const kubeconfig = plane.writeKubeconfig('proxied', { token: plane.token }, proxy.url);
        gateway = await runGateway({ name: 'real', kubeconfig }, flags);
        return gateway;
      },
      prepare: async (plane) => {
        await plane.kubectl(['create', 'clusterrolebinding', 'jane', '--clusterrole=cluster-admin', '--user=jane']);
        await plane.kubectl(['create', '-f', '-'], JSON.stringify(oldCrd));
        await plane.kubectl(['wait', '--for=condition=Established', 'crd/olds.sets.example']);
      },
    });
    await eventually(() => kubectl(['get', 'shadow']));
  }, 240_000);
  afterAll(async () => {
    await aggregated?.stop();
    await proxy?.close();
  }, 60_000);

  test('get and replace, apply, edit, patch and label leave a Secret and a redacted path byte-equal', async () => {
    await kubectl(
      ['create', '-f', '-'],
      setOf('round', [config('round', 'one'), secret('round'), deployment('round')]),
    );
    const hidden = async () => [await json('secret', 'round'), await json('deployment', 'round')];
    const before = await hidden();
    expect(before[0].data).toEqual(secret('round').data);
    expect(before[1].spec.template.spec.containers[0].env).toEqual([{ name: 'PIN', value: 'planted' }]);
    const edited = join(aggregated.plane.dir, 'edit-kept.sh');
    writeFileSync(edited, '#!/bin/sh\nexec sed -i "s/a: [a-z]*/a: edited/" "$1"\n');
    chmodSync(edited, 0o755);
    const yaml = () => kubectl(['get', 'shadow', 'round', '-o', 'yaml']);
    const changed = async () => (await yaml()).replace(/a: [a-z]+/, 'a: changed');
    const withoutState = async () => {
      const { metadata, status: _status, ...rest } = parse(await yaml());
      const { [lastApplied]: _lastApplied, ...annotations } = metadata.annotations ?? {};
      return { ...rest, metadata: { name: 'round', namespace, labels: metadata.labels ?? {}, annotations } };
    };
    const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['replace', async () => kubectl(['replace', '-f', '-'], await yaml())],
      ['replace with a change', async () => kubectl(['replace', '-f', '-'], await changed())],
      ['edit', () => kubectl(['edit', 'shadow', 'round'], '', { KUBE_EDITOR: edited })],
      ['apply', async () => kubectl(['apply', '-f', '-'], await withoutState())],
      ['apply once more', async () => kubectl(['apply', '-f', '-'], await withoutState())],
      [
        'server-side apply',
        async () => kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], await withoutState()),
      ],
      [
        'merge patch',
        async () => {
          const { spec } = parse(await changed());
          return kubectl(['patch', 'shadow', 'round', '--type=merge', '-p', JSON.stringify({ spec })]);
        },
      ],
      [
        'JSON patch',
        () =>
          kubectl([
            ...['patch', 'shadow', 'round', '--type=json'],
            ...['-p', '[{"op":"replace","path":"/spec/flowList/0/data/a","value":"patched"}]'],
          ]),
      ],
      ['label', () => kubectl(['label', 'shadow', 'round', 'tier=x'])],
      ['annotate', () => kubectl(['annotate', 'shadow', 'round', 'note=x'])],
      ['replace at the end', async () => kubectl(['replace', '-f', '-'], await yaml())],
    ];
    for (const [name, step] of steps) {
      await step();
      expect(await hidden(), name).toEqual(before);
    }
    expect((await json('configmap', 'round')).data).toEqual({ a: 'patched' });
    expect(await run(['diff', '-f', '-'], await withoutState())).toEqual({ code: 0, stdout: '', stderr: '' });
    const { metadata } = await json('shadow', 'round');
    // kubectl apply has submitted the values. The record keeps them not.
    for (const text of [metadata.annotations[lastApplied], JSON.stringify(await json('shadowrecord', 'round'))]) {
      expect(text).not.toMatch(/planted|cGxhbnRlZA==/);
    }
  });

  test('applySet with a redacted path, and what the API server for kubectl shows of it', async () => {
    const apply = async (a: string) => {
      const docs = [config('graph', a), secret('graph'), deployment('graph')].map((doc) => ({ json: doc }));
      const document = `mutation Apply($docs: [ManifestInput!]!) {
        applySet(set: { namespace: "default", name: "graph" }, docs: $docs) {
          complete items { target { kind } result errors { code message } }
        }
      }`;
      const answer = await ask(gateway.url, document, { docs }, { authorization: `Bearer ${token}` });
      expect(JSON.stringify(answer)).not.toContain('planted');
      return answer.data?.['applySet'];
    };
    const results = (of: string) => [
      ...['ConfigMap', 'Secret', 'Deployment'].map((kind) => ({
        ...{ target: { kind }, errors: [] },
        result: kind === 'ConfigMap' ? of : of === 'CREATED' ? of : 'UNCHANGED',
      })),
      expect.objectContaining({ target: { kind: 'ShadowRecord' } }),
    ];
    expect(await apply('one')).toEqual({ complete: true, items: results('CREATED') });
    const before = [await json('secret', 'graph'), await json('deployment', 'graph')];
    expect(await apply('two')).toEqual({ complete: true, items: results('CHANGED') });
    expect([await json('secret', 'graph'), await json('deployment', 'graph')]).toEqual(before);
    expect((await json('shadow', 'graph')).spec.flowList).toEqual([
      config('graph', 'two'),
      secret('graph'),
      deployment('graph'),
    ]);
    await kubectl(['replace', '-f', '-'], await kubectl(['get', 'shadow', 'graph', '-o', 'yaml']));
    expect([await json('secret', 'graph'), await json('deployment', 'graph')]).toEqual(before);
  });

  test('the body of an apply may be YAML', async () => {
    const apply = (body: string) =>
      send('/yaml?fieldManager=test', { method: 'PATCH', type: 'application/apply-patch+yaml', body });
    const set = setOf('yaml', [config('yaml', 'one')]);
    const made = await apply(stringify(set));
    expect(made.status, made.text).toBe(201);
    expect((await json('configmap', 'yaml')).data).toEqual({ a: 'one' });
    expect((await apply(stringify(set).replace('a: one', 'a: two'))).status).toBe(200);
    expect((await json('configmap', 'yaml')).data).toEqual({ a: 'two' });
    const unnamed = await send('/yaml', {
      method: 'PATCH',
      type: 'application/apply-patch+yaml',
      body: stringify(set),
    });
    expect([unnamed.status, JSON.parse(unnamed.text).message]).toEqual([
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ]);
    for (const wrong of ['a: [', `${stringify(set)}---\n${stringify(set)}`, '']) {
      const { status, text } = await apply(wrong);
      expect([status, JSON.parse(text).kind], text).toEqual([400, 'Status']);
    }
    expect((await json('configmap', 'yaml')).data).toEqual({ a: 'two' });
  });

  test('warnings of the API server about a member come through', async () => {
    const old = { apiVersion: 'sets.example/v1', kind: 'Old', metadata: { name: 'warned', namespace } };
    const { code, stderr } = await run(['create', '-f', '-'], setOf('warned', [config('warned', 'x'), old]));
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Warning: Old warned: sets\.example\/v1 Old is old\n$/)]);
    const { headers } = await send('/warned?dryRun=All&fieldManager=test', {
      ...{ method: 'PATCH', type: 'application/apply-patch+yaml' },
      body: setOf('warned', [config('warned', 'y'), { ...old, spec: { a: 1 } }]),
    });
    expect(headers['warning']).toContain('Old is old');
  });

  test('429 and 503 of the API server in the write of a member', async () => {
    for (const [status, reason] of [
      [429, 'TooManyRequests'],
      [503, 'ServiceUnavailable'],
    ] as const) {
      const name = `ill-${status}`;
      ill = { path: `/configmaps/${name}-b`, status, reason, realOnly: false };
      const set = setOf(name, [config(`${name}-a`, 'x'), config(`${name}-b`, 'x')]);
      const { status: answered, headers, text } = await send('', { method: 'POST', body: set });
      expect([answered, JSON.parse(text)], text).toEqual([
        status,
        expect.objectContaining({ kind: 'Status', reason, message: expect.stringContaining('spec.flowList[1]') }),
      ]);
      if (status === 429) expect(headers['retry-after']).toBeDefined();
      // Its dry run was refused: nothing was written.
      expect((await run(['get', 'configmap', `${name}-a`])).stderr).toContain('not found');
      expect((await run(['get', 'shadowrecord', name])).stderr).toContain('not found');
      ill = null;
      expect((await send('', { method: 'POST', body: set })).status).toBe(201);
    }
  });

  test('a member that fails after the dry runs: the answer says so, and the next apply goes on', async () => {
    const name = 'late';
    const set = setOf(name, [config(`${name}-a`, 'x'), config(`${name}-b`, 'x')]);
    await kubectl(['create', '-f', '-'], set);
    const next = setOf(name, [config(`${name}-a`, 'y'), config(`${name}-b`, 'y')]);
    ill = { path: `/configmaps/${name}-b`, status: 503, reason: 'ServiceUnavailable', realOnly: true };
    const first = await send(`/${name}`, { method: 'PUT', body: next });
    ill = null;
    expect([first.status, first.text], first.text).toEqual([503, expect.stringContaining('1 members were written')]);
    expect((await json('shadow', name)).status.phase).toBe('Applying');
    expect((await send(`/${name}`, { method: 'PUT', body: next })).status).toBe(200);
    const { status, spec } = await json('shadow', name);
    expect([status.phase, spec.flowList]).toEqual(['Applied', [config(`${name}-a`, 'y'), config(`${name}-b`, 'y')]]);
  });

  test('a label, a patch and a replace of an apply that has not ended leave its members and its phase', async () => {
    const name = 'half';
    const list = ['a', 'b', 'c'].map((each) => config(`${name}-${each}`, 'x'));
    ill = { path: `/configmaps/${name}-b`, status: 503, reason: 'ServiceUnavailable', realOnly: true };
    const made = await send('', { method: 'POST', body: setOf(name, list) });
    ill = null;
    expect(made.status, made.text).toBe(503);
    const states = async () => {
      const { spec, status } = await json('shadow', name);
      const members = status.members.map((each: { name: string; state: string }) => `${each.name} ${each.state}`);
      return { phase: status.phase, members: members.toSorted(), shown: spec.flowList.length };
    };
    const before = await states();
    expect([before.phase, before.members]).toEqual(['Applying', expect.arrayContaining(['half-b Pending'])]);
    const live = async () =>
      (await kubectl(['get', 'configmaps', '-o', 'name'])).split('\n').filter((each) => each.includes(name));
    const objects = await live();
    const yaml = async () => kubectl(['get', 'shadow', name, '-o', 'yaml']);
    const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['label', () => kubectl(['label', 'shadow', name, 'tier=front'])],
      ['annotate', () => kubectl(['annotate', 'shadow', name, 'note=x'])],
      ['replace', async () => kubectl(['replace', '-f', '-'], (await yaml()).replace('tier: front', 'tier: back'))],
      [
        'JSON patch',
        () =>
          kubectl(['patch', 'shadow', name, '--type=json', '-p', '[{"op":"remove","path":"/metadata/labels/tier"}]']),
      ],
      [
        'server-side apply of a label',
        async () => {
          const { spec: _spec, ...body } = setOf(name, []) as Record<string, unknown>;
          const metadata = { name, labels: { tier: 'end' } };
          const { status, text } = await send(`/${name}?fieldManager=x`, {
            ...{ method: 'PATCH', type: 'application/apply-patch+yaml', body: { ...body, metadata } },
          });
          expect(status, text).toBe(200);
        },
      ],
    ];
    for (const [what, step] of steps) {
      await step();
      expect([await states(), await live()], what).toEqual([before, objects]);
    }
    expect((await json('shadow', name)).metadata.labels).toEqual({ tier: 'end' });
    // The list that is shown is written, and what it does not show is still to come.
    await kubectl([
      'patch',
      'shadow',
      name,
      '--type=json',
      '-p',
      `[{"op":"add","path":"/spec/flowList/-","value":${JSON.stringify(config('half-d', 'x'))}}]`,
    ]);
    const more = await states();
    expect([more.phase, more.members.filter((each: string) => each.endsWith('Pending'))]).toEqual([
      'Applying',
      before.members.filter((each: string) => each.endsWith('Pending')),
    ]);
    expect(await live()).toEqual([...objects, 'configmap/half-d'].toSorted());
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], setOf(name, list));
    expect(await states()).toMatchObject({ phase: 'Applied', shown: 3 });
    // An edit of one member keeps another one that is missing. A server-side apply has the whole list.
    await kubectl(['delete', 'configmap', 'half-a']);
    await eventually(async () => expect((await states()).members).toContain('half-a Missing'));
    const edit = '[{"op":"replace","path":"/spec/flowList/0/data/a","value":"edited"}]';
    await kubectl(['patch', 'shadow', name, '--type=json', '-p', edit]);
    expect((await json('configmap', 'half-b')).data).toEqual({ a: 'edited' });
    expect((await states()).members).toEqual(['half-a Missing', 'half-b Present', 'half-c Present']);
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], setOf(name, list.slice(1)));
    expect(await states()).toEqual({ phase: 'Applied', members: ['half-b Present', 'half-c Present'], shown: 2 });
  });

  test('a reference in a list keeps its member, also for a caller who gets the member whole by now', async () => {
    await kubectl(['create', '-f', '-'], setOf('referred', [config('referred', 'one'), secret('referred')]));
    const shown = await json('shadow', 'referred');
    const { data: _config, ...first } = shown.spec.flowList[0];
    const { data: _secret, ...second } = shown.spec.flowList[1];
    const objects = async () => [await json('configmap', 'referred'), await json('secret', 'referred')];
    const before = await objects();
    for (const labels of [undefined, { tier: 'front' }]) {
      const metadata = { name: 'referred', namespace, labels };
      await kubectl(['replace', '-f', '-'], { ...shown, metadata, spec: { flowList: [first, second] } });
      expect(await objects()).toEqual(before);
    }
    expect(await json('shadow', 'referred')).toMatchObject({ spec: shown.spec, status: { phase: 'Applied' } });
    // A member that is gone is not made again without its fields.
    await kubectl(['delete', 'configmap', 'referred']);
    const { metadata } = shown;
    const { resourceVersion: _version, ...own } = metadata;
    await eventually(async () => expect((await json('shadow', 'referred')).status.members[0].state).toBe('Missing'));
    await kubectl(['replace', '-f', '-'], { ...shown, metadata: own, spec: { flowList: [first, second] } });
    expect((await run(['get', 'configmap', 'referred'])).stderr).toContain('not found');
    // A server-side apply is what it says.
    await kubectl(['apply', '--server-side', '-f', '-'], setOf('referred', [second]));
    expect((await json('secret', 'referred')).data).toBeUndefined();
  });

  test('a member without fields that is missing is made again, whether or not it names its namespace', async () => {
    const bare = ['bare-a', 'bare-b'].map((name, index) => ({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: index === 0 ? { name } : { name, namespace },
    }));
    await kubectl(['apply', '-f', '-'], setOf('bare', bare));
    for (const { metadata } of bare) await kubectl(['delete', 'serviceaccount', metadata.name]);
    const states = async () =>
      (await json('shadow', 'bare')).status.members.map(({ state }: { state: string }) => state);
    await eventually(async () => expect(await states()).toEqual(['Missing', 'Missing']));
    await kubectl(['apply', '-f', '-'], setOf('bare', bare));
    await eventually(async () => expect(await states()).toEqual(['Present', 'Present']));
  });

  test('a set of many Secrets is shown whole, and each of them can be changed', async () => {
    const list = Array.from({ length: 130 }, (_, index) => secret(`many-${String(index).padStart(3, '0')}`));
    await kubectl(['create', '-f', '-'], setOf('many', list));
    await kubectl(['create', '-f', '-'], setOf('one', [secret('one')]));
    expect((await json('shadow', 'many')).spec.flowList).toEqual(list);
    const { items } = await json('shadow');
    for (const [name, expected] of [
      ['many', list],
      ['one', [secret('one')]],
    ] as const) {
      const found = items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === name);
      expect(found.spec.flowList).toEqual(expected);
    }
    const changed = list.map((each, index) => (index === 128 ? { ...each, data: { pin: 'bmV3' } } : each));
    await kubectl(['replace', '-f', '-'], setOf('many', changed));
    expect((await json('secret', 'many-128')).data).toEqual({ pin: 'bmV3' });
    expect((await json('secret', 'many-129')).data).toEqual(secret('x').data);
    await kubectl(['delete', 'shadow', 'many', 'one']);
  });

  test('a body that an API server refuses for its form is refused: a key twice, metadata that is no object', async () => {
    const body = JSON.stringify(setOf('form', [config('form', 'x')]));
    const twice = body.replace('"a":"x"', '"a":"x","a":"y"');
    const strict = await send('?fieldValidation=Strict', { method: 'POST', body: twice });
    expect([strict.status, JSON.parse(strict.text).message]).toEqual([400, expect.stringContaining('has a key twice')]);
    expect((await send('?fieldValidation=Strict', { method: 'POST', body })).status).toBe(201);
    for (const wrong of [{ metadata: 'x' }, { spec: [] }]) {
      const { status } = await send('/form', { method: 'PUT', body: { ...setOf('form', []), ...wrong } });
      expect(status).toBe(400);
    }
    expect((await json('configmap', 'form')).data).toEqual({ a: 'x' });
    // A custom resource without these subresources says so, too.
    for (const [method, below] of [
      ['PATCH', 'status'],
      ['PUT', 'scale'],
    ] as const) {
      expect((await send(`/form/${below}`, { method, body: {} })).status).toBe(404);
    }
  });

  test('patches of one set at once, each of another member, are all done', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `at-once-${index}`);
    await kubectl(
      ['create', '-f', '-'],
      setOf(
        'at-once',
        names.map((name) => config(name, 'x')),
      ),
    );
    const answers = await Promise.all(
      names.map((name, index) => {
        const body = [{ op: 'replace', path: `/spec/flowList/${index}/data/a`, value: name }];
        return send('/at-once', { method: 'PATCH', type: 'application/json-patch+json', body });
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    const { spec, status } = await json('shadow', 'at-once');
    expect([status.phase, spec.flowList]).toEqual(['Applied', names.map((name) => config(name, name))]);
  });

  test('preconditions of DeleteOptions', async () => {
    await kubectl(['create', '-f', '-'], setOf('guarded', [config('guarded', 'x')]));
    const { metadata } = await json('shadow', 'guarded');
    const remove = async (preconditions: object): Promise<number> => {
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions };
      return (await send('/guarded', { method: 'DELETE', body })).status;
    };
    expect(await remove({ uid: 'another' })).toBe(409);
    expect(await remove({ resourceVersion: '1' })).toBe(409);
    expect(await remove({ uid: metadata.uid, resourceVersion: '1' })).toBe(409);
    expect((await json('configmap', 'guarded')).data).toEqual({ a: 'x' });
    // A change of a member is a change of the set.
    await kubectl(['patch', 'configmap', 'guarded', '--type=merge', '-p', '{"data":{"a":"y"}}']);
    expect(await remove({ uid: metadata.uid, resourceVersion: metadata.resourceVersion })).toBe(409);
    const now = await eventually(async () => {
      const found = await json('shadow', 'guarded');
      expect(found.spec.flowList[0].data).toEqual({ a: 'y' });
      return found;
    });
    expect(await remove({ uid: metadata.uid, resourceVersion: now.metadata.resourceVersion })).toBe(200);
    await eventually(async () => expect((await run(['get', 'configmap', 'guarded'])).stderr).toContain('not found'));
  });

  test('pages of one set each, while sets come and go', async () => {
    const name = (index: number): string => `page-${index}`;
    for (const index of [0, 2, 4, 6])
      await kubectl(['create', '-f', '-'], setOf(name(index), [config(name(index), 'x')]));
    const seen: string[] = [];
    let token: string | undefined;
    const versions = new Set<string>();
    do {
      const { status, text } = await send(`?limit=1${token === undefined ? '' : `&continue=${token}`}`);
      const { items, metadata } = JSON.parse(text);
      expect([status, items.length]).toEqual([200, 1]);
      versions.add(metadata.resourceVersion);
      seen.push(items[0].metadata.name);
      token = metadata.continue;
      if (items[0].metadata.name === name(0)) {
        await kubectl(['delete', 'shadow', name(0), name(4)]);
        await kubectl(['create', '-f', '-'], setOf(name(5), [config(name(5), 'x')]));
      }
    } while (token !== undefined);
    expect(seen.filter((each) => each.startsWith('page-'))).toEqual([name(0), name(2), name(5), name(6)]);
    expect(seen).toEqual(seen.toSorted());
    expect(versions.size).toBe(1);
    // A watch from there tells what the pages have not.
    const watch = await send(`?watch=1&timeoutSeconds=1&resourceVersion=${[...versions][0]}`);
    const told = watch.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ type, object }) => `${type} ${object.metadata.name}`);
    for (const each of [`DELETED ${name(0)}`, `DELETED ${name(4)}`, `ADDED ${name(5)}`]) expect(told).toContain(each);
  });
});

function setOf(name: string, flowList: readonly object[]): object {
  const metadata = { name, namespace };
  return { apiVersion: 'shadow.portolan.dev/v1alpha1', kind: 'ShadowResource', metadata, spec: { flowList } };
}

function config(name: string, a: string) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { a } };
}

function secret(name: string) {
  const data = { pin: Buffer.from('planted').toString('base64'), raw: Buffer.from([0, 255, 10]).toString('base64') };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data };
}

function deployment(name: string) {
  const app = { app: name };
  const container = { name: 'main', image: 'nginx', env: [{ name: 'PIN', value: 'planted' }] };
  const template = { metadata: { labels: app }, spec: { containers: [container] } };
  const spec = { replicas: 1, selector: { matchLabels: app }, template };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec };
}

const oldCrd = customKind({
  group: 'sets.example',
  kind: 'Old',
  plural: 'olds',
  version: { deprecated: true, deprecationWarning: 'sets.example/v1 Old is old' },
  schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
});
