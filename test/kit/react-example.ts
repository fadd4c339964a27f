/** The application of docs/examples/react, built in a folder of its own as its scripts do. */
import { execFile } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sharedDirectory } from './temporary-directory.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export const exampleFolder = join(root, 'docs', 'examples', 'react');

export interface ReactExample {
  readonly folder: string;
  /** Of the built page. */
  readonly dist: string;
  /** What the type check and the build printed about problems. */
  readonly problems: string;
}

/** Generates the types from a running gateway, checks them with the strict compiler, and builds the page for that gateway. */
export async function buildReactExample(gateway: string): Promise<ReactExample> {
  const folder = sharedDirectory('react');
  cpSync(exampleFolder, folder, { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const run = (tool: string, ...args: string[]): Promise<string> =>
    promisify(execFile)(process.execPath, [join(root, 'node_modules', tool), ...args], {
      cwd: folder,
      env: { ...process.env, PORTOLAN_URL: gateway, VITE_GATEWAY: gateway, NODE_ENV: 'production' },
    }).then(
      ({ stderr }) => stderr,
      (error: { stdout: string; stderr: string }) => `${error.stdout}${error.stderr}`,
    );
  const problems = [
    await run('@graphql-codegen/cli/esm/bin.js', '--silent'),
    await run('typescript/bin/tsc'),
    await run('vite/bin/vite.js', 'build', '--logLevel', 'warn'),
  ];
  return { folder, dist: join(folder, 'dist'), problems: problems.join('') };
}
