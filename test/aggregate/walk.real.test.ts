/** The walk of docs/shadow.md: each command prints what the page says. */
import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';
import { blocksOf, readPage, sectionOf } from '../kit/written-page.ts';

const token = 'token-of-jane';

interface Step {
  readonly command: string;
  readonly output: string;
}

/** The commands of the numbered steps, each with what it prints. */
function stepsOf(section: string): readonly Step[] {
  const blocks = [...section.matchAll(/^ {3}```console\n(.*?)^ {3}```$/gms)].map(([, text = '']) => text);
  const lines = blocks.join('').replaceAll(/^ {3}/gm, '');
  return lines
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = '', ...output] = step.split('\n');
      return { command, output: output.join('\n').trim() };
    });
}

/** What is printed, without ages and the spaces of columns. */
const plain = (text: string): string =>
  text
    .trim()
    .replaceAll(/\b\d+s$/gm, 'AGE')
    .replaceAll(/ +/g, ' ');

describeOn([mainServer], 'the walk of sets for kubectl', { timeout: 90_000, needs: ['kubectl'] }, (server) => {
  let aggregated: AggregatedPlane;

  beforeAll(async () => {
    aggregated = await startAggregatedPlane({
      server,
      flags: { impersonate: 'constrained' },
      users: [{ token, user: 'jane', groups: ['devs'] }],
      prepare: async (plane) => {
        await plane.kubectl(
          ['apply', '-f', '-'],
          JSON.stringify({
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'ClusterRole',
            metadata: { name: 'sets' },
            rules: [
              { apiGroups: ['shadow.portolan.dev'], resources: ['shadowresources'], verbs: ['*'] },
              { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] },
            ],
          }),
        );
        await plane.kubectl(['create', 'clusterrolebinding', 'jane', '--clusterrole=sets', '--user=jane']);
      },
    });
  }, 240_000);
  afterAll(() => aggregated?.stop(), 60_000);

  test('each command prints what the page says', async () => {
    const section = sectionOf(readPage('docs/shadow.md'), 'A walk');
    const folder = temporaryDirectory('walk');
    writeFileSync(join(folder, 'shop.yaml'), must(blocksOf(section, 'yaml')[0], 'the set'));
    const { kubeconfigPath } = aggregated.plane;
    const wrapper = `#!/bin/sh\nexec '${server.assets.path('kubectl')}' --kubeconfig='${kubeconfigPath}' --token=${token} --cache-dir='${folder}' "$@"\n`;
    writeFileSync(join(folder, 'kubectl'), wrapper);
    chmodSync(join(folder, 'kubectl'), 0o755);
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` };
    const run = async (command: string): Promise<string> =>
      plain((await promisify(execFile)('sh', ['-c', command], { cwd: folder, env })).stdout);
    const steps = stepsOf(section);
    expect(steps.length).toBeGreaterThan(10);
    for (const { command, output } of steps) {
      // The tables follow the cluster: a read right after a write may show the state before it.
      const isRead = /^kubectl (get|diff) /.test(command);
      if (isRead) await eventually(async () => expect(await run(command), command).toBe(plain(output)));
      else expect(await run(command), command).toBe(plain(output));
    }
  });
});
