/** The types of `@portolan/client/apollo`. `npm run types` checks them; nothing runs this file. */
import { type FieldPolicy, InMemoryCache, type InMemoryCacheConfig } from '@apollo/client';
import type * as client from '@portolan/client';
import * as apollo from '@portolan/client/apollo';
import { expectTypeOf } from 'vitest';

class OwnCache extends InMemoryCache {
  readonly own = true;
}

declare const message: client.Message<{ readonly id: string }>;

expectTypeOf(apollo.cacheConfig).toEqualTypeOf<InMemoryCacheConfig>();
expectTypeOf(apollo.listPolicy).toEqualTypeOf<() => FieldPolicy>();

// withPortolan
expectTypeOf(apollo.withPortolan(new InMemoryCache(apollo.cacheConfig))).toEqualTypeOf<InMemoryCache>();
expectTypeOf(apollo.withPortolan(new OwnCache())).toEqualTypeOf<OwnCache>();
// @ts-expect-error: the configuration alone is no cache
apollo.withPortolan(apollo.cacheConfig);

// applyChanges
const cache = new OwnCache();
expectTypeOf(apollo.applyChanges(cache, message)).toEqualTypeOf<void>();
apollo.applyChanges(cache, message, {});
apollo.applyChanges(cache, message, { filter: { namespaces: ['a'] } });
// @ts-expect-error: a list of changes is no message
apollo.applyChanges(cache, message.changes);
// @ts-expect-error: the filter is a member
apollo.applyChanges(cache, message, { namespaces: ['a'] });

// It exports all that the entry without a cache exports.
expectTypeOf<typeof apollo>().toExtend<typeof client>();
expectTypeOf<apollo.Held<string>>().toEqualTypeOf<client.Held<string>>();
