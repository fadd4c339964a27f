/**
 * Finds helm, or builds it. Helm is a Go program, so no npm package brings it.
 *
 *   $HELM -> helm on PATH -> helm in the folder of `go install` -> an earlier build -> built with Go, which takes minutes, once
 *
 * Any Go on PATH that is new enough will do, also behind an older one, or that of Go's own installer.
 *
 * Several processes may look at the same time. The file `lock` has the process that builds, and the others wait for its end.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../../src/base/errors.ts';

const run = promisify(execFile);

/** Helm 4 needs at least this minor version of Go 1. */
const leastGo = 26;
const helmModule = 'helm.sh/helm/v4/cmd/helm@v4.3.1';
const cacheFolder = fileURLToPath(new URL('../../node_modules/.cache/portolan-helm/', import.meta.url));
/** Where Go's own installer puts it. */
const installedGo = '/usr/local/go/bin';
const longestBuildMs = 15 * 60_000;

type FoundHelm =
  | { readonly path: string }
  /** Why there is none, as a sentence. */
  | { readonly path: null; readonly reason: string };

export async function findHelm(
  environment: NodeJS.ProcessEnv = process.env,
  cache: string = cacheFolder,
  goFolder: string = installedGo,
): Promise<FoundHelm> {
  const given = environment['HELM'] ?? '';
  if (given !== '')
    return existsSync(given) ? { path: given } : { path: null, reason: `HELM names no file: ${given}.` };
  const onPath = (environment['PATH'] ?? '').split(delimiter).filter(Boolean);
  const folders = [...onPath, join(environment['GOPATH'] ?? join(homedir(), 'go'), 'bin'), cache];
  const found = folders.map((folder) => join(folder, 'helm')).find((path) => existsSync(path));
  return found === undefined ? build(environment, cache, [...onPath, goFolder]) : { path: found };
}

async function build(environment: NodeJS.ProcessEnv, cache: string, goFolders: readonly string[]): Promise<FoundHelm> {
  const go = await newestGo(environment, goFolders);
  if (go === null || go.minor < leastGo) {
    const have =
      go === null ? 'There is no helm and no Go' : `There is no helm, and the newest Go is 1.${go.minor} (${go.path})`;
    return { path: null, reason: `${have}. Put helm on PATH, or install Go 1.${leastGo}, which builds it.` };
  }
  mkdirSync(cache, { recursive: true });
  const path = join(cache, 'helm');
  const lock = join(cache, 'lock');
  while (!takeLock(lock)) await sleep(500);
  const temporary = join(cache, 'build');
  mkdirSync(temporary, { recursive: true });
  try {
    if (existsSync(path)) return { path };
    const env = { ...environment, GOBIN: temporary, GOFLAGS: '-mod=mod' };
    await run(go.path, ['install', helmModule], { env, timeout: longestBuildMs, maxBuffer: 64 * 1024 * 1024 });
    renameSync(join(temporary, 'helm'), path);
    return { path };
  } catch (error) {
    const [line] = messageOf(error).split('\n');
    return { path: null, reason: `Helm could not be built with Go: ${line}` };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    rmSync(lock, { force: true });
  }
}

/** False while a process that runs holds the lock. */
function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isHeld(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function isHeld(lock: string): boolean {
  try {
    return process.kill(Number(readFileSync(lock, 'utf8')), 0);
  } catch {
    return false;
  }
}

/** The Go with the newest version; null for none. `minor` is 26 for Go 1.26. */
async function newestGo(
  env: NodeJS.ProcessEnv,
  folders: readonly string[],
): Promise<{ readonly path: string; readonly minor: number } | null> {
  const paths = [...new Set(folders.map((folder) => join(folder, 'go')))].filter((path) => existsSync(path));
  const found = await Promise.all(paths.map(async (path) => ({ path, minor: await goMinor(env, path) })));
  const [newest] = found.filter(({ minor }) => minor > 0).toSorted((a, b) => b.minor - a.minor);
  return newest ?? null;
}

/** 0 for a program that is no Go. */
async function goMinor(env: NodeJS.ProcessEnv, path: string): Promise<number> {
  try {
    const { stdout } = await run(path, ['version'], { env });
    return Number(/go1\.(\d+)/.exec(stdout)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
