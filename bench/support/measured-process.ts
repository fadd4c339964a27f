/** A process that ingests the Pods of a simulated server, and is measured. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inFolder } from './folder.ts';
import { startPodServer } from './pod-server.ts';

interface Measured {
  readonly server: Awaited<ReturnType<typeof startPodServer>>;
  readonly child: ChildProcess;
  /** Sends an order, if there is one. Resolves with the next message of the process. */
  answer<T>(order: string | null): Promise<T>;
}

/** @param program of the directory `bench`; its arguments are the kubeconfig, the file of the store, and `given` */
export function withMeasured<T>(
  { program, objects, given, execArgv = process.execArgv }: Program,
  work: (measured: Measured) => Promise<T>,
): Promise<T> {
  return inFolder(async (directory) => {
    const kubeconfig = join(directory, 'kubeconfig');
    const server = await startPodServer(objects, kubeconfig);
    const path = fileURLToPath(new URL(`../${program}`, import.meta.url));
    const child = fork(path, [kubeconfig, join(directory, 'store.db'), ...given], { execArgv: [...execArgv] });
    const exited = once(child, 'exit');
    const lost = exited.then(() => Promise.reject(new Error('the measured process ended before its time')));
    lost.catch(() => {});
    try {
      const found = await work({
        server,
        child,
        async answer<T>(order: string | null) {
          const answered = once(child, 'message');
          if (order !== null) child.send(order);
          const [told] = (await Promise.race([answered, lost])) as [T];
          return told;
        },
      });
      child.disconnect();
      await exited;
      return found;
    } finally {
      child.kill('SIGKILL');
      await server.close();
    }
  });
}

interface Program {
  readonly program: string;
  readonly objects: number;
  readonly given: readonly string[];
  /** Default: those of this process. */
  readonly execArgv?: readonly string[];
}
