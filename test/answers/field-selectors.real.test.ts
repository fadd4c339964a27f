/**
 * Field selectors of built-in kinds against a real server. The server itself tells which labels it takes: each path of each kind is tried, and
 * the labels that are no path. For each label that it takes, the gateway finds the same objects.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { apiRequest } from '../kit/api-request.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import * as manifests from '../kit/manifests.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { variety } from '../kit/varied-objects.ts';

type Json = Readonly<Record<string, unknown>>;

interface Kind {
  readonly key: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly list: string;
  readonly type: string;
  readonly fields: readonly { readonly path: string }[];
}

/** Labels that API servers take or took, and that are no path of a value, beside some that they do not take. */
const otherLabels = ['source', 'status.successful', 'spec.host', 'status.podIPs', 'name', 'status.successfull'];
const operators = ['=', '==', '!='];
const commonValues = ['', '0', '1', '01', 'true', 'false', 'no', 'None', 'x'];

function event(name: string, more: Json): object {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'selected' },
    involvedObject: { kind: 'Pod', namespace: 'selected', name: 'rich', uid: 'u1', fieldPath: 'spec.containers{a}' },
    type: 'Warning',
    reason: 'Tested',
    ...more,
  };
}

const reported = {
  reportingComponent: 'scheduler',
  reportingInstance: 'one',
  action: 'Bind',
  eventTime: '2026-01-31T12:00:00.000000Z',
};
const objects = [
  manifests.namespace('selected'),
  ...variety('selected'),
  event('by-source', { source: { component: 'kubelet', host: 'n1' } }),
  event('by-reporter', reported),
  event('by-both', { ...reported, source: { component: 'kubelet' } }),
  event('by-nobody', { type: 'Normal', involvedObject: { namespace: 'selected' } }),
  {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name: 'rc', namespace: 'selected' },
    spec: {
      replicas: 0,
      selector: { app: 'rc' },
      template: { metadata: { labels: { app: 'rc' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  },
];
/** Only of newer servers. */
const slices = [{ nodeName: 'nowhere' }, { allNodes: true }].map((place, index) => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: { name: `slice-${index}` },
  spec: { ...place, driver: 'gpu.example.com', pool: { name: `p${index}`, generation: 1, resourceSliceCount: 1 } },
}));
const statuses: readonly (readonly [string, object])[] = [
  ['job/j', { succeeded: 1 }],
  [`pod/${must(manifests.ranks[3], 'a rank').name}`, { nominatedNodeName: 'elsewhere' }],
  [
    'pod/rich',
    {
      phase: 'Running',
      podIP: '10.0.0.5',
      podIPs: [{ ip: '10.0.0.5' }, { ip: 'fd00::5' }],
    },
  ],
];

describeOn([mainServer, oldServer], 'field selectors of built-in kinds', { timeout: 240_000 }, (server) => {
  let plane: ControlPlane;
  let gateway: RunningGateway;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    const all = server === mainServer ? [...objects, ...slices] : objects;
    await plane.kubectl(['create', '-f', '-'], all.map((object) => JSON.stringify(object)).join('\n'));
    for (const [name, status] of statuses) await setStatus(name, status);
    gateway = await runGateway({ kubeconfig: plane.kubeconfigPath }, { leaseMs: '10000' });
  }, 120_000);
  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  });

  async function setStatus(name: string, status: object): Promise<void> {
    const [kind, object] = name.split('/');
    const base = kind === 'job' ? '/apis/batch/v1' : '/api/v1';
    const path = `${base}/namespaces/selected/${kind}s/${object}/status`;
    const answer = await apiRequest(plane, plane.token, path, {
      method: 'PATCH',
      type: 'application/merge-patch+json',
      body: { status },
    });
    expect(answer.status, answer.text).toBe(200);
  }

  /** The objects that the server finds, as `namespace/name`; null if it refuses the selector. */
  async function ofServer({ group, version, plural }: Kind, selector: string): Promise<readonly string[] | null> {
    const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const answer = await apiRequest(
      plane,
      plane.token,
      `${base}/${plural}?fieldSelector=${encodeURIComponent(selector)}`,
    );
    if (answer.status === 400) return null;
    expect(answer.status, answer.text).toBe(200);
    return identities((JSON.parse(answer.text) as { items: readonly { metadata: Metadata }[] }).items);
  }

  async function ofGateway(kind: Kind, selectors: readonly string[]): Promise<readonly (readonly string[])[]> {
    const lists = selectors.map(
      (_, at) =>
        `l${at}: ${kind.list}(first: 500, filter: { fieldSelector: $s${at} }) { nodes { metadata { namespace name } } }`,
    );
    const document = `query (${selectors.map((_, at) => `$s${at}: String`).join(', ')}) { ${lists.join('\n')} }`;
    const variables = Object.fromEntries(selectors.map((selector, at) => [`s${at}`, selector]));
    const found = await data<Record<string, { nodes: readonly { metadata: Metadata }[] }>>(
      gateway.url,
      document,
      variables,
    );
    return selectors.map((_, at) => identities(must(found[`l${at}`], 'a list').nodes));
  }

  test('find what the server finds, for each label that it takes', async () => {
    const { resources } = await data<{ resources: readonly Kind[] }>(
      gateway.url,
      '{ resources { key group version plural list type fields { path type } } }',
    );
    const told: string[] = [];
    const wrong: string[] = [];
    let asked = 0;
    for (const kind of resources) {
      // Its beta version takes a label that no object has.
      if (kind.key === 'cronjobs.batch' && kind.version !== 'v1') continue;
      if ((await ofServer(kind, '')) === null) continue;
      const paths = [...new Set([...kind.fields.map(({ path }) => path), ...otherLabels])].filter(
        (path) => !path.includes('['),
      );
      const taken: string[] = [];
      for (let at = 0; at < paths.length; at += 32) {
        const some = paths.slice(at, at + 32);
        const found = await Promise.all(some.map((path) => ofServer(kind, `${path}=x`)));
        taken.push(...some.filter((_, index) => found[index] !== null));
      }
      const labels = taken.filter((label) => label !== 'metadata.name' && label !== 'metadata.namespace');
      if (labels.length > 0) told.push(`${kind.key}: ${labels.join(' ')}`);
      for (const label of taken) {
        const values = [...commonValues, ...(await valuesAt(kind, label))];
        const selectors = operators.flatMap((operator) => values.map((value) => `${label}${operator}${value}`));
        const expected = await Promise.all(selectors.map((selector) => ofServer(kind, selector)));
        await eventually(async () => {
          const found = await ofGateway(kind, selectors);
          const differing = selectors.flatMap((selector, at) =>
            JSON.stringify(found[at]) === JSON.stringify(expected[at])
              ? []
              : [`${kind.key} ${selector}: ${expected[at]?.join(' ')} - ${found[at]?.join(' ')}`],
          );
          expect(differing).toEqual([]);
        }, 1500).catch((error: unknown) => wrong.push(String(error).slice(0, 1500)));
        asked += selectors.length;
      }
    }
    process.stdout.write(`${asked} selectors; labels besides names:\n${told.join('\n')}\n`);
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(1000);
  });

  /** The values of all objects at a path of fields. */
  async function valuesAt(kind: Kind, path: string): Promise<readonly string[]> {
    const base = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
    const { items } = JSON.parse((await apiRequest(plane, plane.token, `${base}/${kind.plural}`)).text) as {
      items: readonly Json[];
    };
    const sources: Readonly<Record<string, readonly string[]>> = {
      source: ['source.component', 'reportingComponent'],
      'status.successful': ['status.succeeded'],
      'spec.host': ['spec.nodeName'],
      'status.podIPs': ['status.podIP'],
    };
    const found = (sources[path] ?? [path]).flatMap((from) =>
      items.map((item) => from.split('.').reduce<unknown>((value, name) => (value as Json | undefined)?.[name], item)),
    );
    const texts = found.flatMap((value) => (typeof value === 'object' || value === undefined ? [] : [String(value)]));
    return [...new Set(texts)].slice(0, 12);
  }
});

interface Metadata {
  readonly namespace?: string | null;
  readonly name: string;
}

function identities(items: readonly { readonly metadata: Metadata }[]): readonly string[] {
  return items.map(({ metadata: { namespace, name } }) => `${namespace ?? ''}/${name}`).sort();
}
