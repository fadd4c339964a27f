/**
 * Merges flags, environment and file into a Config. Precedence: flags, then environment, then file, then defaults.
 * Every error names the option, its source and its value.
 *
 *   --port 5000, PORTOLAN_PORT=6000, portolan.yaml `port: 7000`     port is 5000
 *   PORTOLAN_PORT=x                                                 "PORTOLAN_PORT is "x" but must be a whole number from 0 to 65535."
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { messageOf, PortolanError } from '../base/errors.ts';
import { type Config, flagOf, optionTable, variableOf } from './options.ts';
import type { OptionDefinition } from './table/option-definition.ts';

export interface ConfigSources {
  /** The options present on the command line, by key. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Path of a file that must exist. Default: `portolan.yaml` in the working directory, if it exists. */
  readonly file?: string;
}

interface Given {
  readonly value: unknown;
  readonly source: string;
}

/** A configuration with what it was made of. */
export interface LoadedConfig {
  readonly config: Config;
  readonly sources: ConfigSources;
  /** Null where there is none. */
  readonly file: { readonly path: string; readonly text: string } | null;
}

/**
 * Reads the whole configuration.
 * @throws PortolanError CONFIGURATION with one sentence about the first error found.
 */
export function readConfig(sources: ConfigSources): LoadedConfig {
  const path = sources.file ?? defaultFile;
  const text = readFile(sources.file);
  return { config: parseConfig(sources, path, text ?? ''), sources, file: text === null ? null : { path, text } };
}

/** The whole configuration. @throws PortolanError CONFIGURATION with one sentence about the first error found. */
export function loadConfig(sources: ConfigSources): Config {
  return readConfig(sources).config;
}

/** The configuration with this text of its file. @throws PortolanError CONFIGURATION with one sentence about the first error found. */
export function parseConfig(
  { flags, environment }: Pick<ConfigSources, 'flags' | 'environment'>,
  name: string,
  text: string,
): Config {
  const values = valuesIn(text, name);
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(optionTable, key)) {
      throw new PortolanError(
        'CONFIGURATION',
        `${name} has the key ${key}, which is not an option; see portolan serve --help.`,
      );
    }
  }
  const entries = Object.values(optionTable as Record<string, OptionDefinition>).map((option) => {
    const given = find(option, flags, environment, values, name);
    const parsed = option.schema.safeParse(given?.value);
    if (parsed.success) return [option.key, parsed.data];
    const problem = parsed.error.issues[0]?.message ?? 'cannot be used';
    throw new PortolanError(
      'CONFIGURATION',
      `${given?.source ?? option.key} is ${JSON.stringify(given?.value)} but ${problem}.`,
    );
  });
  return Object.fromEntries(entries) as unknown as Config;
}

function find(
  option: OptionDefinition,
  flags: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
  file: Readonly<Record<string, unknown>>,
  fileName: string,
): Given | undefined {
  const { key } = option;
  const flag = flags[key];
  if (flag !== undefined) return { value: asList(option, flag), source: flagOf(key) };
  const variable = environment[variableOf(key)];
  if (variable !== undefined && variable !== '' && !isServiceLink(variable))
    return { value: asList(option, variable), source: variableOf(key) };
  if (file[key] !== undefined && file[key] !== null)
    return { value: asList(option, file[key]), source: `${key} in ${fileName}` };
  return undefined;
}

/**
 * Is the value a service link? For a Service named portolan, Kubernetes sets PORTOLAN_PORT=tcp://10.0.0.1:4000 in every Pod of the
 * namespace, as Docker links did. The value is ignored then.
 */
function isServiceLink(value: string): boolean {
  return /^(?:tcp|udp|sctp):\/\//.test(value);
}

function asList(option: OptionDefinition, value: unknown): unknown {
  if (option.list !== true) return value;
  const parts = Array.isArray(value) ? value : [value];
  return parts.flatMap((part) =>
    typeof part === 'string'
      ? part
          .split(',')
          .map((name) => name.trim())
          .filter(Boolean)
      : [part],
  );
}

/** The file of a configuration without `file`. It may be missing. */
const defaultFile = 'portolan.yaml';

/** Null without a file, if it may be missing. */
function readFile(file: string | undefined): string | null {
  const name = file ?? defaultFile;
  try {
    return readFileSync(name, 'utf8');
  } catch (error) {
    if (file === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new PortolanError('CONFIGURATION', `The configuration file ${name} cannot be read: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

function valuesIn(text: string, name: string): Readonly<Record<string, unknown>> {
  let values: unknown;
  try {
    values = parse(text);
  } catch (error) {
    const [line] = messageOf(error).split('\n');
    throw new PortolanError('CONFIGURATION', `The configuration file ${name} is not YAML: ${line}`, { cause: error });
  }
  if (values === null || values === undefined) return {};
  if (typeof values !== 'object' || Array.isArray(values)) {
    throw new PortolanError(
      'CONFIGURATION',
      `The configuration file ${name} must hold options by name, such as \`port: 4000\`.`,
    );
  }
  return values as Readonly<Record<string, unknown>>;
}
