/** The programs of test/clients/go: they use Kubernetes' own Go modules, and are built where Go and these modules are on this machine. */
import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = fileURLToPath(new URL('../clients/go', import.meta.url));
/** Nothing is downloaded: go.sum has the checksums, and the modules are in Go's cache or not at all. */
const env = { ...process.env, GOPROXY: 'off', GOSUMDB: 'off', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local' };

/** Why the programs cannot be built here; null if they can. */
export function missingForGo(): string | null {
  try {
    execFileSync('go', ['list', '-deps', './...'], { cwd: folder, env, stdio: 'pipe', timeout: 60_000 });
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
      ? 'Go is not on PATH'
      : 'the modules are not on this machine';
  }
}

/** @param name of its folder @param output the path of the program */
export async function buildGo(name: 'informer' | 'merge', output: string): Promise<void> {
  await promisify(execFile)('go', ['build', '-o', output, `./${name}`], { cwd: folder, env });
}
