/** The modules that `portolan client-config` prints, written down and imported as an application does. */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { InMemoryCache } from '@apollo/client';
import type { CacheExchangeOpts } from '@urql/exchange-graphcache';
import { apolloConfig, urqlConfig } from '../../src/graphql/client/client-config.ts';
import { sharedDirectory } from './temporary-directory.ts';

interface Helpers {
  readonly hold: (objects?: readonly Named[], cursor?: string) => Held;
  readonly foldChanges: (held: Held, message: object) => Held;
  readonly resumable: <C>(client: C) => C;
  readonly reconnect: {
    readonly retryAttempts: number;
    shouldRetry(): boolean;
    retryWait(retries: number): Promise<void>;
  };
}

export interface ApolloModule extends Helpers {
  readonly cacheConfig: object;
  readonly withPortolan: <C>(cache: C) => C;
  readonly applyChanges: (cache: InMemoryCache, message: object, subscription?: { filter?: unknown }) => void;
}

export interface UrqlModule extends Helpers {
  readonly cacheConfig: Partial<CacheExchangeOpts>;
}

interface Named {
  readonly id: string;
  readonly name?: string;
}

interface Held {
  readonly objects: readonly Named[];
  readonly cursor: string | null;
  readonly whole: boolean;
}

export interface PrintedModules {
  /** Holds `apollo.js` and `urql.js`. */
  readonly folder: string;
  readonly apollo: ApolloModule;
  readonly urql: UrqlModule;
  remove(): void;
}

/** Writes the modules into a new folder and imports them. */
export async function printModules(): Promise<PrintedModules> {
  const folder = sharedDirectory('clients');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'apollo.js'), apolloConfig());
  writeFileSync(join(folder, 'urql.js'), urqlConfig());
  return {
    folder,
    apollo: (await import(pathToFileURL(join(folder, 'apollo.js')).href)) as ApolloModule,
    urql: (await import(pathToFileURL(join(folder, 'urql.js')).href)) as UrqlModule,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
