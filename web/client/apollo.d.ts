import type { FieldPolicy, InMemoryCache, InMemoryCacheConfig } from '@apollo/client';
import type { Message } from './index.js';

/** For `withPortolan(new InMemoryCache(cacheConfig))`. */
export declare const cacheConfig: InMemoryCacheConfig;

/** Completes the configuration of a cache at run time, because the configuration has no list of all kinds. */
export declare function withPortolan<C extends InMemoryCache>(cache: C): C;

/**
 * The policy of a list field. Add it yourself only where a cached list is read or written before any query has selected it:
 * `cache.policies.addTypePolicies({ Query: { fields: { pods: listPolicy() } } })`.
 */
export declare function listPolicy(): FieldPolicy;

/**
 * Removes from the cached lists the objects that a message of a subscription removes. Call it with each message and with the filter of the
 * subscription.
 */
export declare function applyChanges(
  cache: InMemoryCache,
  message: Message<unknown>,
  subscription?: { readonly filter?: unknown },
): void;

export * from './index.js';
