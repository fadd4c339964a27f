/** kubectl writes sets through kube-apiserver: as users with different rights, with conflicts, dry runs, Secrets and finalizers. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { nginxPod } from '../kit/shadow-records.ts';

const tokens = { jane: 'token-of-jane', bob: 'token-of-bob' };

describeOn([mainServer, oldServer], 'writes of sets', { timeout: 90_000, needs: ['kubectl'] }, (server) => {
  let aggregated: AggregatedPlane;
  const admin = (args: readonly string[], stdin?: string): Promise<string> => aggregated.plane.kubectl(args, stdin);
  /** kubectl as jane, who may do everything by RBAC. */
  const kubectl = async (args: readonly string[], stdin?: unknown): Promise<string> => {
    const text = typeof stdin === 'string' || stdin === undefined ? stdin : JSON.stringify(stdin);
    return (await admin([`--token=${tokens.jane}`, ...args], text)).trim();
  };
  const asBob = (args: readonly string[], stdin?: unknown): Promise<string> =>
    admin([`--token=${tokens.bob}`, ...args], stdin === undefined ? undefined : JSON.stringify(stdin));
  const json = async (...args: readonly string[]) => JSON.parse(await kubectl(['get', ...args, '-o', 'json']));
  const set = (name: string, flowList: readonly object[], metadata: object = {}) => ({
    apiVersion: 'apis.abc.com/v1',
    kind: 'ShadowResource',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { flowList },
  });
  const config = (name: string, a: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', ...more },
    data: { a },
  });
  const gone = async (...args: readonly string[]): Promise<void> => {
    await eventually(() => expect(kubectl(['get', ...args])).rejects.toThrow('not found'));
  };

  /** `ApplyFailed`, for each Event of a set. */
  const reasons = (name: string, namespace = 'default'): Promise<string> => {
    const selector = `--field-selector=involvedObject.kind=ShadowResource,involvedObject.name=${name}`;
    return kubectl(['get', 'events', '-n', namespace, selector, '-o', 'jsonpath={.items[*].reason}']);
  };
  /** Writes a set, and waits for its Event: by then, Events of earlier writes are there too. */
  const lateEvent = async (name: string): Promise<void> => {
    await kubectl(['create', '-f', '-'], set(name, [config(`${name}-a`, 'x')]));
    await eventually(async () => expect(await reasons(name)).toBe('Applied'));
  };

  beforeAll(async () => {
    aggregated = await startAggregatedPlane({
      server,
      group: 'apis.abc.com',
      version: 'v1',
      flags: { impersonate: server.impersonation },
      users: [
        { token: tokens.jane, user: 'jane', groups: ['devs'] },
        { token: tokens.bob, user: 'bob', groups: ['devs'] },
      ],
      auditRules: [
        { level: 'None', verbs: ['get', 'list', 'watch'] },
        { level: 'Metadata', omitStages: ['RequestReceived'] },
      ],
      prepare: async (plane) => {
        await plane.kubectl(['create', 'clusterrolebinding', 'jane', '--clusterrole=cluster-admin', '--user=jane']);
        await plane.kubectl(['create', 'serviceaccount', 'default', '-n', 'default']).catch(() => '');
      },
    });
    const role = [
      ...['create', 'role', 'bob', '--verb=get,list,watch,create,update,patch,delete'],
      '--resource=shadowresources.apis.abc.com,configmaps',
    ];
    await eventually(() => admin(role));
    await admin(['create', 'rolebinding', 'bob', '--role=bob', '--user=bob']);
    await eventually(() => kubectl(['get', 'shadowresources', '-A']));
  }, 240_000);
  afterAll(() => aggregated?.stop(), 60_000);

  const task1 = set('task1', [nginxPod('nginx1'), nginxPod('nginx2', { foo1: 'bar2' })]);

  test('create, and what is created is what was submitted', async () => {
    expect(await kubectl(['create', '--validate=strict', '-f', '-'], task1)).toBe(
      'shadowresource.apis.abc.com/task1 created',
    );
    expect((await json('shadow', 'task1')).spec).toEqual(task1.spec);
    expect((await json('pod', 'nginx2')).metadata).toMatchObject({
      annotations: { foo1: 'bar2' },
      ownerReferences: [{ kind: 'ShadowRecord', name: 'task1' }],
      labels: { 'applyset.kubernetes.io/part-of': expect.stringMatching(/^applyset-.*-v1$/) },
    });
    await expect(kubectl(['create', '-f', '-'], task1)).rejects.toThrow(
      'shadowresources.apis.abc.com "task1" already exists',
    );
    expect(await kubectl(['delete', 'shadow', 'task1'])).toContain('"task1" deleted');
    await gone('shadow', 'task1');
    await gone('pod', 'nginx1');
    for (const outcome of ['created', 'unchanged']) {
      expect(await kubectl(['apply', '-f', '-'], task1)).toBe(`shadowresource.apis.abc.com/task1 ${outcome}`);
    }
    expect(await kubectl(['diff', '-f', '-'], task1)).toBe('');
  });

  test('apply: created, unchanged; diff is empty, and one line after a drift; apply takes it back', async () => {
    const file = JSON.stringify(set('app', [config('app-a', 'one'), config('app-b', 'two')]));
    const apply = (): Promise<string> => kubectl(['apply', '-f', '-'], file);
    /** The changed lines of `kubectl diff`. */
    const diff = async (): Promise<readonly string[]> => {
      const args = [`--kubeconfig=${aggregated.plane.kubeconfigPath}`, `--token=${tokens.jane}`, 'diff', '-f', '-'];
      const child = spawn(server.assets.path('kubectl'), args, { stdio: ['pipe', 'pipe', 'inherit'] });
      child.stdin.end(file);
      const output = await readText(child.stdout);
      return output.split('\n').filter((line) => /^[-+](?![-+])/.test(line));
    };
    expect(await apply()).toBe('shadowresource.apis.abc.com/app created');
    const versions = async () => (await json('configmap', 'app-a', 'app-b')).items.map(versionOf);
    const before = await versions();
    const generation = (await json('shadow', 'app')).metadata.generation;
    expect(await apply()).toBe('shadowresource.apis.abc.com/app unchanged');
    expect(await diff()).toEqual([]);
    expect(await versions()).toEqual(before);
    await kubectl(['patch', 'configmap', 'app-b', '--type=merge', '-p', '{"data":{"a":"drifted"}}']);
    await eventually(async () => expect((await json('shadow', 'app')).spec.flowList[1].data).toEqual({ a: 'drifted' }));
    expect((await diff()).map((line) => line.replace(/\s+/g, ' '))).toEqual(['- a: drifted', '+ a: two']);
    expect(await apply()).toBe('shadowresource.apis.abc.com/app configured');
    expect((await json('configmap', 'app-b')).data).toEqual({ a: 'two' });
    expect(await diff()).toEqual([]);
    // The member that did not differ was not written.
    expect((await versions())[0]).toBe(before[0]);
    expect((await json('shadow', 'app')).metadata.generation).toBe(generation + 1);
  });

  test('server-side apply: dry run, conflicts, --force-conflicts', async () => {
    const file = (a: string) => set('ssa', [config('ssa-a', a)]);
    const apply = (a: string, ...args: readonly string[]): Promise<string> =>
      kubectl(['apply', '--server-side', '-f', '-', ...args], file(a));
    expect(await apply('one', '--dry-run=server')).toBe(
      'shadowresource.apis.abc.com/ssa serverside-applied (server dry run)',
    );
    await gone('shadow', 'ssa');
    await gone('configmap', 'ssa-a');
    expect(await apply('one')).toBe('shadowresource.apis.abc.com/ssa serverside-applied');
    const planned = JSON.parse(await apply('planned', '--dry-run=server', '-o', 'json'));
    expect(planned.spec.flowList[0]).toEqual(config('ssa-a', 'planned'));
    expect((await json('configmap', 'ssa-a')).data).toEqual({ a: 'one' });
    await kubectl(
      ['apply', '--server-side', '--field-manager=other', '--force-conflicts', '-f', '-'],
      config('ssa-a', 'taken'),
    );
    await eventually(async () => expect((await json('shadow', 'ssa')).spec.flowList[0].data).toEqual({ a: 'taken' }));
    await expect(apply('mine')).rejects.toThrow(
      /Apply failed with 1 conflict: conflict with "other": spec\.flowList\[0\]\.data\.a/,
    );
    expect((await json('configmap', 'ssa-a')).data).toEqual({ a: 'taken' });
    await apply('mine', '--force-conflicts');
    expect((await json('configmap', 'ssa-a')).data).toEqual({ a: 'mine' });
    expect((await json('shadow', 'ssa')).spec.flowList).toEqual([config('ssa-a', 'mine')]);
  });

  test('patches, label, annotate and replace; what leaves is deleted; strategic patches are refused', async () => {
    await kubectl(['create', '-f', '-'], set('edit', [config('edit-a', 'one'), config('edit-b', 'two')]));
    const version = async () => versionOf(await json('configmap', 'edit-a'));
    const before = await version();
    const patch = (type: string, body: unknown): Promise<string> =>
      kubectl(['patch', 'shadow', 'edit', `--type=${type}`, '-p', JSON.stringify(body)]);
    expect(await patch('json', [{ op: 'replace', path: '/spec/flowList/1/data/a', value: 'three' }])).toBe(
      'shadowresource.apis.abc.com/edit patched',
    );
    expect((await json('configmap', 'edit-b')).data).toEqual({ a: 'three' });
    await expect(patch('json', [{ op: 'test', path: '/metadata/name', value: 'other' }])).rejects.toThrow(
      'the server rejected our request',
    );
    await patch('merge', { spec: { flowList: [config('edit-a', 'one'), config('edit-c', 'new')] } });
    await gone('configmap', 'edit-b');
    expect((await json('configmap', 'edit-c')).data).toEqual({ a: 'new' });
    await expect(patch('strategic', { metadata: { labels: { a: 'b' } } })).rejects.toThrow(/unknown format|415/);
    expect(await kubectl(['label', 'shadow', 'edit', 'tier=front'])).toContain('labeled');
    expect(await kubectl(['annotate', 'shadow', 'edit', 'note=x'])).toContain('annotated');
    const record = await json('shadowrecord', 'edit');
    expect(record.metadata).toMatchObject({ labels: { tier: 'front' }, annotations: { note: 'x' } });
    await kubectl(['label', 'shadow', 'edit', 'tier-']);
    const now = await json('shadow', 'edit');
    expect(now.metadata.labels).toBeUndefined();
    expect(now.spec.flowList).toEqual([config('edit-a', 'one'), config('edit-c', 'new')]);
    // No member was written by any of this but those that changed.
    expect(await version()).toBe(before);
    const next = { ...now, spec: { flowList: [config('edit-c', 'newer'), now.spec.flowList[0]] } };
    expect(await kubectl(['replace', '-f', '-'], next)).toBe('shadowresource.apis.abc.com/edit replaced');
    expect((await json('shadow', 'edit')).spec.flowList).toEqual(next.spec.flowList);
    await expect(kubectl(['replace', '-f', '-'], next)).rejects.toThrow('the object has been modified');
    const other = { ...next, metadata: { name: 'edit', namespace: 'default', uid: 'another' } };
    await expect(kubectl(['replace', '-f', '-'], other)).rejects.toThrow('UID in precondition: another');
    await expect(kubectl(['replace', '-f', '-'], set('none', []))).rejects.toThrow('"none" not found');
  });

  test('a wrong body is refused with its fields, and nothing is written', async () => {
    const create = (body: object, ...args: readonly string[]): Promise<string> =>
      kubectl(['create', '--validate=false', '-f', '-', ...args], body);
    await expect(create(set('bad', [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }]))).rejects.toThrow(
      /The ShadowResource "bad" is invalid: spec\.flowList\[0\]\.metadata\.name/,
    );
    const unknown = { ...set('bad', []), spec: { flowList: [], flows: 1 } };
    await expect(kubectl(['create', '--validate=strict', '-f', '-'], unknown)).rejects.toThrow(
      'unknown field "spec.flows"',
    );
    await expect(create({ ...set('bad', []), spec: {} })).rejects.toThrow(/spec\.flowList: Required value/);
    const large = set('bad', [config('bad-a', 'x'.repeat(3 * 2 ** 20))]);
    await expect(create(large)).rejects.toThrow('The body has more than 3145728 bytes');
    const pod = { ...nginxPod('bad'), spec: { containers: [{ name: 'c', image: 'c', wrong: 1 }] } };
    await expect(create(set('bad', [config('bad-a', 'x'), pod]))).rejects.toThrow(/spec\.flowList\[1\]/);
    await expect(create(set('bad', [config('bad-a', 'x'), config('bad-a', 'y')]))).rejects.toThrow('Duplicate value');
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' }, rules: [] };
    await expect(create(set('bad', [role]))).rejects.toThrow(/spec\.flowList\[0\]\.kind: A Role cannot be a member/);
    for (const name of ['Bad_Name', 'x'.repeat(254)]) {
      const path = '/apis/apis.abc.com/v1/namespaces/default/shadowresources';
      const file = JSON.stringify({ ...set('bad', []), metadata: { name } });
      await expect(kubectl(['create', '--raw', path, '-f', '-'], file)).rejects.toThrow(/is invalid: metadata\.name: /);
    }
    const long = `${'long-'.repeat(50)}abc`;
    await kubectl(['create', '-f', '-'], set(long, [config('long', 'x')]));
    expect(await kubectl(['label', 'shadow', long, 'a=b'])).toContain('labeled');
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], set(long, [config('long', 'y')]));
    await kubectl(['delete', 'shadow', long]);
    await gone('configmap', 'long');
    const nowhere = { ...set('bad', []), metadata: { name: 'bad', namespace: 'nowhere' } };
    await expect(create(nowhere)).rejects.toThrow('namespaces "nowhere" not found');
    await gone('configmap', 'bad-a');
    await gone('shadowrecord', 'bad');
  });

  test('generateName, and an object that is no member is taken only with the annotation', async () => {
    const named = await kubectl(['create', '-f', '-', '-o', 'name'], {
      ...set('', [config('generated', 'x')]),
      metadata: { generateName: 'made-', namespace: 'default' },
    });
    expect(named).toMatch(/^shadowresource\.apis\.abc\.com\/made-[a-z0-9]{5}$/);
    await kubectl(['create', '-f', '-'], config('there', 'before'));
    const wanted = set('taker', [config('there', 'after')]);
    await expect(kubectl(['create', '-f', '-'], wanted)).rejects.toThrow(
      /AlreadyExists.*spec\.flowList\[0\], ConfigMap there: .*annotation shadow\.portolan\.dev\/adopt/s,
    );
    expect((await json('configmap', 'there')).data).toEqual({ a: 'before' });
    await kubectl(['create', '-f', '-'], {
      ...wanted,
      metadata: { ...wanted.metadata, annotations: { 'shadow.portolan.dev/adopt': 'true' } },
    });
    expect((await json('configmap', 'there')).data).toEqual({ a: 'after' });
  });

  test('a member that the caller may not write refuses the whole; others see what they may see', async () => {
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'pin', namespace: 'default' },
      stringData: { pin: '1234' },
    };
    const both = set('mixed', [config('mixed-a', 'one'), secret]);
    await expect(asBob(['create', '-f', '-'], both)).rejects.toThrow(
      /Forbidden.*spec\.flowList\[1\], Secret pin: .*User "bob" cannot (get|patch|create) resource "secrets"/s,
    );
    await gone('configmap', 'mixed-a');
    await gone('shadowrecord', 'mixed');
    expect(await kubectl(['apply', '-f', '-'], both)).toContain('created');
    const record = await kubectl(['get', 'shadowrecord', 'mixed', '-o', 'json']);
    expect(record).not.toMatch(/1234|MTIzNA==/);
    expect(JSON.parse(record).spec.lastApplied).toContain('mixed-a');
    const seen = JSON.parse(await asBob(['get', 'shadow', 'mixed', '-o', 'json']));
    expect(seen.spec.flowList).toEqual([
      config('mixed-a', 'one'),
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pin', namespace: 'default' } },
    ]);
    // A member that he does not see stays as it is; the other one is his to change.
    const { resourceVersion: _resourceVersion, ...metadata } = seen.metadata;
    await asBob(['replace', '-f', '-'], {
      ...seen,
      metadata,
      spec: { flowList: [config('mixed-a', 'two'), seen.spec.flowList[1]] },
    });
    expect((await json('configmap', 'mixed-a')).data).toEqual({ a: 'two' });
    expect((await json('secret', 'pin')).data).toEqual({ pin: 'MTIzNA==' });
    const changed = { ...seen.spec.flowList[1], data: { other: 'eA==' } };
    await expect(
      asBob(['replace', '-f', '-'], { ...seen, metadata, spec: { flowList: [config('mixed-a', 'x'), changed] } }),
    ).rejects.toThrow(/spec\.flowList\[1\]: you do not get this member whole/);
    await expect(asBob(['delete', 'shadow', 'mixed'])).rejects.toThrow(/Secret pin: .*"bob" cannot/);
    expect((await json('shadow', 'mixed')).status.phase).toBe('Applied');
  });

  test('get -o yaml | replace -f - leaves a Secret byte-equal', async () => {
    const data = { key: Buffer.from([0, 255, 10]).toString('base64'), other: 'eA==' };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bytes', namespace: 'default' }, data };
    await kubectl(['create', '-f', '-'], set('round', [secret]));
    const before = await json('secret', 'bytes');
    const yaml = await kubectl(['get', 'shadow', 'round', '-o', 'yaml']);
    expect(yaml).toContain(data.key);
    expect(await kubectl(['replace', '-f', '-'], yaml)).toContain('replaced');
    expect(await json('secret', 'bytes')).toEqual(before);
  });

  test('delete: background, foreground, orphan, dry run, by label; preconditions and finalizers', async () => {
    const make = async (name: string, metadata: object = {}): Promise<void> => {
      await kubectl(['create', '-f', '-'], set(name, [config(`${name}-a`, 'x')], metadata));
    };
    await make('background', { labels: { batch: 'one' } });
    expect(await kubectl(['delete', 'shadow', 'background', '--dry-run=server'])).toContain('(server dry run)');
    expect((await json('configmap', 'background-a')).data).toEqual({ a: 'x' });
    expect(await kubectl(['delete', 'shadow', '-l', 'batch=one'])).toContain('"background" deleted');
    await gone('configmap', 'background-a');
    await make('foreground');
    await kubectl(['delete', 'shadow', 'foreground', '--cascade=foreground']);
    await gone('shadow', 'foreground');
    // Without a garbage collector, the API server keeps the member that waits for what it owns.
    expect((await json('configmap', 'foreground-a')).metadata.finalizers).toEqual(['foregroundDeletion']);
    await make('orphan');
    await kubectl(['delete', 'shadow', 'orphan', '--cascade=orphan']);
    await gone('shadow', 'orphan');
    const left = await json('configmap', 'orphan-a');
    expect(left.metadata).not.toHaveProperty('ownerReferences');
    expect(left.metadata).not.toHaveProperty('labels');
    await make('held', { finalizers: ['example.com/hold'] });
    await kubectl(['delete', 'shadow', 'held', '--wait=false']);
    await gone('configmap', 'held-a');
    expect((await json('shadow', 'held')).metadata).toMatchObject({
      finalizers: ['example.com/hold'],
      deletionTimestamp: expect.any(String),
    });
    await kubectl(['patch', 'shadow', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    await gone('shadow', 'held');
    await make('all-one', { labels: { batch: 'two' } });
    await make('all-two', { labels: { batch: 'two' } });
    const path = '/apis/apis.abc.com/v1/namespaces/default/shadowresources?labelSelector=batch%3Dtwo';
    expect(await kubectl(['delete', '--raw', path])).toContain('ShadowResourceList');
    await gone('configmap', 'all-one-a');
    await gone('configmap', 'all-two-a');
    await expect(kubectl(['delete', 'shadow', 'none'])).rejects.toThrow('"none" not found');
  });

  test('a deletion that was cut off before its deletionTimestamp: nothing is applied, and a deletion finishes it', async () => {
    await kubectl(['create', '-f', '-'], set('halfway', [config('halfway-a', 'x')]));
    const patch = '{"metadata":{"finalizers":["portolan.dev/members"]},"spec":{"phase":"Deleting"}}';
    await admin(['patch', 'shadowrecords.portolan.dev', 'halfway', '-n', 'default', '--type=merge', '-p', patch]);
    await eventually(async () => expect((await json('shadow', 'halfway')).status.phase).toBe('Deleting'));
    await expect(kubectl(['label', 'shadow', 'halfway', 'a=b'])).rejects.toThrow('being deleted');
    await expect(
      kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], set('halfway', [config('halfway-a', 'y')])),
    ).rejects.toThrow('being deleted');
    await kubectl(['delete', 'shadow', 'halfway']);
    await gone('configmap', 'halfway-a');
    await lateEvent('halfway-late');
    expect(await reasons('halfway')).toBe('Applied');
  });

  // Kubernetes 1.20 has no policies.
  test.skipIf(server === oldServer)('a deletion that a policy stops after its dry run has an Event', async () => {
    const names = { group: 'admissionregistration.k8s.io', name: 'stays' };
    const policies = [
      {
        kind: 'ValidatingAdmissionPolicy',
        spec: {
          matchConstraints: {
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] },
            ],
          },
          validations: [{ expression: "request.dryRun || !(request.name in ['probe', 'stays-a'])" }],
        },
      },
      { kind: 'ValidatingAdmissionPolicyBinding', spec: { policyName: names.name, validationActions: ['Deny'] } },
    ].map((each) => ({ apiVersion: `${names.group}/v1`, metadata: { name: names.name }, ...each }));
    for (const each of policies) await kubectl(['create', '-f', '-'], each);
    await eventually(async () => {
      await kubectl(['apply', '-f', '-'], config('probe', 'x'));
      await expect(kubectl(['delete', 'configmap', 'probe'])).rejects.toThrow('denied request');
    });
    await kubectl(['create', '-f', '-'], set('stays', [config('stays-a', 'x'), config('stays-b', 'x')]));
    await expect(kubectl(['delete', 'shadow', 'stays'])).rejects.toThrow(/ConfigMap stays-a: .*denied request/);
    await eventually(async () =>
      expect(await kubectl(['describe', 'shadow', 'stays'])).toMatch(
        /Warning +DeletionFailed +\S+ +portolan +ConfigMap stays-a: DENIED\. 1 member deleted\./,
      ),
    );
    for (const { kind } of policies) await kubectl(['delete', kind, names.name]);
    await eventually(() => kubectl(['delete', 'configmap', 'probe']));
    await kubectl(['delete', 'shadow', 'stays']);
    await gone('shadow', 'stays');
  });

  test('describe shows what writes have done, and the member that a quota has stopped', async () => {
    await kubectl(['create', 'namespace', 'narrow']);
    const quota = ['create', 'quota', 'narrow', '-n', 'narrow', '--hard=count/configmaps=1'];
    // Without a controller, the status of a quota stays as it is written.
    await kubectl(quota);
    const setUsed = async (used: string): Promise<void> => {
      const status = { status: { hard: { 'count/configmaps': '1' }, used: { 'count/configmaps': used } } };
      await kubectl([
        ...['patch', 'resourcequota', 'narrow', '-n', 'narrow', '--type=merge', '--subresource=status'],
        ...['-p', JSON.stringify(status)],
      ]);
    };
    const inside = (name: string, a: string) => ({
      ...config(name, a),
      metadata: { name, namespace: 'narrow' },
    });
    const planned = (): Promise<string> => kubectl(['create', '--dry-run=server', '-f', '-'], inside('probe', 'x'));
    // The API server looks at the quota as its informer has it.
    await setUsed('1');
    await eventually(() => expect(planned()).rejects.toThrow('exceeded quota'));
    await setUsed('0');
    await eventually(planned);
    const both = {
      ...set('full', [inside('first', 'one'), inside('second', 'two')]),
      metadata: { name: 'full', namespace: 'narrow' },
    };
    await expect(kubectl(['create', '-f', '-'], both)).rejects.toThrow(/exceeded quota/);
    const described = async (expected: RegExp): Promise<void> =>
      eventually(async () => expect(await kubectl(['describe', 'shadow', 'full', '-n', 'narrow'])).toMatch(expected));
    await described(/Warning +ApplyFailed +\S+ +portolan +ConfigMap (first|second): DENIED\. 1 member created\./);
    // What is refused by the dry runs is no Event, also if an earlier write has begun.
    const apply = (body: object): Promise<string> =>
      kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], body);
    const wrong = { ...both, spec: { flowList: [{ ...inside('first', 'x'), data: { a: 1 } }] } };
    expect((await json('shadow', 'full', '-n', 'narrow')).status.phase).toBe('Applying');
    await expect(apply(wrong)).rejects.toThrow('data');
    await kubectl(['delete', 'quota', 'narrow', '-n', 'narrow']);
    await eventually(planned);
    await apply(both);
    await described(/Normal +Applied +\S+ +portolan +1 member created\./);
    await expect(apply(wrong)).rejects.toThrow('data');
    await lateEvent('full-late');
    expect((await reasons('full', 'narrow')).split(' ').toSorted()).toEqual(['Applied', 'ApplyFailed']);
  });

  test('a terminating namespace gets no set', async () => {
    await kubectl(['create', 'namespace', 'ending']);
    await kubectl([
      'patch',
      'namespace',
      'ending',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":["example.com/hold"]}}',
    ]);
    await kubectl(['delete', 'namespace', 'ending', '--wait=false']);
    const body = { ...set('late', []), metadata: { name: 'late', namespace: 'ending' } };
    await expect(kubectl(['create', '-f', '-'], body)).rejects.toThrow(
      /shadowresources\.apis\.abc\.com "late" is forbidden: unable to create new content in namespace ending because it is being terminated/,
    );
  });

  test('the audit of the API server: members are written as the caller, records by the account of Portolan', async () => {
    const lines = readFileSync(join(aggregated.plane.dir, 'audit.log'), 'utf8').trim().split('\n');
    const writes = lines
      .map((line) => JSON.parse(line))
      .filter(({ userAgent, stage }) => stage === 'ResponseComplete' && /portolan/i.test(userAgent ?? ''));
    const byPortolan = writes.filter(
      ({ impersonatedUser, requestURI }) => impersonatedUser === undefined && !/review/i.test(requestURI),
    );
    expect(byPortolan.length).toBeGreaterThan(0);
    expect(new Set(byPortolan.map(({ objectRef }) => objectRef.resource))).toEqual(
      new Set(['shadowrecords', 'events']),
    );
    const events = byPortolan.filter(({ objectRef }) => objectRef.resource === 'events');
    expect(new Set(events.map(({ verb }) => verb))).toEqual(new Set(['create']));
    const impersonated = writes.filter(({ impersonatedUser }) => impersonatedUser !== undefined);
    expect(new Set(impersonated.map(({ impersonatedUser }) => impersonatedUser.username))).toEqual(
      new Set(['jane', 'bob']),
    );
    expect(impersonated.some(({ objectRef }) => objectRef?.resource === 'shadowrecords')).toBe(false);
    expect(impersonated.some(({ objectRef }) => objectRef?.resource === 'secrets')).toBe(true);
  });
});

function versionOf({ metadata }: { readonly metadata: { readonly resourceVersion: string } }): string {
  return metadata.resourceVersion;
}
