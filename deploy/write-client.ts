/**
 * `@portolan/client`: the npm package for applications, made from the parts that `portolan client-config` prints.
 *
 *   OUT/index.js    hold, foldChanges, resumable, reconnect
 *   OUT/apollo.js   the same, and the cache policies of Apollo Client
 *   OUT/urql.js     the same, and the cache policies of urql's graphcache
 *   OUT/*.d.ts      their declarations
 *   OUT/*-*.js      the parts, as they are in src/graphql/client/modules
 *
 * No part imports a package at run time, so the package has no dependencies.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PortolanError } from '../src/base/errors.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const parts = join(root, 'src', 'graphql', 'client', 'modules');

/** The modules that each entry exports, and the part with its declarations. */
const entries = {
  index: { modules: ['fold-changes.js', 'resumable.js'], declarations: 'live.d.ts' },
  apollo: { modules: ['apollo-cache.js', 'index.js'], declarations: 'apollo.d.ts' },
  urql: { modules: ['urql-cache.js', 'index.js'], declarations: 'urql.d.ts' },
} as const;

export const clientPackage = '@portolan/client';

/** Writes the package into `out`. An earlier one there is replaced. @throws PortolanError CONFIGURATION where something else is. */
export function writeClient(out: string): void {
  const manifestPath = join(out, 'package.json');
  if (existsSync(out) && readdirSync(out).length > 0 && !isClient(manifestPath)) {
    throw new PortolanError('CONFIGURATION', `${out} holds something else; name a folder that is empty or not there.`);
  }
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const name of readdirSync(parts)) if (name.endsWith('.js')) cpSync(join(parts, name), join(out, name));
  for (const [name, { modules, declarations }] of Object.entries(entries)) {
    const lines = modules.map((module) => `export * from './${module}';\n`);
    writeFileSync(join(out, `${name}.js`), lines.join(''));
    const declared = readFileSync(join(parts, declarations), 'utf8').replaceAll('./live.d.ts', './index.js');
    const others = name === 'index' ? '' : "\nexport * from './index.js';\n";
    writeFileSync(join(out, `${name}.d.ts`), `${declared}${others}`);
  }
  cpSync(join(root, 'deploy', 'client', 'README.md'), join(out, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(out, 'LICENSE'));
  writeFileSync(manifestPath, `${JSON.stringify(manifest(), null, 2)}\n`);
}

function isClient(manifestPath: string): boolean {
  return existsSync(manifestPath) && JSON.parse(readFileSync(manifestPath, 'utf8')).name === clientPackage;
}

function manifest(): unknown {
  const { version, license, repository, devDependencies, dependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  // The versions that the tests run with. All are optional: an application has one of the clients.
  const peers = {
    '@apollo/client': devDependencies['@apollo/client'],
    '@urql/exchange-graphcache': devDependencies['@urql/exchange-graphcache'],
    'graphql-ws': dependencies['graphql-ws'],
  };
  const exported = Object.keys(entries).map((name) => [
    name === 'index' ? '.' : `./${name}`,
    { types: `./${name}.d.ts`, default: `./${name}.js` },
  ]);
  return {
    name: clientPackage,
    version,
    description: 'Live lists and cache policies for clients of Portolan, the GraphQL gateway over Kubernetes resources',
    license,
    repository,
    type: 'module',
    sideEffects: false,
    exports: Object.fromEntries(exported),
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
  };
}
