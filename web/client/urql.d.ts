import type { CacheExchangeOpts } from '@urql/exchange-graphcache';

/** For `cacheExchange(cacheConfig)`. */
export declare const cacheConfig: Partial<CacheExchangeOpts>;

export * from './index.js';
