/**
 * The gateway as few files: each thread's modules and their packages bundled, so that a start opens a dozen files and not a thousand.
 *
 *   OUT/package.json             name, version, bin, and the one package that is not bundled
 *   OUT/schema/operations/       the playground's tabs
 *   OUT/schema/relations.yaml    the relations that Portolan ships
 *   OUT/schema/demo-abstract-kinds.yaml  the app store of the demo
 *   OUT/schema/generated/        the health rules that Portolan ships
 *   OUT/playground/dist/         the parts of the playground's page
 *   OUT/src/portolan.js          the way in, as it is in src; kubectl-portolan.js beside it is the kubectl plugin
 *   OUT/src/bundle/*.js          the threads: main.js and a *.worker.js each, serve.process.js of --processes, and the modules that they share
 *   OUT/src/bundle/modules/      what `portolan client-config` prints
 *   OUT/src/bundle/tables/       the built-in kinds of the demo's cluster
 *
 * Files that the sources read by their place have the same place from the bundle as they have from the sources, or one of `moved`.
 * better-sqlite3 stays a package, because it is compiled for the machine that it is installed on.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { PortolanError } from '../src/base/errors.ts';
import { bundledPackages } from './bundled-packages.ts';
import { playgroundFolder, writePlayground } from './write-playground.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const unbundled = 'better-sqlite3';

/** The modules that threads and processes are started with, by the name of their file in the bundle. */
const threads = {
  main: 'src/main.ts',
  'ingest.worker': 'src/ingest/thread/ingest.worker.ts',
  'parse.worker': 'src/ingest/parse/parse.worker.ts',
  'introspection.worker': 'src/graphql/introspection/introspection.worker.ts',
  'manifest.worker': 'src/writes/manifests/manifest.worker.ts',
  'reader.worker': 'src/store/read/reader.worker.ts',
  'checkpointer.worker': 'src/store/file/checkpointer.worker.ts',
  'sim.worker': 'sim/sim.worker.ts',
  'serve.process': 'src/cli/processes/serve.process.ts',
} as const;

/** Folders that the sources read by their place, and their places from the bundle, which has no folder `web`. */
const moved: Readonly<Record<string, string>> = {
  '../../web/playground/dist/': '../../playground/dist/',
  '../../../web/client/': './modules/',
  '../../../package.json': '../../package.json',
};

/**
 * Modules of client-node, and packages that its KubeConfig imports, do nothing but define. So an authenticator is bundled without
 * KubeConfig and its clients, which oidc_auth.js imports for one function.
 */
const onlyDefines = /node_modules.(?:@kubernetes.client-node.dist|js-yaml|hpagent|socks|socks-proxy-agent)[\\/]/;

export interface Bundle {
  readonly bytes: number;
  /** `name@version` of each package in it or beside it, sorted. */
  readonly packages: readonly string[];
}

/** Writes the bundle into `out`. An earlier bundle there is replaced; throws CONFIGURATION where anything else is. */
export async function writeBundle(out: string): Promise<Bundle> {
  const target = join(out, 'src', 'bundle');
  if (existsSync(out) && readdirSync(out).length > 0 && !existsSync(target)) {
    throw new PortolanError('CONFIGURATION', `${out} holds something else; name a folder that is empty or not there.`);
  }
  rmSync(out, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const bundle = await rolldown({
    cwd: root,
    input: threads,
    platform: 'node',
    external: [unbundled],
    // As Node resolves packages: one copy of graphql.
    resolve: { conditionNames: ['module-sync', 'node', 'import', 'default'] },
    treeshake: { moduleSideEffects: [{ test: onlyDefines, sideEffects: false }] },
    plugins: [{ name: 'places-in-bundle', transform: (code, id) => (isOurs(id) ? placesInBundle(code) : null) }],
  });
  let bytes = 0;
  const paths = [join(root, 'node_modules', unbundled)];
  try {
    const { output } = await bundle.write({
      dir: target,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    });
    for (const file of output) {
      if (file.type !== 'chunk') continue;
      bytes += Buffer.byteLength(file.code);
      paths.push(...file.moduleIds);
    }
  } finally {
    await bundle.close();
  }
  cpSync(join(root, 'src', 'kubectl-portolan.js'), join(out, 'src', 'kubectl-portolan.js'));
  const entry = readFileSync(join(root, 'src', 'portolan.js'), 'utf8');
  writeFileSync(join(out, 'src', 'portolan.js'), entry.replace("'./main.ts'", "'./bundle/main.js'"), { mode: 0o755 });
  const client = join(root, 'web', 'client');
  for (const name of readdirSync(client)) {
    if (/\.(?:js|d\.ts)$/.test(name)) cpSync(join(client, name), join(target, 'modules', name));
  }
  cpSync(join(root, 'sim', 'schema', 'tables'), join(target, 'tables'), { recursive: true });
  for (const part of [
    'operations',
    'relations.yaml',
    'demo-abstract-kinds.yaml',
    join('generated', 'health-rules.json'),
  ]) {
    cpSync(join(root, 'schema', part), join(out, 'schema', part), { recursive: true });
  }
  const { packages } = await writePlayground();
  cpSync(join(root, playgroundFolder), join(out, 'playground', 'dist'), { recursive: true });
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  return { bytes, packages: [...new Set([...bundledPackages(paths), ...packages])].sort() };
}

function isOurs(id: string): boolean {
  return /^(?:sim|src)[\\/]/.test(relative(root, id));
}

/** Threads are started by the URL of their module, which is beside every other one in the bundle. Folders may have moved. */
function placesInBundle(code: string): string {
  return code
    .replaceAll(/'\.\/(\w+\.(?:worker|process))\.ts'/g, "'./$1.js'")
    .replaceAll(/(?<=new URL\(')[^']+(?=', import\.meta\.url\))/g, (place) => moved[place] ?? place);
}

function manifest(): unknown {
  const { name, version, description, license, repository, type, bin } = read('package.json');
  const installed = read(join('node_modules', unbundled, 'package.json')).version;
  const dependencies = { [unbundled]: installed };
  // Not in the package.json of the sources: npm would compare it with the Node that runs npm, and the packages bring Node 24.
  const engines = { node: '>=24.0.0' };
  return { name, version, description, license, repository, type, bin, engines, dependencies };
}

function read(file: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(resolve(root, file), 'utf8')) as Record<string, unknown>;
}
