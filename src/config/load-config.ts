/**
 * Merges flags, environment and file into a Config. Precedence: flags, then environment, then file, then defaults.
 * Every error names the option, its source and its value.
 *
 *   --port 5000, PORTOLAN_PORT=6000, portolan.yaml `port: 7000`     port is 5000
 *   PORTOLAN_PORT=x                                                 "PORTOLAN_PORT is "x" but must be a whole number from 0 to 65535."
 *
 * The user names the file by --config. Only `serve` looks for a portolan.yaml in the working directory,
 * which may be a folder of somebody else (found-file.ts).
 */
import { dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { messageOf, PortolanError } from '../base/errors.ts';
import { readSmallFile } from '../base/read-small-file.ts';
import { splitList } from '../base/text/split-list.ts';
import { refuseHarm } from './found-file.ts';
import { type Config, flagOf, optionTable, variableOf } from './options.ts';
import type { OptionDefinition } from './table/option-definition.ts';

interface ConfigSources {
  /** The options present on the command line, by key. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Path of a file that must exist: the user named it. */
  readonly file?: string;
  /** Without a named file, read `portolan.yaml` of the working directory if it is there. */
  readonly mayFind?: boolean;
}

interface Given {
  readonly value: unknown;
  readonly source: string;
  readonly isOfFile?: true;
}

/** A file of options. */
export interface ConfigFile {
  readonly path: string;
  readonly text: string;
  /** False for a file that was only found. */
  readonly isNamed: boolean;
  /** The options that have their values from it. */
  readonly keys: readonly (keyof Config)[];
}

/** A configuration with what it was made of. */
export interface LoadedConfig {
  readonly config: Config;
  readonly sources: ConfigSources;
  /** Null where there is none. */
  readonly file: ConfigFile | null;
}

/** The file that is found. */
export const defaultFile = 'portolan.yaml';
/** A file of options is short. */
const mostBytes = 2 ** 20;

/**
 * Reads the whole configuration.
 * @throws PortolanError CONFIGURATION with one sentence about the first error found.
 */
export function readConfig(sources: ConfigSources): LoadedConfig {
  const { file, mayFind = false } = sources;
  const isNamed = file !== undefined;
  const path = file ?? defaultFile;
  const text = isNamed || mayFind ? readFile(path, isNamed) : null;
  const { config, keys } = merged(sources, path, text ?? '');
  return { config, sources, file: text === null ? null : { path, text, isNamed, keys } };
}

/** The whole configuration. @throws PortolanError CONFIGURATION with one sentence about the first error found. */
export function loadConfig(sources: ConfigSources): Config {
  return readConfig(sources).config;
}

/** The configuration with this text of its file. @throws PortolanError CONFIGURATION with one sentence about the first error found. */
export function parseConfig(sources: ConfigSources, name: string, text: string): Config {
  return merged(sources, name, text).config;
}

function merged(
  sources: ConfigSources,
  name: string,
  text: string,
): { readonly config: Config; readonly keys: readonly (keyof Config)[] } {
  const { flags, environment } = sources;
  const values = valuesIn(text, name);
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(optionTable, key)) {
      throw new PortolanError(
        'CONFIGURATION',
        `${name} has the key ${key}, which is not an option; see portolan serve --help.`,
      );
    }
  }
  const keys: (keyof Config)[] = [];
  const entries = Object.values(optionTable as Record<string, OptionDefinition>).map((option) => {
    const given = find(option, flags, environment, values, name);
    if (given?.isOfFile === true) keys.push(option.key as keyof Config);
    const parsed = option.schema.safeParse(given?.value);
    if (parsed.success) return [option.key, parsed.data];
    const problem = parsed.error.issues[0]?.message ?? 'cannot be used';
    throw new PortolanError(
      'CONFIGURATION',
      `${given?.source ?? option.key} is ${JSON.stringify(given?.value)} but ${problem}.`,
    );
  });
  const config = Object.fromEntries(entries) as unknown as Config;
  if (sources.file === undefined) refuseHarm(keys, config, name);
  return { config, keys };
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
    return { value: asList(option, variable, true), source: variableOf(key) };
  if (file[key] !== undefined && file[key] !== null)
    return {
      value: asPath(option, asList(option, file[key]), fileName),
      source: `${key} in ${fileName}`,
      isOfFile: true,
    };
  return undefined;
}

/** As in a kubeconfig, a relative path is relative to the folder of its file, never to the folder in which a command runs. */
function asPath({ isPath }: OptionDefinition, value: unknown, fileName: string): unknown {
  if (isPath !== true || typeof value !== 'string' || ['', '-'].includes(value) || isAbsolute(value)) return value;
  return join(dirname(fileName), value);
}

/**
 * Is the value a service link? For a Service named portolan, Kubernetes sets PORTOLAN_PORT=tcp://10.0.0.1:4000 in every Pod of the
 * namespace, as Docker links did. The value is ignored then.
 */
function isServiceLink(value: string): boolean {
  return /^(?:tcp|udp|sctp):\/\//.test(value);
}

function asList(option: OptionDefinition, value: unknown, isVariable = false): unknown {
  if (option.list !== true) return value;
  const parts = Array.isArray(value) ? value : [value];
  if (option.isWhole === true && !isVariable) return parts;
  const split = (part: string): readonly string[] =>
    option.isOfPaths === true ? splitList(part).map(({ text }) => text) : part.split(',');
  return parts.flatMap((part) =>
    typeof part === 'string'
      ? split(part)
          .map((name) => name.trim())
          .filter(Boolean)
      : [part],
  );
}

/** Null without a file, if it may be missing. */
function readFile(path: string, mustExist: boolean): string | null {
  try {
    return readSmallFile(path, mostBytes).toString('utf8');
  } catch (error) {
    if (!mustExist && (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new PortolanError('CONFIGURATION', `The configuration file ${path} cannot be read: ${messageOf(error)}.`, {
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
