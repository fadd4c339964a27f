/** kubectl as a process, with its exit code: commands such as `diff` and `edit` say more by it than by an error. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ControlPlane } from './control-plane.ts';
import type { RealServer } from './real-servers.ts';

interface KubectlRun {
  readonly args: readonly string[];
  /** Standard input: a text, or an object as JSON. */
  readonly input?: unknown;
  /** Variables besides those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Of the user; default: the administrator. */
  readonly token?: string;
}

interface KubectlEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Never rejects for a kubectl that fails. */
export async function runKubectl(
  server: RealServer,
  plane: Pick<ControlPlane, 'kubeconfigPath' | 'dir'>,
  { args, input = '', env = {}, token }: KubectlRun,
): Promise<KubectlEnd> {
  const child = spawn(
    server.assets.path('kubectl'),
    [
      `--kubeconfig=${plane.kubeconfigPath}`,
      `--cache-dir=${join(plane.dir, 'kubectl-cache')}`,
      ...(token === undefined ? [] : [`--token=${token}`]),
      ...args,
    ],
    { env: { ...process.env, ...env } },
  );
  const [stdout, stderr, ended] = [text(child.stdout), text(child.stderr), once(child, 'exit')];
  // A kubectl that ends early does not read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(typeof input === 'string' ? input : JSON.stringify(input));
  const [code] = (await ended) as [number | null];
  return { code, stdout: await stdout, stderr: await stderr };
}
