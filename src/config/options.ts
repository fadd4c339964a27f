/**
 * The table of all options. Each entry defines a flag, an environment variable and a key of portolan.yaml. It also defines the
 * line of --help and the validation.
 *
 *   eventsMaxAge     --events-max-age 6h     PORTOLAN_EVENTS_MAX_AGE=6h     eventsMaxAge: 6h
 */
import type { z } from 'zod';
import { aggregateOptions } from './table/aggregate-options.ts';
import { commandOptions } from './table/command-options.ts';
import { ingestOptions } from './table/ingest-options.ts';
import type { OptionDefinition } from './table/option-definition.ts';
import { queryOptions } from './table/query-options.ts';
import { serverOptions } from './table/server-options.ts';

/** Each schema holds the option's default, so that --help, file and code use the same one. */
export const optionTable = {
  ...serverOptions,
  ...aggregateOptions,
  ...ingestOptions,
  ...queryOptions,
  ...commandOptions,
} as const satisfies Record<string, OptionDefinition>;

type OptionKey = keyof typeof optionTable;

/** The value of every option, with defaults applied. */
export type Config = { readonly [K in OptionKey]: z.output<(typeof optionTable)[K]['schema']> };

/** `eventsMaxAge` -> `--events-max-age`. */
export function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** `eventsMaxAge` -> `PORTOLAN_EVENTS_MAX_AGE`. */
export function variableOf(key: string): string {
  return `PORTOLAN_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
