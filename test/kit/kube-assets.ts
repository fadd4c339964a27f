/** A folder of Kubernetes binaries in envtest's layout: etcd, kube-apiserver and other parts of a control plane. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseServerVersion, type ServerVersion } from './server-version.ts';

/** A file of the folder. */
export type KubeAsset =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kwok'
  | 'kwok-stages.yaml';

export class KubeAssets {
  readonly dir: string;
  #version: ServerVersion | undefined;

  constructor(dir: string) {
    this.dir = dir;
  }

  /** The version that `kube-apiserver --version` prints. Throws when it cannot be run. */
  get version(): ServerVersion {
    this.#version ??= parseServerVersion(
      execFileSync(this.path('kube-apiserver'), ['--version'], { encoding: 'utf8' }),
    );
    return this.#version;
  }

  path(asset: KubeAsset): string {
    return join(this.dir, asset);
  }

  has(asset: KubeAsset): boolean {
    return existsSync(this.path(asset));
  }
}
