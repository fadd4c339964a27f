/**
 * Every request with sendInitialEvents gets the present sets and the annotated bookmark, or a refusal. An answer of 200 that ignores
 * sendInitialEvents makes the garbage collector wait for good. All forms and options in all combinations are the cases, and the rules of
 * ListOptions are the oracle.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AggregateDoorFixture, aggregateDoor } from '../kit/aggregate-door.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { storedRecord } from '../kit/shadow-records.ts';
import { describedResource } from '../kit/store-file.ts';

let authority: CertificateAuthority;
beforeAll(async () => {
  authority = await createCertificateAuthority('Proxies');
});
afterAll(() => authority.remove());

/** One of so many combinations is asked; 1 for all. Prime, so that each value of each option meets each other one. */
const stride = Number(process.env['PORTOLAN_INITIAL_EVENTS'] ?? '41');
const group = '/apis/shadow.portolan.dev/v1alpha1';
const sets = [
  { name: 'api', namespace: 'shop', rv: 103, tier: 'back' },
  { name: 'web', namespace: 'shop', rv: 104, tier: 'front' },
  { name: 'web', namespace: 'other', rv: 105, tier: 'front' },
];
const high = 105;
/** kube-apiserver asks so for the garbage collector: protobuf first. */
const metadata = 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

const places: readonly (readonly [path: string, namespace: string | null])[] = [
  ['/shadowresources', null],
  ['/namespaces/shop/shadowresources', 'shop'],
  ['/namespaces/empty/shadowresources', 'empty'],
];
const forms = [
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  `${metadata},application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json`,
  'application/vnd.kubernetes.protobuf',
];
const queries: readonly Readonly<Record<string, string>>[] = combined({
  sendInitialEvents: ['true', '1', '', 'false'],
  resourceVersionMatch: [null, 'NotOlderThan', 'Exact'],
  resourceVersion: [null, '0', '100', String(high), '900', 'x'],
  allowWatchBookmarks: ['true', null],
  more: [
    null,
    'limit=1',
    'labelSelector=tier%3Dfront',
    'fieldSelector=metadata.name%3Dweb',
    'continue=WyIxIl0',
    'watch=0',
  ],
});

async function doorOverSets(): Promise<AggregateDoorFixture> {
  const door = await aggregateDoor(authority);
  const field = { name: 'spec', type: { kind: 'leaf', type: 'JSON' } } as const;
  const tree = { root: 'root', shapes: { root: { key: 'root', path: [], fields: [field] } } };
  const kind = { plural: 'shadowrecords', kind: 'ShadowRecord', group: 'portolan.dev', version: 'v1alpha1' };
  await door.fixture.declare({ ...describedResource({ promoted: [], ...kind }), tree });
  return door;
}

const syncRecords = ({ fixture }: AggregateDoorFixture): Promise<unknown> =>
  fixture.sync(
    'shadowrecords.portolan.dev',
    sets.map(({ tier, ...set }) => storedRecord({ ...set, labels: { tier } })),
  );

test('each combination of options, in each form', { timeout: 120_000 }, async () => {
  const door = await doorOverSets();
  await syncRecords(door);
  expect((await door.ask(`${group}/shadowresources`)).body.metadata.resourceVersion).toBe(String(high));
  const cases = places
    .flatMap(([path, namespace]) =>
      forms.flatMap((accept) => queries.map((query) => ({ path, namespace, accept, query }))),
    )
    .filter((_case, index) => index % stride === 0);
  let answered = 0;
  for (let from = 0; from < cases.length; from += atOnce) {
    await Promise.all(
      cases.slice(from, from + atOnce).map(async ({ path, namespace, accept, query }, index) => {
        const { more, ...own } = query;
        const asked = `${group}${path}?${new URLSearchParams({ watch: '1', timeoutSeconds: '1', ...own })}&${more ?? ''}`;
        const what = `${asked} ${accept}`;
        // Each has a caller of its own, whose limits it does not reach.
        const headers = [
          ['X-Remote-User', `user-${index}`],
          ['Accept', accept],
        ] as const;
        const { status, text } = await door.ask(asked.replace(/watch=1&(.*)watch=0/, '$1watch=0'), { headers });
        expect(status, what).toBe(statusOf(query, accept));
        if (status !== 200) return expect(JSON.parse(text), what).toMatchObject({ kind: 'Status', code: status });
        answered += 1;
        const events =
          text.trim() === ''
            ? []
            : text
                .trim()
                .split('\n')
                .map((line) => JSON.parse(line));
        const isWanted = query['sendInitialEvents'] !== 'false';
        const present = sets.filter(
          (set) =>
            (namespace === null || set.namespace === namespace) &&
            (!more?.startsWith('label') || set.tier === 'front') &&
            (!more?.startsWith('field') || set.name === 'web'),
        );
        const added = events.filter(({ type }) => type === 'ADDED');
        const ends = events.filter((event) =>
          JSON.stringify(event.object).includes('"k8s.io/initial-events-end":"true"'),
        );
        if (isWanted) expect(added.length, what).toBe(present.length);
        // A client that does not take bookmarks gets none, as from kube-apiserver.
        const isMarked = isWanted && query['allowWatchBookmarks'] === 'true';
        expect(
          ends.map(({ type }) => type),
          what,
        ).toEqual(isMarked ? ['BOOKMARK'] : []);
        if (isMarked) expect(events.indexOf(ends[0]), what).toBe(present.length);
      }),
    );
  }
  // The oracle has answers and refusals.
  expect(answered).toBeGreaterThan(cases.length / 20);
  expect(answered).toBeLessThan(cases.length / 2);
});

test('before the records are known, nothing is answered', async () => {
  const door = await doorOverSets();
  const query =
    'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1';
  for (const accept of forms.slice(0, 3)) {
    const headers = [
      ['X-Remote-User', 'jane'],
      ['Accept', accept],
    ] as const;
    expect((await door.ask(`${group}/shadowresources?${query}`, { headers })).status).toBe(503);
  }
  await syncRecords(door);
  const { status, text } = await door.ask(`${group}/shadowresources?${query}`);
  // Another bookmark may come at the end of the time.
  const types = text.split('\n', sets.length + 1).map((line) => JSON.parse(line).type);
  expect([status, types]).toEqual([200, ['ADDED', 'ADDED', 'ADDED', 'BOOKMARK']]);
});

const atOnce = 200;

/** By the rules of ListOptions, and the versions that the door has. */
function statusOf({ more, ...query }: Readonly<Record<string, string>>, accept: string): number {
  const { resourceVersion: version = '', resourceVersionMatch: match, sendInitialEvents: wanted } = query;
  if (!accept.includes('json')) return 406;
  // Forbidden for a list, and without NotOlderThan.
  if (match !== 'NotOlderThan' || more === 'watch=0') return 422;
  if (more?.startsWith('continue')) return 422;
  if (version === 'x') return 400;
  // Too new, or older than the first list. Events that are not wanted leave a watch from the version.
  if (version === '900') return wanted === 'false' ? 200 : 504;
  if (version === '100' && wanted === 'false') return 410;
  return 200;
}

/** Every combination of one value of each; null leaves the name out. */
function combined(
  values: Readonly<Record<string, readonly (string | null)[]>>,
): readonly Readonly<Record<string, string>>[] {
  return Object.entries(values).reduce<readonly Readonly<Record<string, string>>[]>(
    (all, [name, each]) =>
      all.flatMap((some) => each.map((value) => (value === null ? some : { ...some, [name]: value }))),
    [{}],
  );
}
