/** The types of `@portolan/client/urql`. `npm run types` checks them; nothing runs this file. */
import type * as client from '@portolan/client';
import * as urql from '@portolan/client/urql';
import { type CacheExchangeOpts, cacheExchange } from '@urql/exchange-graphcache';
import { expectTypeOf } from 'vitest';

expectTypeOf(urql.cacheConfig).toEqualTypeOf<Partial<CacheExchangeOpts>>();
expectTypeOf(cacheExchange).toBeCallableWith(urql.cacheConfig);

// It exports all that the entry without a cache exports.
expectTypeOf<typeof urql>().toExtend<typeof client>();
expectTypeOf<urql.Held<string>>().toEqualTypeOf<client.Held<string>>();
