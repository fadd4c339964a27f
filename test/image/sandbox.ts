/**
 * Runs an image of deploy/image.sh without a container engine. The layers are unpacked into a folder. bubblewrap runs the entry point
 * there, as an engine would:
 *
 *   - as the image's user, without capabilities; the gateway has the process id 1
 *   - on a read-only root, with /tmp in memory and the folders that are mounted
 *   - in namespaces of its own, except that of the network: tests reach it by loopback
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { must } from '../../src/base/must.ts';

/** The user of the image. */
export const imageUser = { uid: 65_532, gid: 65_532 } as const;

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

/** Why an image cannot be run here; null when it can. */
export function missingSandbox(): string | null {
  if (process.platform !== 'linux') return 'bubblewrap runs on Linux only';
  if (process.getuid?.() !== 0) return 'layers are unpacked by root only';
  const probe = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-all', 'true'], {
    ...imageUser,
    encoding: 'utf8',
  });
  if (probe.error !== undefined) return 'bwrap (Debian: bubblewrap) is not installed';
  return probe.status === 0 ? null : `users may not make namespaces: ${probe.stderr.trim()}`;
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

export interface Sandboxed {
  /** The lines of standard output and of standard error. */
  readonly out: readonly string[];
  readonly err: readonly string[];
  /** Resolves with the first line of standard output that matches; rejects with standard error when the process ends before. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends the signal to process 1 of the sandbox. */
  kill(signal: NodeJS.Signals): void;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

export async function runImage(
  { rootfs, config }: UnpackedImage,
  { entrypoint = config.Entrypoint, args = config.Cmd, env = {}, mounts = {} }: SandboxOptions = {},
): Promise<Sandboxed> {
  const variables = [...config.Env.map((entry) => entry.split(/=(.*)/s).slice(0, 2)), ...Object.entries(env)];
  const flags = [
    ...['--ro-bind', rootfs, '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    ...Object.entries(mounts).flatMap(([place, source]) => [place === '/data' ? '--bind' : '--ro-bind', source, place]),
    ...['--unshare-all', '--share-net', '--as-pid-1', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--clearenv', ...variables.flatMap(([name = '', value = '']) => ['--setenv', name, value])],
    ...['--chdir', config.WorkingDir, '--info-fd', '3', '--', ...entrypoint, ...args],
  ];
  const child = spawn('bwrap', flags, { ...imageUser, cwd: '/', stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const out: string[] = [];
  const err: string[] = [];
  const lines = createInterface({ input: must(child.stdout, 'standard output') }).on('line', (line) => out.push(line));
  createInterface({ input: must(child.stderr, 'standard error') }).on('line', (line) => err.push(line));
  let info = '';
  for await (const part of child.stdio[3] as Readable) info += String(part);
  const pid = Number(/"child-pid": (\d+)/.exec(info)?.[1]);
  return {
    out,
    err,
    ended,
    async line(pattern) {
      for (;;) {
        const found = out.map((line) => pattern.exec(line)).find((match) => match !== null);
        if (found != null) return found;
        const code = await Promise.race([once(lines, 'line').then(() => null), ended.then(String)]);
        if (code !== null) throw new Error(`the process ended with ${code}:\n${err.join('\n')}`);
      }
    },
    kill: (signal) => process.kill(pid, signal),
  };
}
