import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { silentLogger } from '../../base/log.ts';
import type { ClusterSecret } from './cluster-secret.ts';
import { ClusterSecrets } from './cluster-secrets.ts';

const secret = (name: string, server: string, cluster = 'east'): ClusterSecret => ({
  metadata: { namespace: 'portolan', name },
  data: { name: btoa(cluster), server: btoa(server) },
});

/** The clusters after each list: `name server`. A list that changes nothing has the clusters of the one before. */
async function afterEach(...lists: readonly (readonly ClusterSecret[])[]): Promise<readonly (readonly string[])[]> {
  let items: readonly ClusterSecret[] = [];
  let shown: readonly string[] = [];
  const secrets = new ClusterSecrets({
    client: { get: async <T>() => ({ items }) as T },
    namespace: 'portolan',
    selector: '',
    reserved: new Set(['home']),
    changed: (clusters) => {
      shown = clusters.map(({ name, inline }) => `${name} ${/https:\/\/\w+/.exec(inline?.text ?? '')?.[0]}`);
    },
    clock: new ManualClock(),
    log: silentLogger,
  });
  const found: (readonly string[])[] = [];
  for (items of lists) {
    await secrets.look();
    found.push(shown);
  }
  return found;
}

const [one, two] = ['https://one', 'https://two'];

test('another server under a known name comes when the former one is gone', async () => {
  expect(await afterEach([secret('a', one)], [secret('a', two)], [secret('a', two)])).toEqual([
    [`east ${one}`],
    [],
    [`east ${two}`],
  ]);
});

test('another server under a known name comes later also from another Secret', async () => {
  expect(await afterEach([secret('a', one)], [secret('b', two)], [secret('b', two)])).toEqual([
    [`east ${one}`],
    [],
    [`east ${two}`],
  ]);
});

test('the same server from another Secret stays', async () => {
  expect(await afterEach([secret('a', one)], [secret('b', one)])).toEqual([[`east ${one}`], [`east ${one}`]]);
});

test.each([
  ['a', 'b'],
  ['b', 'a'],
])('the Secret %s keeps the name of its cluster from %s while it changes the server', async (own, other) => {
  const after = [secret(own, 'https://three'), secret(other, two)];
  expect(await afterEach([secret(own, one)], [secret(own, one), secret(other, two)], after, after)).toEqual([
    [`east ${one}`],
    [`east ${one}`],
    [],
    ['east https://three'],
  ]);
});

test('two Secrets that exchange the names of their clusters exchange them in two steps', async () => {
  const before = [secret('a', one), secret('b', two, 'west')];
  const after = [secret('a', one, 'west'), secret('b', two)];
  expect(await afterEach(before, after, after)).toEqual([
    [`east ${one}`, `west ${two}`],
    [],
    [`west ${one}`, `east ${two}`],
  ]);
});

test('two Secrets that exchange their clusters disturb neither', async () => {
  const before = [secret('a', one), secret('b', two, 'west')];
  const after = [secret('a', two, 'west'), secret('b', one)];
  expect(await afterEach(before, after)).toEqual([
    [`east ${one}`, `west ${two}`],
    [`west ${two}`, `east ${one}`],
  ]);
});
