import { expect, test, vi } from 'vitest';
import { LiveClient } from '../../../test/kit/live-client.ts';
import { liveSetup, nextOf, until } from '../../../test/kit/live-lists.ts';
import { allRows, type Scopes } from '../../access/scope.ts';
import { PortolanError } from '../../base/errors.ts';

const busy = (): PortolanError =>
  new PortolanError('TIMEOUT', 'All readers of the store are busy; try again in a moment.');

// Vitest fails a run with an unhandled rejection, as Node ends a gateway with one.
test.each<[what: string, answer: () => Promise<Scopes>]>([
  ['are read too slowly', async () => Promise.reject(busy())],
  [
    'are unknown',
    () => {
      throw busy();
    },
  ],
])('a change whose rights %s while a list waits is sent by the list itself', async (_, answer) => {
  const { list, put, relist } = await liveSetup();
  await relist(['a'], 'red');
  const scopes: Scopes = { id: 'all', of: () => allRows };
  let failing = false;
  const after = (): Scopes | Promise<Scopes> => {
    if (!failing) return scopes;
    failing = false;
    return answer();
  };
  const prepare = vi.fn(() => 'sent');
  const messages = list(
    { at: 'snapshot' },
    {
      rights: { at: async () => scopes, after },
      pushing: { group: { check: () => {}, prepare }, receiver: { push: () => true } },
    },
  );
  const client = new LiveClient();
  await until(messages, client, 'SYNCED');
  const next = nextOf(messages);
  await new Promise((resolve) => setTimeout(resolve, 50));
  failing = true;
  put('b', 'red');
  client.take(await next);
  expect(client.held.size).toBe(2);
  expect(failing).toBe(false);
  expect(prepare).not.toHaveBeenCalled();
});
