/** Writes kubeconfig files for tests. */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedDirectory } from './temporary-directory.ts';

export interface KubeconfigFolder {
  readonly dir: string;
  /** Writes a kubeconfig with the one context `test` and returns its path. */
  write(cluster: object, user?: object | null, file?: string): string;
  /** Writes a file into the folder and returns its path. */
  file(name: string, content: string): string;
  remove(): void;
}

export function kubeconfigFolder(): KubeconfigFolder {
  const dir = sharedDirectory('kubeconfig');
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };
  return {
    dir,
    file,
    write: (cluster, user = {}, name = 'config') =>
      file(
        name,
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          'current-context': 'test',
          clusters: [{ name: 'test-cluster', cluster }],
          users: user === null ? [] : [{ name: 'test-user', user }],
          contexts: [
            { name: 'test', context: { cluster: 'test-cluster', ...(user === null ? {} : { user: 'test-user' }) } },
          ],
        }),
      ),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}
