/**
 * Each metric and label of the alerts and of the dashboard is served by a gateway: with authentication, a refused kind, a cluster that is
 * down, and operations of every sort.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboard } from '../../deploy/dashboard.ts';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { type LoopbackServer, sendStatus } from '../kit/loopback-server.ts';
import { samplesOf } from '../kit/prometheus-text.ts';
import { parsePromql } from '../kit/promql.ts';
import { openRawSocket } from '../kit/raw-socket.ts';
import { startRecordingProxy } from '../kit/recording-proxy.ts';
import { readPage, sectionOf } from '../kit/written-page.ts';
import { alertsPath, readAlerts } from './alert-rules.ts';

const alerts = readAlerts();
const board = JSON.parse(dashboard()) as {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
};
const queries = board.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);

/** An expression of the dashboard as Prometheus gets it. */
const filled = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '5m').replace(/\$(namespace|pod|cluster)/g, '.*');

const labelsOf = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);

/** Expressions with the labels that their text shows beside them. */
const expressions = [
  ...alerts.map(({ alert, expr, annotations }) => ({
    where: alert,
    expr,
    shown: labelsOf(annotations.description, /\$labels\.(\w+)/g),
  })),
  ...queries.map(({ title, expr, legendFormat }) => ({
    where: title,
    expr: filled(expr),
    shown: labelsOf(legendFormat, /\{\{(\w+)\}\}/g),
  })),
];

/** Labels of metrics whose series need a fault of the scrape itself. */
const faultLabels: Readonly<Record<string, readonly string[]>> = { portolan_scrape_failures_total: ['part'] };

/** Prometheus adds these to every series of a target. */
const targetLabels = ['instance', 'job', 'namespace', 'pod'];

describe('a running gateway', () => {
  const folder = kubeconfigFolder();
  const token = 'token-of-an-administrator';
  let cluster: SimCluster;
  let proxy: LoopbackServer;
  let gateway: RunningGateway;
  /** Labels by name of the metric. */
  let served: ReadonlyMap<string, ReadonlySet<string>>;

  beforeAll(async () => {
    const users = [{ token, user: 'admin', groups: ['system:masters'] }];
    cluster = await startSimCluster({ objects: 'demo', pods: 20, churn: false, features: { users } });
    proxy = await startRecordingProxy({ url: cluster.url }, (request, response) => {
      const isSecrets = request.url?.startsWith('/api/v1/secrets') === true;
      if (isSecrets) sendStatus(response, 403, 'Forbidden', 'secrets is forbidden');
      return isSecrets;
    });
    const up = folder.file('up', cluster.kubeconfig().replaceAll(cluster.url, proxy.url));
    const down = folder.write({ server: 'http://127.0.0.1:9' }, {}, 'down');
    gateway = await runGateway(
      [
        { name: 'up', kubeconfig: up },
        { name: 'down', kubeconfig: down },
      ],
      { auth: ['token'], authCluster: 'up', maxDisk: '512Mi', slowQueryMs: '1' },
    );
    const authorization = `Bearer ${token}`;
    const send = (query: string, headers: Record<string, string> = { authorization }): Promise<Response> =>
      fetch(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query }),
      });
    const written =
      'docs: [{ yaml: "{ apiVersion: v1, kind: ConfigMap, metadata: { name: written, namespace: default } }" }]';
    for (const query of [
      '{ pods { totalCount nodes { yaml } } }',
      '{ nothing }',
      '{ pods(first: 100000) { totalCount } }',
      `mutation { create(${written}, options: { dryRun: true }) { complete } }`,
      `mutation { create(${written}) { complete } }`,
    ]) {
      await send(query);
    }
    expect((await send('{ pods { totalCount } }', {})).status).toBe(401);
    const socket = await openRawSocket(gateway.url);
    socket.send({ type: 'connection_init', payload: { authorization } });
    expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
    socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { podChanges { phase } }' } });
    await socket.next();
    cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'event' } });
    const address = new URL('/metrics', gateway.url);
    expect((await fetch(address)).status).toBe(401);
    served = await eventually(async () => {
      const response = await fetch(address, { headers: { authorization } });
      expect(response.status).toBe(200);
      const text = await response.text();
      const found = new Map<string, Set<string>>();
      for (const [, name = ''] of text.matchAll(/^# TYPE (\w+) /gm)) found.set(name, new Set());
      for (const { name, labels } of samplesOf(text)) {
        found.set(name, new Set([...(found.get(name) ?? []), ...Object.keys(labels)]));
      }
      expect(found.get('portolan_failing')).toContain('resource');
      expect(found.get('portolan_resource_restarts_total')).toContain('reason');
      expect(found.get('portolan_resource_last_event_age_seconds')).toContain('cluster');
      return found;
    });
    socket.close();
  });

  afterAll(async () => {
    await gateway?.close();
    await proxy?.close();
    await cluster?.close();
    folder.remove();
  });

  test('serves each metric and label of the alerts and of the dashboard', () => {
    const problems = expressions.flatMap(({ where, expr, shown }) => {
      const { selectors, labels } = parsePromql(expr);
      const known = new Set<string>(targetLabels);
      const own = selectors.flatMap(({ name, matchers }) => {
        const of = [...targetLabels, ...(served.get(name) ?? []), ...(faultLabels[name] ?? [])];
        for (const label of of) known.add(label);
        const wrong = matchers.map(({ label }) => label).filter((label) => !of.includes(label));
        return [...(served.has(name) ? [] : [name]), ...wrong];
      });
      const wrong = [...labels, ...shown].filter((label) => !known.has(label));
      return [...own, ...wrong].map((name) => `${where}: ${name}`);
    });
    expect(problems).toEqual([]);
  });

  test('has every metric of its own on the dashboard', () => {
    const shown = new Set(queries.flatMap(({ expr }) => parsePromql(filled(expr)).selectors.map(({ name }) => name)));
    const own = [...served.keys()].filter((name) => /^portolan_(?!.*_(bucket|sum|count)$)/.test(name));
    expect(own.filter((name) => !shown.has(name) && !shown.has(`${name}_bucket`))).toEqual([]);
  });
});

