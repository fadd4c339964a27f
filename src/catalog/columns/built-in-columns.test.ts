/** test/columns/columns.real.test.ts compares the cells with those of real API servers. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePath } from '../tree/path.ts';
import { parseExact } from '../values/values.ts';
import { type BuiltInColumn, cellReader } from './built-in-column.ts';
import { builtInColumns } from './built-in-columns.ts';

const kinds = [
  ...['pods', 'services', 'endpoints', 'configmaps', 'secrets', 'nodes', 'namespaces', 'events', 'serviceaccounts'],
  ...['persistentvolumes', 'persistentvolumeclaims', 'replicationcontrollers', 'podtemplates', 'resourcequotas'],
  ...['limitranges', 'componentstatuses', 'deployments.apps', 'replicasets.apps', 'statefulsets.apps'],
  ...['daemonsets.apps', 'controllerrevisions.apps', 'jobs.batch', 'cronjobs.batch', 'poddisruptionbudgets.policy'],
  'horizontalpodautoscalers.autoscaling',
  'ingresses.networking.k8s.io',
  'ingressclasses.networking.k8s.io',
  'networkpolicies.networking.k8s.io',
  'ipaddresses.networking.k8s.io',
  'servicecidrs.networking.k8s.io',
  'endpointslices.discovery.k8s.io',
  'storageclasses.storage.k8s.io',
  'volumeattachments.storage.k8s.io',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'certificatesigningrequests.certificates.k8s.io',
  'podcertificaterequests.certificates.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'apiservices.apiregistration.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
  'priorityclasses.scheduling.k8s.io',
  'leases.coordination.k8s.io',
  'leasecandidates.coordination.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'storageversionmigrations.storagemigration.k8s.io',
  'resourceclaims.resource.k8s.io',
  'devicetaintrules.resource.k8s.io',
  'compositepodgroups.scheduling.k8s.io',
];

function columnsOf(key: string): readonly BuiltInColumn[] {
  return builtInColumns(key) ?? [];
}

/** The cells of an object, by the names of the columns. */
function cellsOf(key: string, body: unknown): Record<string, unknown> {
  return Object.fromEntries(columnsOf(key).map((column) => [column.name, cellReader(column)(body)]));
}

function isOfType(type: string, cell: unknown): boolean {
  if (cell === null) return true;
  if (type === 'integer') return Number.isInteger(cell) || (typeof cell === 'string' && /^-?\d+$/.test(cell));
  return typeof cell === (type === 'boolean' ? 'boolean' : 'string');
}

test.each(kinds)('%s has columns that read paths of fields', (key) => {
  const columns = columnsOf(key);
  expect(columns.length).toBeGreaterThan(1);
  expect(new Set(columns.map(({ name }) => name)).size).toBe(columns.length);
  expect(columns.some(({ format }) => format === 'name') || key.startsWith('storageversion')).toBe(true);
  for (const { from, since } of columns) {
    for (const path of [...from, ...(since === undefined ? [] : [since])]) {
      expect(parsePath(path).steps.every(({ kind }) => kind === 'field')).toBe(true);
    }
  }
});

test.each(['foos.a.io', 'constructor', '__proto__'])('nothing is known of %s', (key) => {
  expect(builtInColumns(key)).toBeUndefined();
});

const terminated = { terminated: { exitCode: 1, reason: 'Error', finishedAt: '2026-01-01T00:00:00Z' } };

