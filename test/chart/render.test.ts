/**
 * Compares renders of the chart with test/chart/cases. defaults.yaml is the render without values. NAME.diff is its difference from the
 * render with NAME.values.yaml. After an intended change, `npm run chart && npx vitest run test/chart -u` writes the files.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { chartFolder } from '../../deploy/chart-source/chart-files.ts';
import { installManifest, installPath } from '../../deploy/chart-source/install-manifest.ts';
import { clustersOf } from '../../src/cli/options/clusters-of.ts';
import { acceptedCredentials } from '../../src/cli/serving/access.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import {
  caseFile,
  caseNames,
  describeWithHelm,
  helmPath,
  manifestOf,
  manifestsOf,
  portolanYaml,
  render,
  renderCase,
  renderValues,
} from '../kit/chart.ts';
import { lineDifference } from '../kit/line-difference.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

const run = promisify(execFile);
const folder = sharedDirectory('chart');
const alerts = readFileSync(new URL('files/alerts.yaml', chartFolder), 'utf8');
const dashboard = readFileSync(new URL('files/dashboard.json', chartFolder), 'utf8');

/**
 * The documents by their template and kind, with a number for the second and later ones. The alerts, the dashboard and the checksum of the
 * configuration are left out: other tests are about them.
 */
function documentsOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const document of text.split(/^---\n/m)) {
    const [, template = ''] = /^# Source: portolan\/templates\/(\S+)/m.exec(document) ?? [];
    const [, kind] = /^kind: (\S+)/m.exec(document) ?? [];
    if (kind === undefined) continue;
    let number = 1;
    const keyOf = () => `${template} ${kind}${number === 1 ? '' : ` ${number}`}`;
    while (found.has(keyOf())) number++;
    const shown = document
      .replace(/(checksum\/config: )[0-9a-f]{64}/, '$1...')
      .replace(/^(kind: PrometheusRule\n[\s\S]*?\nspec:\n)[\s\S]*/m, '$1')
      .replace(/^( {2}portolan\.json: \|\n)[\s\S]*/m, '$1');
    found.set(keyOf(), `${shown.trimEnd()}\n`);
  }
  return found;
}

