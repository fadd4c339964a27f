/**
 * The processor time and the memory of loading client-node. Each import has a process of its own, which has loaded undici before, as each
 * process that asks an API server. A number is the median of the turns. The bundle (`npm run build`, made here anew) has the
 * authenticators, and no KubeConfig.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { writeBundle } from '../deploy/bundle.ts';
import { must } from '../src/base/must.ts';
import { median } from './support/page-load.ts';

export const about =
  'processor time and memory of loading client-node, or one of its authenticators [turns, default 5]';

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const library = (name: string): string => at(`node_modules/@kubernetes/client-node/dist/${name}.js`);
/** Inside the project, where the bundle finds the package that it does not hold. */
const bundled = at('node_modules/.cache/bench-bundle/');

export async function run([turns = '5']: readonly string[]): Promise<void> {
  const { bytes } = await writeBundle(bundled);
  const modules = {
    credentials: at('src/kube/credentials/credentials.ts'),
    kubeConfig: library('config'),
    exec: library('exec_auth'),
    oidc: library('oidc_auth'),
    bundledExec: chunkWith('ExecAuth = class'),
    bundledOidc: chunkWith('OpenIDConnectAuth = class'),
  };
  const taken = Object.fromEntries(Object.keys(modules).map((name) => [name, [] as Cost[]]));
  for (let turn = 0; turn < Number(turns); turn += 1) {
    for (const [name, file] of Object.entries(modules)) taken[name]?.push(await costOf(file));
  }
  const medians = Object.entries(taken).map(([name, costs]) => {
    const of = (key: keyof Cost): number => Math.round(median(costs.map((cost) => cost[key])));
    return [name, { cpuMs: of('cpuMs'), megabytes: of('megabytes') }] as const;
  });
  for (const [name, { cpuMs, megabytes }] of medians) {
    process.stdout.write(`${name.padEnd(12)} ${String(cpuMs).padStart(5)} ms ${String(megabytes).padStart(4)} MB\n`);
  }
  const line = { bench: 'credentials', ...Object.fromEntries(medians), bundleBytes: bytes };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

interface Cost {
  readonly cpuMs: number;
  readonly megabytes: number;
}

async function costOf(file: string): Promise<Cost> {
  const script = `await import(${JSON.stringify(import.meta.resolve('undici'))});
    const { rss } = process.memoryUsage(), before = process.cpuUsage();
    await import(${JSON.stringify(pathToFileURL(file).href)});
    const { user, system } = process.cpuUsage(before);
    console.log(JSON.stringify({ cpuMs: (user + system) / 1e3, megabytes: (process.memoryUsage().rss - rss) / 1e6 }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  return JSON.parse(stdout) as Cost;
}

function chunkWith(text: string): string {
  const folder = join(bundled, 'src', 'bundle');
  const file = readdirSync(folder).find(
    (name) => name.endsWith('.js') && readFileSync(join(folder, name), 'utf8').includes(text),
  );
  return join(folder, must(file, `a file of the bundle with ${text}`));
}
