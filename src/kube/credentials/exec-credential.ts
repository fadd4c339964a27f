/**
 * The credential of a kubeconfig user with an exec plugin. client-node's ExecAuth runs the plugin and reads its ExecCredential.
 *
 * Owns: what ExecAuth leaves open. ExecAuth keeps a credential that a server has rejected, and runs the plugin once for each concurrent
 * request. So each run has an instance of its own, and the caller shares the result. ExecAuth limits neither time nor output, quotes the
 * output in its errors, and does not compare the apiVersion.
 * Never: lets the plugin prompt for input (standard input is empty), and never logs or reports its stdout.
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { type ErrorCode, messageOf, PortolanError } from '../../base/errors.ts';
import { list, record, records, text, textOr } from '../../base/json.ts';
import type { ClusterConfig } from './kubeconfig.ts';

/** The credential from a plugin: at least a token, or a certificate with its key. */
interface ExecCredential {
  readonly token: string | undefined;
  readonly clientCertificate: string | undefined;
  readonly clientKey: string | undefined;
  /** Milliseconds since the Unix epoch; undefined if the credential is valid until the server rejects it. */
  readonly expiresAt: number | undefined;
}

const outputLimit = 1024 * 1024;

/**
 * The credential of the plugin in `config.exec`. `timeoutMs` limits the run. Throws CONFIGURATION when the plugin cannot be
 * started or its section is invalid, UNAUTHENTICATED when it fails or returns no credential.
 */
export async function runExecPlugin(
  config: ClusterConfig,
  options: { readonly env: NodeJS.ProcessEnv; readonly timeoutMs: number; readonly ca: Buffer | undefined },
): Promise<ExecCredential> {
  const { context, source, exec = {} } = config;
  const command = text(exec['command']);
  if (command === undefined) {
    throw new PortolanError(
      'CONFIGURATION',
      `The exec section of context ${context} in ${source} names no command: repair the file.`,
    );
  }
  const refuse = (code: ErrorCode, what: string, cause?: unknown): PortolanError =>
    new PortolanError(
      code,
      `The credential plugin ${command} of context ${context} ${what}.`,
      cause === undefined ? {} : { cause },
    );
  if (exec['interactiveMode'] === 'Always') {
    const advice = 'use a plugin without prompts, or another context';
    throw refuse('CONFIGURATION', `needs interactive input, which a server cannot give: ${advice}`);
  }
  // As in kubectl: a command with a separator is relative to the kubeconfig, any other is searched in PATH.
  // An absolute path, because `./plugin` in the folder `.` would become a name of the PATH.
  const program = /[/\\]/.test(command) ? resolve(config.directory, command) : command;
  const variables = records(exec['env']).map(({ name, value }) => [textOr(name), textOr(value)]);
  const info = execInfo(exec, config, options.ca);
  const env = { ...options.env, ...Object.fromEntries(variables), KUBERNETES_EXEC_INFO: info };
  const { ExecAuth } = await import('@kubernetes/client-node/dist/exec_auth.js');
  const auth = new ExecAuth();
  let failure: string | undefined;
  const fail = (why: string): void => {
    failure ??= why;
  };
  const tokenCache: { user?: unknown } = {};
  Object.assign(auth, {
    tokenCache,
    execFn: (file: string, args: readonly string[]) => spawnGuarded(file, args, env, options.timeoutMs, fail),
  });
  const user = { name: 'user', exec: { command: program, args: list(exec['args']).map(String) } };
  const error: unknown = await auth.applyAuthentication(user, {}).catch((thrown: unknown) => thrown);
  if (failure !== undefined) throw refuse('UNAUTHENTICATED', `failed (${failure}): run it by hand and log in again`);
  // A code of the system. The errors of ExecAuth about the output have none.
  if (error instanceof Error && 'code' in error) {
    const hint = text(exec['installHint'])?.replace(/\s+/g, ' ').trim();
    const advice = `install it where Portolan runs${hint === undefined ? '' : ` (${hint})`}`;
    throw refuse('CONFIGURATION', `cannot be run (${messageOf(error)}): ${advice}`, error);
  }
  const given = record(tokenCache.user);
  const [wanted, version] = [text(exec['apiVersion']), text(given?.['apiVersion'])];
  if (wanted !== undefined && version !== undefined && version !== wanted) {
    const what = `gave an ExecCredential of ${version}, and the kubeconfig wants ${wanted}`;
    throw refuse('UNAUTHENTICATED', `${what}: write that of the plugin into ${source}`);
  }
  const status = record(given?.['status']);
  const token = text(status?.['token']);
  const clientCertificate = text(status?.['clientCertificateData']);
  const clientKey = text(status?.['clientKeyData']);
  const isPaired = (clientCertificate === undefined) === (clientKey === undefined);
  if (!isPaired || (token ?? clientKey) === undefined) {
    const what = token === undefined ? 'gave no credential' : 'gave a certificate or a key without the other';
    const advice = 'run it by hand and see that it prints an ExecCredential with a status';
    throw refuse('UNAUTHENTICATED', `${what}: ${advice}`);
  }
  const end = status?.['expirationTimestamp'] ?? undefined;
  const expiresAt = end === undefined ? undefined : Date.parse(textOr(end));
  if (Number.isNaN(expiresAt) || !/T.*(?:Z|[+-]\d\d:\d\d)$|^$/.test(textOr(end))) {
    throw refuse('UNAUTHENTICATED', 'gave an expirationTimestamp that is no time of RFC 3339: report it to its makers');
  }
  return { token, clientCertificate, clientKey, expiresAt };
}

/** Starts the plugin for ExecAuth, which waits until its output is closed. @param fail is told why the run gives no credential */
function spawnGuarded(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
  fail: (why: string) => void,
) {
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let size = 0;
  let errorOutput = '';
  // spawn's own timeout is not enough: a child process of the plugin may survive it and keep the pipes open.
  const stop = (why: string): void => {
    child.kill('SIGKILL');
    child.stdout.destroy();
    child.stderr.destroy();
    end(why);
  };
  const end = (why: string): void => {
    const detail = errorOutput.replace(/\s+/g, ' ').trim().slice(0, 300);
    fail(detail === '' ? why : `${why}: ${detail}`);
  };
  const timer = setTimeout(() => stop(`it took longer than ${timeoutMs} ms`), timeoutMs);
  child.stdout.on('data', (chunk: string | Buffer) => {
    size += Buffer.byteLength(chunk);
    if (size > outputLimit) stop(`it wrote more than ${outputLimit} bytes`);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    if (errorOutput.length < 2000) errorOutput += chunk;
  });
  child.on('close', (code, signal) => {
    clearTimeout(timer);
    const wasStarted = child.pid !== undefined;
    if (wasStarted && code !== 0) end(signal === null ? `exit code ${code}` : `ended by ${signal}`);
  });
  // ExecAuth would keep all of stderr.
  return { stdout: child.stdout, stderr: Readable.from([]), on: child.on.bind(child) };
}

/** The ExecCredential that the plugin receives in KUBERNETES_EXEC_INFO. */
function execInfo(exec: Readonly<Record<string, unknown>>, { cluster }: ClusterConfig, ca: Buffer | undefined): string {
  const shown = {
    server: cluster.server,
    'certificate-authority-data': ca?.toString('base64'),
    'tls-server-name': cluster.tlsServerName,
    'insecure-skip-tls-verify': cluster.skipTLSVerify ? true : undefined,
    'proxy-url': cluster.proxyUrl,
  };
  return JSON.stringify({
    apiVersion: text(exec['apiVersion']) ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec['provideClusterInfo'] === true ? { cluster: shown } : {}) },
  });
}
