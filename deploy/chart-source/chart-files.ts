/** The files of the chart that are written from code: `npm run chart` writes them, and a test compares them with the committed ones. */
import { readFileSync } from 'node:fs';
import { abstractKindCrdText } from '../../src/catalog/abstract/abstract-kind-crd.ts';
import { shadowRecordCrdText } from '../../src/sets/record/shadow-record-crd.ts';
import { liveOptionsText } from './config-values.ts';
import { rightsText } from './rights.ts';
import { schemaText, valuesTable, valuesText } from './values-files.ts';

export const chartFolder = new URL('../chart/', import.meta.url);

interface ChartFile {
  /** In the folder of the chart. */
  readonly path: string;
  readonly text: string;
}

/** Of Chart.yaml only the versions, and of the README only the table of values are written. */
export function chartFiles(): readonly ChartFile[] {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return [
    { path: 'Chart.yaml', text: read('Chart.yaml').replace(/^(version|appVersion): .*$/gm, `$1: ${version}`) },
    { path: 'values.yaml', text: valuesText() },
    { path: 'values.schema.json', text: schemaText() },
    { path: 'files/rights.yaml', text: rightsText() },
    { path: 'files/live-options.yaml', text: liveOptionsText() },
    { path: 'files/abstract-kind-crd.yaml', text: `# Written by npm run chart.\n${abstractKindCrdText()}` },
    { path: 'files/shadow-record-crd.yaml', text: `# Written by npm run chart.\n${shadowRecordCrdText()}` },
    { path: 'README.md', text: read('README.md').replace(/^\| value \|.*\n(?:\|.*\n)*/m, () => `${valuesTable()}\n`) },
  ];
}

function read(path: string): string {
  return readFileSync(new URL(path, chartFolder), 'utf8');
}
