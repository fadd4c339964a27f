/** deploy/install.yaml: the chart with its defaults in the namespace `portolan`, for `kubectl apply` without Helm. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chartFolder } from './chart-files.ts';

const run = promisify(execFile);

export const installPath = fileURLToPath(new URL('../install.yaml', import.meta.url));

const head = `# Portolan in the namespace portolan, written by npm run chart. It needs Kubernetes 1.30.
# It reads the built-in kinds without Secrets. The chart in deploy/chart has everything else.
apiVersion: v1
kind: Namespace
metadata:
  name: portolan
  labels:
    pod-security.kubernetes.io/enforce: restricted
    pod-security.kubernetes.io/audit: restricted
    pod-security.kubernetes.io/warn: restricted
`;

export interface RenderOptions {
  readonly release?: string;
  readonly namespace?: string;
  /** More arguments of `helm template`. */
  readonly args?: readonly string[];
}

/** Of the Kubernetes version for which charts are rendered, whatever version helm itself knows. */
const kubeVersion = '1.37.0';

/** The output of `helm template`. Rejects with the message of helm. */
export async function renderChart(helm: string, options: RenderOptions = {}): Promise<string> {
  const { release = 'portolan', namespace = 'portolan', args = [] } = options;
  const chart = fileURLToPath(chartFolder);
  const { stdout } = await run(
    helm,
    ['template', release, chart, '--namespace', namespace, '--kube-version', kubeVersion, ...args],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  return stdout;
}

/** Labels about Helm are left out: Helm does not manage these objects. */
export async function installManifest(helm: string): Promise<string> {
  const rendered = await renderChart(helm, { args: ['--skip-tests'] });
  return head + rendered.replace(/^ +(?:helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/gm, '');
}
