/** Options of queries: their bounds, and what they may read. */
import { z } from 'zod';
import { granted, running } from './command-sets.ts';
import type { OptionDefinition } from './option-definition.ts';
import { duration, flag, names, promotion, redaction, text, whole } from './option-values.ts';

/** Reader threads without the option `readers`. The option has no default in its schema, because the demo has another number. */
export const defaultReaders = 3;

export const queryOptions = {
  readers: {
    key: 'readers',
    value: 'number',
    help: 'Reader threads; each answers one operation at a time. Default of the demo: 2.',
    shown: String(defaultReaders),
    commands: running,
    schema: whole(1, 64).optional(),
  },
  leaseMs: {
    key: 'leaseMs',
    value: 'milliseconds',
    help: 'The longest that one operation may hold its snapshot before it gets TIMEOUT.',
    commands: running,
    schema: whole(10, 60_000).default(1000),
  },
  maxPageSize: {
    key: 'maxPageSize',
    value: 'number',
    help: 'The most objects on one page.',
    commands: running,
    schema: whole(1, 10_000).default(500),
  },
  maxCost: {
    key: 'maxCost',
    value: 'number',
    help: 'The most values (fields, times the sizes of lists) that one operation may request.',
    live: true,
    commands: running,
    schema: whole(100, 1_000_000_000).default(500_000),
  },
  maxReadBytes: {
    key: 'maxReadBytes',
    value: 'bytes',
    help: 'The most bytes of objects that one operation may read.',
    live: true,
    commands: running,
    schema: whole(100_000, 4_000_000_000).default(67_108_864),
  },
  searchPaths: {
    key: 'searchPaths',
    value: 'paths',
    list: true,
    help: 'Paths that search covers besides names, labels and images, such as spec.host or spec.rules[].host.',
    commands: running,
    schema: names.default([]),
  },
  scanRows: {
    key: 'scanRows',
    value: 'number',
    help: 'Objects that the counts, aggregates and facets of one operation may read. The bound is five times as high for rows whose columns are enough, and twenty times as high for entries of one index.',
    live: true,
    commands: running,
    schema: whole(0, 1_000_000_000).default(100_000),
  },
  preparedAnswers: {
    key: 'preparedAnswers',
    value: 'true|false',
    help: 'Answer plain lists with text that the readers write; false leaves everything to the executor.',
    commands: running,
    schema: flag.default(true),
  },
  answerCacheBytes: {
    key: 'answerCacheBytes',
    value: 'bytes',
    help: 'The most bytes of answers that are kept in memory. The same question of the same rights is answered from there while its kinds do not change; 0 keeps none.',
    live: true,
    commands: running,
    schema: whole(0, 4_000_000_000).default(33_554_432),
  },
  promote: {
    key: 'promote',
    value: 'resource=path',
    list: true,
    help: 'Paths that have an indexed column from the start, such as pods=spec.schedulerName or foos.example.com=spec.size.',
    commands: running,
    schema: z.array(promotion).default([]),
  },
  promoteQueried: {
    key: 'promoteQueried',
    value: 'true|false',
    help: 'Give paths that queries are seen to need an indexed column in the background (default: true).',
    commands: running,
    schema: flag.default(true),
  },
  redact: {
    key: 'redact',
    value: 'resource=path',
    list: true,
    help: 'Paths whose values are never stored, such as pods=spec.containers[].env or foos.example.com=spec.password. Resources are named by plural, plural.group or Kind.',
    commands: running,
    schema: z.array(redaction).default([]),
  },
  secretData: {
    key: 'secretData',
    value: 'when',
    help: 'live: fetch the data of Secrets from the API server as the caller, when a query selects it; absent: never. live needs --auth.',
    commands: granted,
    schema: z.enum(['absent', 'live'], { error: 'must be absent or live' }).default('absent'),
  },
  relations: {
    key: 'relations',
    value: 'file',
    isPath: true,
    help: 'A YAML file that declares relations between kinds, and switches relations off.',
    commands: [...running, 'schema'],
    schema: text.optional(),
  },
  inferRelations: {
    key: 'inferRelations',
    value: 'true|false',
    help: 'Infer relations of custom resources from their schemas. false: declared relations only.',
    commands: [...running, 'schema'],
    schema: flag.default(true),
  },
  relationAnnotations: {
    key: 'relationAnnotations',
    help: 'Let the annotation portolan.dev/relations of a CustomResourceDefinition declare relations of its kind.',
    commands: [...running, 'schema'],
    schema: flag.default(false),
  },
  explain: {
    key: 'explain',
    help: 'Let callers see how their operations are carried out: SQL, use of indexes, rows.',
    commands: running,
    schema: flag.default(false),
  },
  slowQueryMs: {
    key: 'slowQueryMs',
    value: 'milliseconds',
    help: 'Log operations that take longer, by their shape and without values.',
    live: true,
    commands: running,
    schema: whole(1, 3_600_000).default(500),
  },
  waitForSync: {
    key: 'waitForSync',
    value: 'duration',
    help: 'The longest that a query waits for a kind in its first sync, before CACHE_NOT_READY; 0s: not at all.',
    shown: '2s',
    live: true,
    commands: running,
    schema: duration.prefault('2s'),
  },
} as const satisfies Record<string, OptionDefinition>;
