/** The definition of an option. */
import type { z } from 'zod';
import type { remote } from './command-sets.ts';

export type CommandName = 'demo' | 'serve' | 'schema' | 'rbac' | 'can' | 'shadow' | 'doctor' | (typeof remote)[number];

export interface OptionDefinition {
  /** The key in portolan.yaml. The flag is `--` and its kebab-case; the variable is `PORTOLAN_` and its upper snake case. */
  readonly key: string;
  /** The name of the value in --help, as in `--port <number>`; absent for switches. */
  readonly value?: string;
  /** The option may be repeated, or hold a list separated by commas. */
  readonly list?: true;
  /** A flag names one value, which may have a comma. Commas separate values in the environment variable alone. */
  readonly isWhole?: true;
  /** The values have paths into objects: a comma inside brackets or quotes separates nothing. */
  readonly isOfPaths?: true;
  /** The value is the path of a file. In portolan.yaml it is relative to the folder of that file. */
  readonly isPath?: true;
  readonly help: string;
  /** The default as --help prints it, when that differs from the parsed value. */
  readonly shown?: string;
  /** A running gateway takes a changed value from its configuration file. */
  readonly live?: true;
  readonly commands: readonly CommandName[];
  readonly schema: z.ZodType;
}
