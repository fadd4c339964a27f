/**
 * Runs the exec plugin of a kubeconfig user and reads its ExecCredential (client.authentication.k8s.io/v1 and v1beta1).
 *
 * Owns: one run of the plugin, bounded in time and output. Caching and sharing of the result belong to the caller.
 * Never: lets the plugin ask questions (standard input is empty), and never logs or reports what it wrote to stdout.
 */
import { spawn } from 'node:child_process';
import { isAbsolute, join } from 'node:path';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { list, record, text } from '../http/json.ts';
import type { ClusterConfig } from './kubeconfig.ts';

/** The credential from a plugin. At least a token, or a certificate with its key. */
interface ExecCredential {
  readonly token: string | undefined;
  readonly clientCertificate: string | undefined;
  readonly clientKey: string | undefined;
  /** Milliseconds since the Unix epoch; without it the credential lasts until the server refuses it. */
  readonly expiresAt: number | undefined;
}

const outputLimit = 1024 * 1024;

/**
 * The credential of the plugin in `config.exec`. `timeoutMs` bounds the run. Throws CONFIGURATION when the plugin is
 * missing or badly described, UNAUTHENTICATED when it ran and gave no credential.
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
      `The credential plugin ${command} of context ${config.context} wants to ask questions, which a server cannot answer: use one that does not, or another context.`,
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
  // As kubectl: a command with a separator is a file beside the kubeconfig, a bare one is looked up in PATH.
  const program = /[/\\]/.test(command) && !isAbsolute(command) ? join(config.directory, command) : command;
  const env: NodeJS.ProcessEnv = { ...options.env, KUBERNETES_EXEC_INFO: execInfo(exec, config, options.ca) };
  for (const entry of list(exec['env'])) {
    const name = text(record(entry)?.['name']);
    if (name !== undefined) env[name] = text(record(entry)?.['value']) ?? '';
  }
  return new Promise((resolve, reject) => {
    const child = spawn(program, list(exec['args']).map(String), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const out: Buffer[] = [];
    let size = 0;
    let complaint = '';
    const fail = (why: string): void => {
      const said = complaint.replace(/\s+/g, ' ').trim().slice(0, 300);
      reject(
        new PortolanError(
          'UNAUTHENTICATED',
          `The credential plugin ${command} of context ${config.context} failed (${why}${said === '' ? '' : `: ${said}`}): run it by hand and log in again.`,
        ),
      );
    };
    // Not left to spawn: what the plugin started may outlive it and hold its output open.
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
      if (complaint.length < 2000) complaint += chunk;
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

/** The ExecCredential that a plugin may read from KUBERNETES_EXEC_INFO. */
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
