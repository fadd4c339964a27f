/**
 * Runs the exec plugin of a kubeconfig user and reads its ExecCredential (client.authentication.k8s.io/v1 and v1beta1).
 *
 * Owns: one run of the plugin, with limits on time and output. The caller caches and shares the result.
 * Never: lets the plugin prompt for input (standard input is empty), and never logs or reports its stdout.
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { list, record, text } from '../../base/json.ts';
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
  const exec = config.exec ?? {};
  const command = text(exec['command']);
  if (command === undefined) {
    throw new PortolanError(
      'CONFIGURATION',
      `The exec section of context ${config.context} in ${config.source} names no command: repair the file.`,
    );
  }
  if (exec['interactiveMode'] === 'Always') {
    throw new PortolanError(
      'CONFIGURATION',
      `The credential plugin ${command} of context ${config.context} needs interactive input, which a server cannot give: use a plugin without prompts, or another context.`,
    );
  }
  const stdout = await run(command, exec, config, options);
  return read(stdout, command, config);
}

function run(
  command: string,
  exec: Readonly<Record<string, unknown>>,
  config: ClusterConfig,
  options: { readonly env: NodeJS.ProcessEnv; readonly timeoutMs: number; readonly ca: Buffer | undefined },
): Promise<string> {
  // As in kubectl: a command with a separator is relative to the kubeconfig, any other is searched in PATH.
  // An absolute path, because `./plugin` in the folder `.` would become a name of the PATH.
  const program = /[/\\]/.test(command) ? resolve(config.directory, command) : command;
  const env: NodeJS.ProcessEnv = { ...options.env, KUBERNETES_EXEC_INFO: execInfo(exec, config, options.ca) };
  for (const entry of list(exec['env'])) {
    const name = text(record(entry)?.['name']);
    if (name !== undefined) env[name] = text(record(entry)?.['value']) ?? '';
  }
  return new Promise((resolve, reject) => {
    const child = spawn(program, list(exec['args']).map(String), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    let size = 0;
    let errorOutput = '';
    const fail = (why: string): void => {
      const detail = errorOutput.replace(/\s+/g, ' ').trim().slice(0, 300);
      reject(
        new PortolanError(
          'UNAUTHENTICATED',
          `The credential plugin ${command} of context ${config.context} failed (${why}${detail === '' ? '' : `: ${detail}`}): run it by hand and log in again.`,
        ),
      );
    };
    // spawn's own timeout is not enough: a child process of the plugin may survive it and keep the pipes open.
    const stop = (why: string): void => {
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
      fail(why);
    };
    const timer = setTimeout(() => stop(`it took longer than ${options.timeoutMs} ms`), options.timeoutMs);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= outputLimit) out.push(chunk);
      else stop(`it wrote more than ${outputLimit} bytes`);
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      if (errorOutput.length < 2000) errorOutput += chunk;
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const hint = text(exec['installHint'])?.replace(/\s+/g, ' ').trim();
      reject(
        new PortolanError(
          'CONFIGURATION',
          `The credential plugin ${command} of context ${config.context} cannot be run (${messageOf(error)}): install it where Portolan runs${hint === undefined ? '' : ` (${hint})`}.`,
          { cause: error },
        ),
      );
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(Buffer.concat(out).toString('utf8'));
      else fail(signal === null ? `exit code ${code}` : `ended by ${signal}`);
    });
  });
}

/** The ExecCredential that the plugin receives in KUBERNETES_EXEC_INFO. */
function execInfo(exec: Readonly<Record<string, unknown>>, config: ClusterConfig, ca: Buffer | undefined): string {
  const { cluster } = config;
  return JSON.stringify({
    apiVersion: text(exec['apiVersion']) ?? 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      ...(exec['provideClusterInfo'] === true
        ? {
            cluster: {
              server: cluster.server,
              'certificate-authority-data': ca?.toString('base64'),
              'tls-server-name': cluster.tlsServerName,
              'insecure-skip-tls-verify': cluster.skipTLSVerify ? true : undefined,
              'proxy-url': cluster.proxyUrl,
            },
          }
        : {}),
    },
  });
}

function read(stdout: string, command: string, config: ClusterConfig): ExecCredential {
  let status: Record<string, unknown> | undefined;
  try {
    status = record(record(JSON.parse(stdout))?.['status']);
  } catch {
    status = undefined;
  }
  const token = text(status?.['token']);
  const clientCertificate = text(status?.['clientCertificateData']);
  const clientKey = text(status?.['clientKeyData']);
  if (token === undefined && (clientCertificate === undefined || clientKey === undefined)) {
    throw new PortolanError(
      'UNAUTHENTICATED',
      `The credential plugin ${command} of context ${config.context} gave no credential: run it by hand and see that it prints an ExecCredential with a status.`,
    );
  }
  const expiresAt = Date.parse(text(status?.['expirationTimestamp']) ?? '');
  return {
    token,
    clientCertificate,
    clientKey,
    expiresAt: Number.isFinite(expiresAt) ? expiresAt : undefined,
  };
}
