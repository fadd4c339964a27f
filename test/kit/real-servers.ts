/**
 * The real API servers that tests may start.
 *
 * KUBEBUILDER_ASSETS, envtest's variable, names the folder of the main server: every suite that needs a real server runs on it.
 * KUBEBUILDER_ASSETS_OLD names the folder of a second, older one: suites that must hold for both run on it as well.
 * A suite whose server or binaries are missing is skipped, and its name says what is missing.
 */
import { describe } from 'vitest';
import { must } from '../../src/base/must.ts';
import { type KubeAsset, KubeAssets } from './kube-assets.ts';
import { isSince } from './server-version.ts';

export class RealServer {
  /** The environment variable that names the folder. */
  readonly variable: string;
  readonly #assets: KubeAssets | null;

  constructor(variable: string, environment: Readonly<Record<string, string | undefined>> = process.env) {
    this.variable = variable;
    const dir = environment[variable] ?? '';
    this.#assets = dir === '' ? null : new KubeAssets(dir);
  }

  /** `Kubernetes 1.37.2`, or the variable where it names no server. */
  get name(): string {
    return this.missing() === null ? `Kubernetes ${this.assets.version.text}` : this.variable;
  }

  /** The folder of its binaries. Throws where the variable is not set. */
  get assets(): KubeAssets {
    return must(this.#assets, `${this.variable} is set`);
  }

  /** `--impersonate` of a gateway in front of it: constrained impersonation needs no feature gate from 1.36 on. */
  get impersonation(): 'constrained' | 'classic' {
    return isSince(this.assets.version, 1, 36) ? 'constrained' : 'classic';
  }

  /** Why it cannot be started with these binaries beside etcd and kube-apiserver; null when it can. */
  missing(needed: readonly KubeAsset[] = []): string | null {
    const assets = this.#assets;
    if (assets === null) return `${this.variable} is not set`;
    const absent = (['etcd', 'kube-apiserver', ...needed] as const).filter((asset) => !assets.has(asset));
    return absent.length === 0 ? null : `${this.variable} has no ${absent.join(' and no ')}`;
  }
}

export const mainServer = new RealServer('KUBEBUILDER_ASSETS');
export const oldServer = new RealServer('KUBEBUILDER_ASSETS_OLD');

export interface RealSuiteOptions {
  /** Milliseconds for each test. */
  readonly timeout: number;
  /** The files that the suite needs beside etcd and kube-apiserver. */
  readonly needs?: readonly KubeAsset[];
}

/** Declares a suite once for each of these servers. */
export function describeOn(
  servers: readonly RealServer[],
  name: string,
  { timeout, needs = [] }: RealSuiteOptions,
  suite: (server: RealServer) => void,
): void {
  for (const server of servers) {
    const missing = server.missing(needs);
    const title = `${name} (${missing ?? server.name})`;
    describe.skipIf(missing !== null)(title, { timeout }, () => suite(server));
  }
}