describe('an object in a state that its fields do not say', () => {
  test.each<readonly [kind: string, body: object, cells: object]>([
    [
      'pods',
      {
        spec: { containers: [{ name: 'a' }] },
        status: {
          phase: 'Running',
          containerStatuses: [
            { restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: terminated },
          ],
        },
      },
      { Ready: '0/1', Status: 'CrashLoopBackOff', Restarts: '4', Node: '<none>' },
    ],
    [
      'pods',
      { spec: { containers: [{}, {}], initContainers: [{ name: 'i' }] }, status: { initContainerStatuses: [{}] } },
      { Ready: '0/2', Status: 'Init:0/1' },
    ],
    ['pods', { metadata: { deletionTimestamp: 'x' }, status: { phase: 'Running' } }, { Status: 'Terminating' }],
    [
      'deployments.apps',
      { spec: { replicas: 3 } },
      { Ready: '0/3', 'Up-to-date': 0, Available: 0, Selector: '<none>' },
    ],
    ['jobs.batch', { spec: { completions: 1 } }, { Status: 'Running', Completions: '0/1', Duration: '' }],
    ['jobs.batch', { status: { startTime: '2026-01-01T00:00:00Z' } }, { Duration: null }],
    [
      'jobs.batch',
      { status: { startTime: '2026-01-01T00:00:00Z', completionTime: '2026-01-01T00:05:07Z' } },
      { Duration: '5m7s' },
    ],
    ['configmaps', { data: { a: '1' }, binaryData: { b: '' } }, { Data: 2 }],
    [
      'poddisruptionbudgets.policy',
      { spec: { minAvailable: '50%' } },
      { 'Min Available': '50%', 'Max Unavailable': 'N/A' },
    ],
    ['services', { spec: { type: 'ClusterIP', ports: [{ port: 443, protocol: 'TCP' }] } }, { 'Port(s)': '443/TCP' }],
    ['nodes', { spec: { unschedulable: true } }, { Status: 'Unknown,SchedulingDisabled', Roles: '<none>' }],
    [
      'storageclasses.storage.k8s.io',
      { metadata: { name: 'a', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } } },
      { Name: 'a (default)', AllowVolumeExpansion: false },
    ],
    [
      'events',
      {
        involvedObject: { kind: 'Pod', name: 'a' },
        eventTime: '2026-01-01T00:00:00.000001Z',
        series: { count: 3, lastObservedTime: '2026-01-01T00:00:09.000001Z' },
      },
      {
        'Last Seen': '2026-01-01T00:00:09.000001Z',
        'First Seen': '2026-01-01T00:00:00.000001Z',
        Count: 3,
        Object: 'pod/a',
      },
    ],
  ])('%s %j', (kind, body, cells) => {
    expect(cellsOf(kind, body)).toMatchObject(cells);
  });
});

test('the state of a claim, of a migration and of a certificate is that of the server', () => {
  const claim = (status: object, metadata = {}): unknown =>
    cellsOf('resourceclaims.resource.k8s.io', { metadata, status })['State'];
  const gone = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  expect(claim({})).toBe('pending');
  expect(claim({ allocation: {}, reservedFor: [{}] })).toBe('allocated,reserved');
  expect(claim({ allocation: {} }, gone)).toBe('deleted,allocated');
  expect(claim({}, gone)).toBe('deleted');
  const conditions = [
    { type: 'Running', status: 'True' },
    { type: 'Succeeded', status: 'True' },
    { type: 'Failed', status: 'False' },
  ];
  const migration = { spec: { resource: { group: 'apps', resource: 'deployments' } }, status: { conditions } };
  expect(cellsOf('storageversionmigrations.storagemigration.k8s.io', migration)).toMatchObject({
    Resource: 'deployments.apps',
    Status: 'Succeeded',
  });
  const approved = { conditions: [{ type: 'Approved' }, { type: 'Failed' }], certificate: 'eA==' };
  const request = { spec: { expirationSeconds: 86_400 }, status: approved };
  expect(cellsOf('certificatesigningrequests.certificates.k8s.io', request)).toMatchObject({
    RequestedDuration: '24h',
    Condition: 'Approved,Failed,Issued',
  });
});

test('integers beyond 2^53 keep their digits', () => {
  const body = parseExact('{"revision": 9007199254740993, "spec": {"replicas": 9007199254740993}}');
  expect(cellsOf('controllerrevisions.apps', body)['Revision']).toBe('9007199254740993');
  expect(cellsOf('deployments.apps', body)['Ready']).toBe('0/9007199254740993');
});

describe('whatever an object has', () => {
  const words = [
    'conditions',
    'type',
    'status',
    'name',
    'Ready',
    'True',
    'spec',
    'containers',
    'constructor',
    '__proto__',
  ];
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e300, '', ...words),
      fc.string(),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...words), tie('any'), { maxKeys: 4 }),
    ),
  })).any;

  /** An object with a random value at each place that a column reads. */
  function bodyOf(columns: readonly BuiltInColumn[], values: readonly unknown[]): unknown {
    const root: Record<string, unknown> = {};
    for (const [index, path] of [...new Set(columns.flatMap(({ from }) => from))].entries()) {
      const names = path.split('.');
      let parent = root;
      for (const name of names.slice(0, -1)) {
        const below = parent[name];
        const isObject = typeof below === 'object' && below !== null && !Array.isArray(below);
        if (!isObject) parent[name] = {};
        parent = parent[name] as Record<string, unknown>;
      }
      parent[names.at(-1) ?? ''] = values[index % values.length];
    }
    return root;
  }

  test.each(kinds)('a cell of %s has the type of its column', (key) => {
    const columns = columnsOf(key);
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 12 }), (values) => {
        for (const body of [bodyOf(columns, values), values[0]]) {
          for (const column of columns) {
            const cell = cellReader(column)(body);
            expect(isOfType(column.type, cell), `${column.name}: ${JSON.stringify(cell)}`).toBe(true);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
