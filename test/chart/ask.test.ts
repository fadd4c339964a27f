/** The script of `helm test` against gateways. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chartFolder } from '../../deploy/chart-source/chart-files.ts';
import type { SimCluster } from '../../sim/sim-cluster.ts';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

const run = promisify(execFile);
const script = fileURLToPath(new URL('files/ask.js', chartFolder));
const folder = sharedDirectory('chart-ask');
const configs = kubeconfigFolder();
let sim: SimCluster;
let open: RunningGateway;
let closed: RunningGateway;

beforeAll(async () => {
  // The gateway itself is the first user.
  const users = [
    { token: 'token-of-admin', user: 'admin', groups: ['system:masters'] },
    { token: 'token-of-nobody', user: 'nobody', groups: [] },
  ];
  sim = await startSimCluster({ features: { users } });
  const kubeconfig = configs.file('config', sim.kubeconfig());
  open = await runGateway({ name: 'east', kubeconfig }, { auth: ['none'] });
  closed = await runGateway({ name: 'east', kubeconfig }, { auth: ['token'] });
});
afterAll(async () => {
  await open?.close();
  await closed?.close();
  await sim?.close();
  configs.remove();
});

/** Standard output; rejects if the script fails. */
async function ask(url: string, auth: string, token = ''): Promise<string> {
  const file = join(folder, 'token');
  writeFileSync(file, token);
  const env = { URL: url.replace('/graphql', ''), AUTH: auth, TOKEN: file };
  return (await run(process.execPath, ['--input-type=module', '--eval', `await import('file://${script}')`], { env }))
    .stdout;
}

test('passes if the gateway answers', async () => {
  expect(await ask(open.url, 'none')).toBe(`${open.url.replace('/graphql', '')} answers.\n`);
  expect(await ask(closed.url, 'token', 'token-of-nobody')).toContain('answers.');
  expect(await ask(closed.url, 'other')).toContain('answers.');
});

test('fails if the gateway does not take the token, and if there is no gateway', async () => {
  await expect(ask(closed.url, 'token', 'another')).rejects.toThrow('/graphql answered 401');
  await expect(ask(closed.url, 'none')).rejects.toThrow('/graphql answered 401');
  await expect(ask('http://127.0.0.1:1/graphql', 'none')).rejects.toThrow('fetch failed');
});
