/** The messages of a subscription whose one root has the alias `list`. */
import type { Events } from './engine-fixture.ts';

/** @throws the first error of the message @typeParam T the value of the root */
export async function nextOf<T>(events: Events): Promise<T> {
  const { value } = await events.next();
  if (value === undefined) throw new Error('the subscription is over');
  if (value.errors?.[0] !== undefined) throw value.errors[0];
  return JSON.parse(JSON.stringify(value)).data.list as T;
}

/** The next message of this phase. */
export async function untilPhase<T extends { readonly phase: string }>(events: Events, phase: string): Promise<T> {
  for (;;) {
    const message = await nextOf<T>(events);
    if (message.phase === phase) return message;
  }
}
