/** kubectl reads sets through kube-apiserver: in every form, with selectors, as users with different rights, and through changes of members. */
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { handMadeRecord, makeSet, nginxPod } from '../kit/shadow-records.ts';

const janeToken = 'token-of-jane';

describeOn([mainServer, oldServer], 'reads of sets', { timeout: 90_000, needs: ['kubectl'] }, (server) => {
  let aggregated: AggregatedPlane;
  const kubectl = (args: readonly string[], stdin?: string): Promise<string> => aggregated.plane.kubectl(args, stdin);
  const lines = async (...args: readonly string[]): Promise<readonly (readonly string[])[]> =>
    (await kubectl(args))
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
  const task = async (name = 'task1') => JSON.parse(await kubectl(['get', 'shadowresource', name, '-o', 'json']));
  /** kubectl as a user, by a token. */
  const asJane = (...args: readonly string[]): Promise<string> => kubectl([`--token=${janeToken}`, ...args]);

  beforeAll(async () => {
    aggregated = await startAggregatedPlane({
      server,
      group: 'apis.abc.com',
      version: 'v1',
      flags: { impersonate: server.impersonation },
      users: [{ token: janeToken, user: 'jane', groups: ['devs'] }],
      prepare: async (plane) => {
        await plane.kubectl(['create', 'namespace', 'shop']);
        const task1 = { namespace: 'default', name: 'task1', labels: { app: 'task' } };
        await makeSet(plane, task1, [nginxPod('nginx1'), nginxPod('nginx2', { foo1: 'bar2' })]);
        const config = (name: string) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name, namespace: 'shop' },
          data: { a: name },
        });
        const secret = {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'keys', namespace: 'shop' },
          data: { password: Buffer.from('hunter2').toString('base64') },
        };
        await makeSet(plane, { namespace: 'shop', name: 'app' }, [config('one'), secret]);
      },
    });
    await eventually(() => kubectl(['get', 'shadowresources', '-A']));
  }, 240_000);
  afterAll(() => aggregated?.stop(), 60_000);

  test('a set is its members as they are, in the submitted fields', async () => {
    const found = await task();
    const pod = (name: string, metadata: object = {}) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', ...metadata },
      spec: { containers: [{ name: 'nginx', image: 'nginx' }] },
    });
    expect(found).toMatchObject({
      apiVersion: 'apis.abc.com/v1',
      kind: 'ShadowResource',
      metadata: { name: 'task1', namespace: 'default', generation: 1, labels: { app: 'task' } },
    });
    expect(found.spec).toEqual({ flowList: [pod('nginx1'), pod('nginx2', { annotations: { foo1: 'bar2' } })] });
    expect(found.status).toMatchObject({
      observedGeneration: 1,
      phase: 'Applied',
      ready: '0/2',
      members: [
        { kind: 'Pod', name: 'nginx1', state: 'Present', health: 'InProgress' },
        { kind: 'Pod', name: 'nginx2', state: 'Present', health: 'InProgress' },
      ],
      conditions: [{ type: 'Ready', status: 'False', reason: 'MemberInProgress', observedGeneration: 1 }],
    });
    const record = JSON.parse(await kubectl(['get', 'shadowrecord', 'task1', '-o', 'json']));
    expect(found.metadata.uid).toBe(record.metadata.uid);
    expect(BigInt(found.metadata.resourceVersion) >= BigInt(record.metadata.resourceVersion)).toBe(true);
  });

  test('get: table, wide, name, yaml, jsonpath, sorted, everywhere', async () => {
    const [head, row] = await lines('get', 'shadowresources');
    expect(head).toEqual(['NAME', 'READY', 'PHASE', 'STATUS', 'AGE']);
    expect(row?.slice(0, 4)).toEqual(['task1', '0/2', 'Applied', 'MemberInProgress']);
    expect(row?.[4]).toMatch(/^\d+(s|m|m\d+s)$/);
    const [wideHead, wide] = await lines('get', 'shadow', '-o', 'wide');
    expect(wideHead?.at(-1)).toBe('MESSAGE');
    expect(wide?.at(-1)).toContain('Pod nginx1');
    expect((await kubectl(['get', 'shadow', '-o', 'name'])).trim()).toBe('shadowresource.apis.abc.com/task1');
    expect(await kubectl(['get', 'shadow', 'task1', '-o', 'yaml'])).toContain('foo1: bar2');
    expect(await kubectl(['get', 'shadow', 'task1', '-o', 'jsonpath={.status.members[*].name}'])).toBe('nginx1 nginx2');
    const all = await lines('get', 'shadow', '-A', '--sort-by=.metadata.name', '--no-headers');
    expect(all.map(([namespace, name]) => [namespace, name])).toEqual([
      ['shop', 'app'],
      ['default', 'task1'],
    ]);
    await expect(kubectl(['get', 'shadow', 'none'])).rejects.toThrow('shadowresources.apis.abc.com "none" not found');
  });

  test('labels, fields and pages select', async () => {
    const names = async (...args: readonly string[]): Promise<readonly string[]> =>
      (await kubectl(['get', 'shadow', '-A', '-o', 'name', ...args])).split('\n').filter((each) => each !== '');
    const both = ['shadowresource.apis.abc.com/task1', 'shadowresource.apis.abc.com/app'];
    expect(await names()).toEqual(both);
    expect(await names('--chunk-size=1')).toEqual(both);
    expect(await names('-l', 'app=task')).toEqual(both.slice(0, 1));
    expect(await names('-l', '!app')).toEqual(both.slice(1));
    expect(await names('--field-selector', 'metadata.name=app')).toEqual(both.slice(1));
    expect(await names('--field-selector', 'metadata.namespace!=shop')).toEqual(both.slice(0, 1));
    await expect(names('--field-selector', 'spec.x=1')).rejects.toThrow('field label not supported: spec.x');
    const [, first] =
      (await kubectl(['get', '--raw', '/apis/apis.abc.com/v1/shadowresources?limit=1'])).match(
        /"continue":"([^"]+)"/,
      ) ?? [];
    const second = JSON.parse(
      await kubectl(['get', '--raw', `/apis/apis.abc.com/v1/shadowresources?limit=1&continue=${first}`]),
    );
    expect(second.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['app']);
    expect(second.metadata.continue).toBeUndefined();
  });

  test('describe, and rights', async () => {
    const described = await kubectl(['describe', 'shadow', 'task1']);
    expect(described).toMatch(/Kind:\s+ShadowResource/);
    expect(described).toMatch(/State:\s+Present/);
    expect((await kubectl(['auth', 'can-i', 'get', 'shadowresources'])).trim()).toBe('yes');
  });

  test('who may get sets but not their members sees references; with rights, the Secret is read as the caller', async () => {
    await expect(asJane('get', 'shadow', 'app', '-n', 'shop')).rejects.toThrow(
      /jane.*cannot get resource "shadowresources"/,
    );
    const grant = async (name: string, verbs: string, resources: string): Promise<void> => {
      await kubectl(['create', 'role', name, '-n', 'shop', `--verb=${verbs}`, `--resource=${resources}`]);
      await kubectl(['create', 'rolebinding', name, '-n', 'shop', `--role=${name}`, '--user=jane']);
    };
    await grant('sets', 'get,list,watch', 'shadowresources.apis.abc.com');
    const app = async () => JSON.parse(await asJane('get', 'shadow', 'app', '-n', 'shop', '-o', 'json'));
    const reference = (kind: string, name: string) => ({
      apiVersion: 'v1',
      kind,
      metadata: { name, namespace: 'shop' },
    });
    const hidden = await eventually(app);
    expect(hidden.spec.flowList).toEqual([reference('ConfigMap', 'one'), reference('Secret', 'keys')]);
    expect(hidden.status.members).toEqual([
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', state: 'Hidden' },
      { apiVersion: 'v1', kind: 'Secret', name: 'keys', state: 'Hidden' },
    ]);
    await grant('configs', 'get', 'configmaps');
    await eventually(async () => {
      const { spec } = await app();
      expect(spec.flowList).toEqual([
        { ...reference('ConfigMap', 'one'), data: { a: 'one' } },
        reference('Secret', 'keys'),
      ]);
    });
    await grant('secrets', 'get', 'secrets');
    await eventually(async () => {
      const { spec } = await app();
      expect(spec.flowList[1]).toEqual({ ...reference('Secret', 'keys'), data: { password: 'aHVudGVyMg==' } });
    });
    // The administrator is in system:masters, whom nobody may impersonate.
    const { spec } = JSON.parse(await kubectl(['get', 'shadow', 'app', '-n', 'shop', '-o', 'json']));
    expect(spec.flowList[1]).toEqual(reference('Secret', 'keys'));
    await expect(asJane('get', 'shadow', '-A')).rejects.toThrow('at the cluster scope');
  });

  test('get --watch and wait follow the members', async () => {
    const set = { namespace: 'default', name: 'task2' };
    await makeSet(aggregated.plane, set, [nginxPod('nginx3')]);
    await eventually(() => kubectl(['get', 'shadow', 'task2']));
    const watching = spawn(server.assets.path('kubectl'), [
      `--kubeconfig=${aggregated.plane.kubeconfigPath}`,
      ...[
        'get',
        'shadow',
        // Of a single name, kubectl drops the first event of its watch: a change before the watch began would be lost.
        '--field-selector=metadata.name=task2',
        '--watch',
        '--no-headers',
        '-o',
        'custom-columns=R:.status.ready,N:.metadata.annotations.note,S:.status.members[*].state,H:.status.members[*].health',
      ],
    ]);
    onTestFinished(() => void watching.kill('SIGKILL'));
    let output = '';
    watching.stdout.on('data', (text: Buffer) => {
      output += text.toString('utf8');
    });
    const seen = (): readonly string[] =>
      output
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.trim().split(/ +/).join(' '));
    await eventually(() => expect(seen()).toEqual(['0/1 <none> Present InProgress']));
    const waiting = kubectl(['wait', '--for=condition=Ready', 'shadow/task2', '--timeout=60s']);
    const status = {
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [
          { name: 'nginx', ready: true, restartCount: 0, image: 'nginx', imageID: '', state: { running: {} } },
        ],
      },
    };
    await kubectl(['patch', 'pod', 'nginx3', '--subresource=status', '--type=merge', '-p', JSON.stringify(status)]);
    expect(await waiting).toContain('shadowresource.apis.abc.com/task2 condition met');
    await eventually(() => expect(seen().slice(1)).toEqual(['1/1 <none> Present Current']));
    // What was not submitted is not shown.
    await kubectl(['label', 'pod', 'nginx3', 'other=label']);
    await kubectl(['annotate', 'shadowrecord', 'task2', 'note=seen']);
    await eventually(() => expect(seen().slice(2)).toEqual(['1/1 seen Present Current']));
    await kubectl(['delete', 'pod', 'nginx3', '--now', '--wait=false']);
    await eventually(() => expect(seen().at(-1)).toMatch(/^0\/1 seen (Missing|Present Terminating)/));
    await kubectl(['delete', 'pod', 'nginx3', '--force', '--ignore-not-found']);
    await eventually(async () =>
      expect((await task('task2')).status.conditions[0]).toMatchObject({
        status: 'False',
        reason: 'MemberMissing',
        message: 'Pod nginx3 is gone.',
      }),
    );
    await eventually(() => expect(seen().at(-1)).toBe('0/1 seen Missing <none>'));
    await kubectl(['apply', '-f', '-'], JSON.stringify(nginxPod('nginx3')));
    await eventually(() => expect(seen().at(-1)).toBe('0/1 seen Replaced <none>'));
    expect((await task('task2')).spec.flowList).toEqual([]);
    await kubectl(['delete', 'shadowrecord', 'task2']);
    await eventually(() => expect(kubectl(['get', 'shadow', 'task2'])).rejects.toThrow('not found'));
  });

  test('a record that cannot be read stands alone', async () => {
    const record = handMadeRecord({ namespace: 'default', name: 'broken' }, [
      { version: 'v1', kind: 'Pod', resource: 'pods', namespace: 'shop', name: 'x' },
    ]);
    await kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(record));
    await eventually(async () =>
      expect((await task('broken')).status).toMatchObject({
        phase: 'Unknown',
        conditions: [{ status: 'Unknown', reason: 'RecordInvalid', message: expect.stringContaining('namespace') }],
      }),
    );
    expect((await task()).spec.flowList).toHaveLength(2);
  });
});
