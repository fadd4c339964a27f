/** Options of single commands, and of the log. */
import { z } from 'zod';
import { all, remote } from './command-sets.ts';
import type { OptionDefinition } from './option-definition.ts';
import { address, flag, roleName, serviceAccount, text, whole } from './option-values.ts';

export const commandOptions = {
  pods: {
    key: 'pods',
    value: 'number',
    help: 'Pods in the demo world.',
    commands: ['demo'],
    schema: whole(0, 200_000).default(2000),
  },
  still: {
    key: 'still',
    help: 'A demo world in which nothing happens by itself.',
    commands: ['demo'],
    schema: flag.default(false),
  },
  demo: {
    key: 'demo',
    help: 'Use the demo world instead of a cluster.',
    commands: ['schema', 'rbac', 'can'],
    schema: flag.default(false),
  },
  semanticNonNull: {
    key: 'semanticNonNull',
    help: 'Mark the fields that the schemas of the API server require with @semanticNonNull.',
    commands: ['schema'],
    schema: flag.default(false),
  },
  url: {
    key: 'url',
    value: 'address',
    help: 'GraphQL endpoint of the gateway.',
    commands: remote,
    schema: address.default('http://127.0.0.1:4000/graphql'),
  },
  token: {
    key: 'token',
    value: 'token',
    help: 'Bearer token for a gateway with --auth. Other users of the machine can see a flag, so use the variable.',
    commands: remote,
    schema: text.optional(),
  },
  failing: {
    key: 'failing',
    help: 'Show only what is failing.',
    commands: ['status'],
    schema: flag.default(false),
  },
  all: {
    key: 'all',
    help: 'Show the healthy resources too, one in a line.',
    commands: ['status'],
    schema: flag.default(false),
  },
  json: {
    key: 'json',
    help: 'Print JSON.',
    commands: ['status', 'relations', 'can'],
    schema: flag.default(false),
  },
  suggest: {
    key: 'suggest',
    help: 'Print the inferred relations as declarations for --relations.',
    commands: ['relations'],
    schema: flag.default(false),
  },
  wildcards: {
    key: 'wildcards',
    help: 'Grant all resources in one rule instead of naming them; it holds for the kinds of CRDs to come too.',
    commands: ['rbac'],
    schema: flag.default(false),
  },
  serviceAccount: {
    key: 'serviceAccount',
    value: 'namespace/name',
    help: 'The service account of Portolan: rbac prints its bindings too, and doctor looks at its rights for --aggregate.',
    commands: ['rbac', 'doctor'],
    schema: serviceAccount.optional(),
  },
  name: {
    key: 'name',
    value: 'name',
    help: 'The name of the roles and bindings.',
    commands: ['rbac'],
    schema: roleName.default('portolan'),
  },
  logLevel: {
    key: 'logLevel',
    value: 'level',
    help: 'debug, info, warn, error or silent; on standard error: text on a terminal, else JSON lines.',
    commands: all,
    schema: z
      .enum(['debug', 'info', 'warn', 'error', 'silent'], { error: 'must be debug, info, warn, error or silent' })
      .default('info'),
  },
} as const satisfies Record<string, OptionDefinition>;