describe('the dashboard', () => {
  test('is what npm run dashboard writes', async () => {
    await expect(dashboard()).toMatchFileSnapshot('../../deploy/chart/files/dashboard.json');
  });

  test('has a row for each part, panels that do not overlap, and queries with known variables', () => {
    const { panels, templating } = board;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(panels.filter(({ targets }) => targets === undefined).map(({ title }) => title)).toEqual(
      'Overview Ingest Store Operations Live Access Process'.split(' '),
    );
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
    const names = templating.list.map(({ name }) => name);
    expect(names).toEqual(['datasource', 'namespace', 'pod', 'cluster']);
    const used = new Set([...dashboard().matchAll(/\$(\w+)/g)].map(([, name]) => name));
    expect([...used].filter((name) => ![...names, '__rate_interval', '__all'].includes(name ?? ''))).toEqual([]);
  });
});

describe('the alerts', () => {
  test('have different names', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });

  test.each(alerts)('$alert leads to a section of docs/troubleshooting.md', ({ annotations: { runbook_url } }) => {
    const [page, anchor = ''] = runbook_url.split('#');
    expect(page).toBe('https://github.com/portolan-dev/portolan/blob/main/docs/troubleshooting.md');
    const headings = [...readPage('docs/troubleshooting.md').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    expect(headings).toContain(anchor);
  });

  test('docs/operating.md lists them; -u writes the table', async () => {
    const path = 'docs/operating.md';
    const page = readPage(path);
    const rows = alerts.map(({ alert, expr, for: time = '', labels: { severity }, annotations: { summary } }) => {
      const shown = expr.replaceAll('|', '\\|');
      return `| \`${alert}\` | ${severity} | \`${shown}\` | ${time} | ${summary} |`;
    });
    const table = ['| alert | severity | expression | for | meaning |', '|---|---|---|---|---|', ...rows].join('\n');
    const section = sectionOf(page, 'Alerts');
    expect(section).toContain('| alert |');
    const written = page.replace(section, () => section.replace(/^\|.*\|$(?:\n\|.*\|$)*/m, () => table));
    await expect(written).toMatchFileSnapshot(`../../${path}`);
  });

  const promtool = spawnSync('promtool', ['--version']).error === undefined;
  test.skipIf(!promtool)('are valid for promtool, which this test needs on PATH', () => {
    const file = join(fileURLToPath(new URL('../../', import.meta.url)), alertsPath);
    expect(execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
  });
});