/** The lines that differ. A removed document is only named. */
function differenceOf(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string {
  return [...new Set([...before.keys(), ...after.keys()])]
    .flatMap((key) => {
      const text = after.get(key);
      if (text === undefined) return [`=== ${key}: not there`];
      const lines = lineDifference(before.get(key) ?? '', text);
      return lines.length === 0 ? [] : [`=== ${key}`, ...lines];
    })
    .map((line) => `${line}\n`)
    .join('');
}

describeWithHelm('the chart', () => {
  test('passes helm lint', async () => {
    const { stdout } = await run(helmPath(), ['lint', '--strict', fileURLToPath(chartFolder)]);
    expect(stdout).toContain('0 chart(s) failed');
  });

  test('has the manifest of deploy/install.yaml', async () => {
    expect(await installManifest(helmPath())).toBe(readFileSync(installPath, 'utf8'));
  });

  test('renders the defaults', async () => {
    const text = [...documentsOf(await renderCase('defaults')).values()].join('---\n');
    await expect(text).toMatchFileSnapshot(caseFile('defaults.yaml'));
  });

  test.each(caseNames.filter((name) => name !== 'defaults'))('renders the case %s', async (name) => {
    const before = documentsOf(await renderCase('defaults'));
    const after = documentsOf(await renderCase(name));
    const text = differenceOf(before, after);
    expect(text).not.toBe('');
    await expect(text).toMatchFileSnapshot(caseFile(`${name}.diff`));
  });

  test('has no other expected files', () => {
    const files = readdirSync(caseFile('.')).filter((file) => file.endsWith('.diff'));
    expect(caseNames).toEqual(expect.arrayContaining(files.map((file) => file.replace('.diff', ''))));
    expect(caseNames.length).toBeGreaterThanOrEqual(25);
  });

  test.each(caseNames)('writes a configuration that portolan serve takes in the case %s', async (name) => {
    const text = await renderValues(
      { fullnameOverride: 'portolan' },
      { args: ['--values', caseFile(`${name}.values.yaml`)] },
    );
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, portolanYaml(text));
    const config = loadConfig({ flags: {}, environment: {}, file });
    expect(() => acceptedCredentials(config)).not.toThrow();
    expect(clustersOf(config)).toHaveLength(name === 'several-clusters' ? 2 : 1);
  });

  test.each(caseNames)('names its objects in the case %s', async (name) => {
    const manifests = manifestsOf(await renderCase(name));
    const names = manifests.map(({ apiVersion, kind, metadata }) =>
      [apiVersion, kind, metadata.namespace, metadata.name].join(),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const { kind, metadata, ...rest } of manifests) {
      if (name === 'extra-objects' && metadata.labels === undefined) continue;
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/instance': 'portolan' });
      expect(
        /^(Cluster|CustomResourceDefinition$|APIService$|ValidatingAdmissionPolicy)/.test(kind) ||
          metadata.namespace !== undefined,
      ).toBe(true);
      expect(rest.apiVersion).toBeTypeOf('string');
    }
  });

  test('puts the alerts and the dashboard into the cluster as they are', async () => {
    const text = await renderCase('monitoring');
    expect(manifestOf(text, 'PrometheusRule')['spec']).toEqual(parse(alerts));
    const data = manifestOf(text, 'ConfigMap', 'portolan-dashboard')['data'] as Readonly<Record<string, string>>;
    expect(JSON.parse(data['portolan.json'] ?? '')).toEqual(JSON.parse(dashboard));
  });

  test('replaces Pods when options change that they cannot take while they run', async () => {
    const checksumOf = async (values: object): Promise<string> => {
      const [, checksum = ''] = /checksum\/config: ([0-9a-f]{64})$/m.exec(await renderValues(values)) ?? [];
      expect(checksum).not.toBe('');
      return checksum;
    };
    const before = await checksumOf({});
    expect(await checksumOf({ replicas: 2 })).toBe(before);
    expect(await checksumOf({ config: { readers: 5 } })).not.toBe(before);
    expect(await checksumOf({ config: { slowQueryMs: 900 } })).toBe(before);
    const strict = await checksumOf({ reload: false });
    expect(await checksumOf({ reload: false, config: { slowQueryMs: 900 } })).not.toBe(strict);
  });

  test('gives each release objects of its own', async () => {
    const keysOf = (text: string) =>
      manifestsOf(text).map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
    const one = keysOf(await render({ release: 'portolan', namespace: 'one' }));
    const two = keysOf(await render({ release: 'portolan', namespace: 'two' }));
    const other = keysOf(await render({ release: 'other', namespace: 'two' }));
    expect(new Set([...one, ...two, ...other]).size).toBe(one.length * 3);
    expect(two).toContain('ClusterRole undefined/two-portolan');
    expect(other).toContain('StatefulSet two/other-portolan');
  });

  test('has no preStop on servers that do not know its action', async () => {
    expect(await render({ args: ['--kube-version', '1.30.0'] })).toContain('preStop:');
    expect(await render({ args: ['--kube-version', '1.29.0'] })).not.toContain('preStop:');
  });

  test('prints the command and the query that come first', async () => {
    const notesOf = async (values: object): Promise<string> => {
      const args = Object.entries(values).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
      const chart = fileURLToPath(chartFolder);
      // Without a cluster: `helm install` prints the notes.
      const { stdout } = await run(helmPath(), [
        'install',
        'portolan',
        chart,
        '-n',
        'graph',
        '--dry-run=client',
        ...args,
      ]);
      return stdout.slice(stdout.indexOf('\nNOTES:'));
    };
    const notes = await notesOf({ service: { port: 80 } });
    expect(notes).toContain('kubectl --namespace graph port-forward service/portolan 4000:80\n');
    expect(notes).toContain('TOKEN=$(kubectl --namespace graph create token reader)\n');
    expect(notes).toMatch(
      /curl http:\/\/127\.0\.0\.1:4000\/graphql --header "Authorization: Bearer \$TOKEN" --json '\{"query": "\{ pods/,
    );
    expect(notes).toContain('built-in kinds without Secrets, and the custom resources that the cluster has now.\n');
    expect(await notesOf({ config: { kinds: ['pods'] } })).not.toContain('built-in kinds');
    expect(await notesOf({ config: { auth: ['none'] } })).toContain('WARNING: there is no authentication.');
  });
});
