/** The types of `@portolan/client`. `npm run types` checks them; nothing runs this file. */
import { type Change, foldChanges, type Held, hold, type Message, reconnect, resumable } from '@portolan/client';
import { type Client, type ClientOptions, createClient } from 'graphql-ws';
import { expectTypeOf } from 'vitest';

interface Pod {
  readonly id: string;
  readonly metadata: { readonly name: string };
}

declare const pods: readonly Pod[];
declare const message: Message<Pod>;

// hold
expectTypeOf(hold<Pod>()).toEqualTypeOf<Held<Pod>>();
expectTypeOf(hold(pods, 'c')).toEqualTypeOf<Held<Pod>>();
expectTypeOf(hold(pods, null)).toEqualTypeOf<Held<Pod>>();
// @ts-expect-error: without an id, a change has no object to replace
hold([{ name: 'a' }]);
// @ts-expect-error: a cursor is text
hold(pods, 1);

const held = hold(pods);
expectTypeOf(held.objects).toEqualTypeOf<readonly Pod[]>();
expectTypeOf(held.byId).toEqualTypeOf<ReadonlyMap<string, Pod>>();
expectTypeOf(held.cursor).toEqualTypeOf<string | null>();
expectTypeOf(held.whole).toEqualTypeOf<boolean>();
// @ts-expect-error: only foldChanges makes another copy
held.whole = true;

// foldChanges
expectTypeOf(foldChanges(held, message)).toEqualTypeOf<Held<Pod>>();
expectTypeOf(message.changes).toEqualTypeOf<readonly Change<Pod>[]>();
expectTypeOf(foldChanges).parameter(1).toExtend<{ readonly phase: string; readonly cursor: string }>();
foldChanges(held, { phase: 'LIVE', reset: false, cursor: 'c', changes: [{ type: 'REMOVED', id: '1', object: null }] });
// @ts-expect-error: a query without `reset` cannot be folded
foldChanges(held, { phase: 'LIVE', cursor: 'c', changes: [] });
// @ts-expect-error: the objects of a message are those of the list
foldChanges(held, { phase: 'LIVE', reset: false, cursor: 'c', changes: [{ type: 'ADDED', id: '1', object: 1 }] });

// reconnect
expectTypeOf(reconnect).toExtend<Partial<ClientOptions>>();
expectTypeOf(reconnect.retryAttempts).toEqualTypeOf<number>();
expectTypeOf(reconnect.shouldRetry).toEqualTypeOf<() => boolean>();
expectTypeOf(reconnect.retryWait).toEqualTypeOf<(retries: number) => Promise<void>>();

// resumable
expectTypeOf(resumable(createClient({ url: '', ...reconnect }))).toEqualTypeOf<Client>();
// @ts-expect-error: not a client
resumable({});
