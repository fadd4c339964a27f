/** The part `config` of the chart's values: the options of `portolan serve`, except for options that the chart sets itself. */
import { stringify } from 'yaml';
import { z } from 'zod';
import { type Config, optionTable } from '../../src/config/options.ts';
import type { OptionDefinition } from '../../src/config/table/option-definition.ts';

/** They follow from other values: the port of the container, its volumes and its service account, and the values of `aggregate`. */
const setByChart: readonly (keyof Config)[] = [
  'port',
  'data',
  'tlsCert',
  'tlsKey',
  'clientCa',
  'proxyClientCa',
  'planKeyFile',
  'aggregate',
  'aggregateHost',
  'aggregatePort',
  'aggregateGroup',
  'aggregateVersion',
  'aggregateService',
  'aggregateCert',
  'aggregateKey',
  'kubeconfig',
  'inCluster',
];

/** The options for which the chart has a value of its own. */
export const configDefaults = {
  host: '0.0.0.0',
  auth: ['token'],
  auditLog: '-',
  drain: '10s',
  maxDisk: '3Gi',
} as const satisfies Partial<Record<keyof Config, unknown>>;

export const configOptions: readonly OptionDefinition[] = Object.values(
  optionTable as Record<string, OptionDefinition>,
).filter(({ key, commands }) => commands.includes('serve') && !setByChart.some((each) => each === key));

export const configValues = z.strictObject(
  Object.fromEntries(configOptions.map(({ key, schema, help }) => [key, schema.optional().describe(help)])),
);

/** `files/live-options.yaml`: the options that a running gateway takes from a changed ConfigMap. */
export function liveOptionsText(): string {
  const live = configOptions.filter(({ live: isLive }) => isLive).map(({ key }) => key);
  return `# Written by npm run chart.\n${stringify({ live })}`;
}
