/**
 * Runs an image of deploy/image.sh without a container engine. The layers are unpacked into a folder. bubblewrap runs the entry point
 * there, as an engine would:
 *
 *   - as the image's user, without capabilities; the gateway has the process id 1
 *   - on a read-only root, with /tmp in memory and the folders that are mounted
 *   - in namespaces of its own, except that of the network: tests reach it by loopback
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../../src/base/must.ts';
import { runSandboxed, type Sandboxed } from '../kit/sandbox.ts';

export interface UnpackedImage {
  readonly digest: string;
  readonly rootfs: string;
  readonly config: ImageConfig;
  /** Those of the manifest. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Of its layers, as a registry keeps them. */
  readonly compressedBytes: number;
}

interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
  readonly WorkingDir: string;
  readonly Labels: Readonly<Record<string, string>>;
}

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

/** Unpacks an OCI archive into a folder that every user may read. */
export function unpackImage(archive: string, folder: string): UnpackedImage {
  const layout = join(folder, 'oci');
  const rootfs = join(folder, 'rootfs');
  for (const each of [layout, rootfs]) mkdirSync(each);
  for (const each of [folder, rootfs]) chmodSync(each, 0o755);
  execFileSync('tar', ['-xf', archive, '-C', layout]);
  const json = (path: string): unknown => JSON.parse(readFileSync(join(layout, path), 'utf8'));
  const blob = ({ digest }: Descriptor): string => join('blobs', 'sha256', digest.slice('sha256:'.length));
  const index = json('index.json') as { readonly manifests: readonly Descriptor[] };
  const first = must(index.manifests[0], 'an image in the archive');
  const manifest = json(blob(first)) as {
    readonly config: Descriptor;
    readonly layers: readonly Descriptor[];
    readonly annotations?: Readonly<Record<string, string>>;
  };
  for (const layer of manifest.layers) execFileSync('tar', ['-xzpf', join(layout, blob(layer)), '-C', rootfs]);
  // A container engine makes the places of mounts in the same way.
  mkdirSync(join(rootfs, 'etc', 'portolan'));
  return {
    digest: first.digest,
    rootfs,
    config: (json(blob(manifest.config)) as { readonly config: ImageConfig }).config,
    annotations: manifest.annotations ?? {},
    compressedBytes: manifest.layers.reduce((sum, { size }) => sum + size, 0),
  };
}

export interface SandboxOptions {
  /** Instead of the image's entry point. */
  readonly entrypoint?: readonly string[];
  /** Instead of the arguments of the image. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files and folders of this machine, by their place in the sandbox. Only /data can be written. */
  readonly mounts?: Readonly<Record<string, string>>;
}

export function runImage(
  { rootfs, config }: UnpackedImage,
  { entrypoint = config.Entrypoint, args = config.Cmd, env = {}, mounts = {} }: SandboxOptions = {},
): Promise<Sandboxed> {
  const { '/data': data, ...readable } = mounts;
  const variables = config.Env.map((entry) => entry.split(/=(.*)/s).slice(0, 2) as [string, string]);
  return runSandboxed({
    rootfs,
    command: [...entrypoint, ...args],
    folder: config.WorkingDir,
    env: { ...Object.fromEntries(variables), ...env },
    readable,
    writable: data === undefined ? {} : { '/data': data },
    first: true,
  });
}
