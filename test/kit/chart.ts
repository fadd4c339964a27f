/** Renders of the Helm chart for tests. Suites are skipped where there is no helm, and their names say why. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { findHelm } from '../../deploy/chart-source/find-helm.ts';
import { type RenderOptions, renderChart } from '../../deploy/chart-source/install-manifest.ts';
import { must } from '../../src/base/must.ts';

const helm = await findHelm();

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [member: string]: unknown;
}

/** The path of helm; for suites of `describeWithHelm`. */
export function helmPath(): string {
  return must(helm.path, 'helm was found');
}

export function describeWithHelm(name: string, suite: () => void): void {
  const missing = helm.path === null ? ` (${helm.reason})` : '';
  describe.skipIf(helm.path === null)(`${name}${missing}`, { timeout: 120_000 }, suite);
}

const cases = new URL('../chart/cases/', import.meta.url);

/** The names of the files `NAME.values.yaml`. */
export const caseNames: readonly string[] = readdirSync(cases)
  .filter((file) => file.endsWith('.values.yaml'))
  .map((file) => file.replace('.values.yaml', ''))
  .sort();

export function caseFile(name: string): string {
  return fileURLToPath(new URL(name, cases));
}

/** The manifests of `helm template` with the values of a case. */
export function renderCase(name: string, options: RenderOptions = {}): Promise<string> {
  return render({ ...options, args: ['--values', caseFile(`${name}.values.yaml`)] });
}

const renders = new Map<string, Promise<string>>();

/** Equal renders are made once. */
export function render(options: RenderOptions = {}): Promise<string> {
  const key = JSON.stringify(options);
  const known = renders.get(key) ?? renderChart(helmPath(), options);
  renders.set(key, known);
  return known;
}

/** With values that are given as JSON, which is YAML. */
export function renderValues(values: object, options: RenderOptions = {}): Promise<string> {
  const args = Object.entries(values).flatMap(([key, value]) => ['--set-json', `${key}=${JSON.stringify(value)}`]);
  return render({ ...options, args: [...args, ...(options.args ?? [])] });
}

/** Throws for text that is not YAML, or that has a key twice. */
export function manifestsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    const value = document.toJS() as Manifest | null;
    return value === null ? [] : [value];
  });
}

/** The only manifest of the kind; `name` where there are several. */
export function manifestOf(text: string, kind: string, name?: string): Manifest {
  const found = manifestsOf(text).filter(
    (each) => each.kind === kind && [undefined, each.metadata.name].includes(name),
  );
  return must(found.length === 1 ? found[0] : undefined, `there is one ${kind}`);
}

/** portolan.yaml of the ConfigMap. */
export function portolanYaml(text: string): string {
  const { data } = manifestOf(text, 'ConfigMap', 'portolan') as unknown as { data: Record<string, string> };
  return must(data['portolan.yaml'], 'portolan.yaml');
}
