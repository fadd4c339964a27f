/**
 * The fault catalogue: each fault between an API server and the store, what Portolan guarantees, and the tests of that.
 * docs/faults.md is printed from it. A test compares the two and finds every named test in its file.
 */
import type { Fault, TestedBy } from './fault.ts';

const on =
  (file: string) =>
  (name: string): TestedBy => ({ file, name });
const watches = on('test/faults/watches.test.ts');
const expired = on('test/faults/expired.test.ts');
const lists = on('test/faults/lists.test.ts');
const refusals = on('test/faults/refusals.test.ts');
const lines = on('test/faults/lines.test.ts');
const storm = on('test/faults/storm.test.ts');
const history = on('test/faults/history.test.ts');
const reflector = on('src/ingest/reflector/reflector.test.ts');
const reflectorWatch = on('src/ingest/reflector/reflector-watch.test.ts');
const reflectorRelist = on('src/ingest/reflector/reflector-relist.test.ts');
const reflectorFailures = on('src/ingest/reflector/reflector-failures.test.ts');
const store = on('src/store/write/writer.test.ts');
const sick = on('test/hostile/sick-api-server.test.ts');
const connection = on('src/kube/client/connection.test.ts');

const streams = on('test/faults/streams.test.ts');
const streamCollection = on('src/ingest/list/stream-collection.test.ts');
const pageThree = lists('%s: a token that expires at page 3 drops what is staged, and the whole comes in one piece');
const nonsense = lines('%s: %s is counted, stores nothing, and is watched for again from before it');
const tooOld = expired('%s: %s on a watch is followed by a list that is not older, and deletes are found');

export const catalogue: readonly Fault[] = [
  {
    number: 1,
    title: 'The connection is reset within a line',
    holds: 'The half line is dropped. The stored version does not move. The watch resumes without a list.',
    tests: [
      watches('F1: a connection that is reset in the middle of a line drops the half line and resumes'),
      reflectorWatch('F1: a clean end in the middle of a line is a broken connection too'),
    ],
  },
  {
    number: 2,
    title: 'A watch ends cleanly after a whole line',
    holds: 'The watch is reopened at once from the last version, without a list.',
    tests: [watches('F2: a clean end behind a whole line is followed by a watch from there, without a list')],
  },
  {
    number: 3,
    title: 'A hundred watches end as soon as they are opened',
    holds:
      'The delays grow, with jitter. After three, one list is sent, because the version may be lost. Until a watch brings something, further lists follow once a minute, and the rows count as those of the last list.',
    tests: [
      watches(
        'F3: a hundred watches that end as soon as they are opened cause one list, because their version may be lost',
      ),
      reflectorWatch('F3: watches that end at once are not opened again and again'),
    ],
  },
  {
    number: 4,
    title: 'A connection is half-open: no data, no end',
    holds:
      'Where bookmarks come regularly, the connection is closed within bounded time. A silent watch that gets bookmarks stays open.',
    tests: [
      watches(
        'F4: a connection that is dead without an end is left in bounded time, a silent one with bookmarks is not',
      ),
      reflectorWatch('F4: a half-open connection is noticed once bookmarks come regularly on it, and not before'),
    ],
  },
  {
    number: 5,
    title: 'A watch is answered with HTTP 410',
    holds: 'A list follows that is not older than the stored version. It finds the deletes and adds nothing twice.',
    tests: [tooOld],
  },
  {
    number: 6,
    title: 'A watch sends an ERROR event with code 410',
    holds: 'The guarantee is the same as for F5.',
    tests: [tooOld],
  },
  {
    number: 7,
    title: 'An ERROR event with code 410 follows good events',
    holds: 'The events before the ERROR event are stored.',
    tests: [expired('F7: the events before an ERROR of 410 are kept')],
  },
  {
    number: 8,
    title: 'A list at the known version is answered with 410',
    holds: 'Portolan sends one list without a version at once.',
    tests: [
      lists('F8: a list at the known version that is refused is asked for without one, once'),
      reflectorRelist('%s: the list without a version is tried at once, and once'),
    ],
  },
  {
    number: 9,
    title: '504 because the version is too large, with its cause or only a message',
    holds: 'The guarantee is the same as for F8. The lists do not repeat in a loop.',
    tests: [lists('F9: 504 for a version of the future, with the %s, ends in a list')],
  },
  {
    number: 10,
    title: 'A continue token expires on page 3',
    holds: 'The staged pages are dropped. The collection is listed without pages. No existing object is deleted.',
    tests: [pageThree],
  },
  {
    number: 11,
    title: 'The 410 offers a token that continues at another version',
    holds: 'The token is not used.',
    tests: [
      pageThree,
      reflectorRelist(
        'F10, F11: a token that expires on a later page drops what is staged; the whole is listed without pages',
      ),
    ],
  },
  {
    number: 12,
    title: 'A list with status 200 is cut off, shorter than its Content-Length, or has a broken chunk',
    holds: 'The list is not committed. The table stays as it was.',
    tests: [lists('F12: a list whose body is not whole (%s) is not committed, the table stays until one is')],
  },
  {
    number: 13,
    title: 'Objects are deleted while no watch is open',
    holds: 'The next list finds the deletes.',
    tests: [expired('F13: what was deleted while nobody watched, and forgotten, is deleted')],
  },
  {
    number: 14,
    title: 'An object is deleted and created again while no watch is open',
    holds: 'The change log has DELETED for the old uid and ADDED for the new uid.',
    tests: [lists('F14: an object that is deleted and made again while nobody watches is another one')],
  },
  {
    number: 15,
    title: 'Objects change between two pages of a list',
    holds: 'The table ends up right, because the watch starts at the version of the first page.',
    tests: [lists('F15: an object that changes between two pages is right in the end')],
  },
  {
    number: 16,
    title: 'A streaming list sends objects in any order of versions and breaks halfway',
    holds: 'No version of it is kept. The list starts again.',
    tests: [
      streams('F16: initial events in any order of versions, and a reset half-way: no version is kept, it begins anew'),
    ],
  },
  {
    number: 17,
    title: 'A streaming list never sends its end bookmark',
    holds:
      'A deadline ends it. After two attempts the resource is listed in pages, and the gateway remembers this for an hour.',
    tests: [
      streams('F17: a stream whose end mark does not come is given up, then listed at once, and remembered'),
      streamCollection('F17: objects that are created while a stream is open do not prolong it'),
    ],
  },
  {
    number: 18,
    title: 'A server refuses streaming lists',
    holds: 'Its resources are listed in pages at once, and the gateway remembers this for an hour.',
    tests: [
      streams('F18: a server that knows no streaming lists is asked once, and listed at once'),
      streamCollection('F18: a hundred reflectors of a server that refuses cost one attempt'),
    ],
  },
  {
    number: 19,
    title: 'A streaming list breaks off near its end',
    holds: 'The stream publishes nothing.',
    tests: [streams('F19: a stream that breaks off near its end publishes nothing of it, and the old table stays')],
  },
  {
    number: 20,
    title: 'The storage is restored from a backup below the known version',
    holds:
      "The gateway detects the restore within bounded time. It stores the server's list, although the list is older.",
    tests: [
      history('F20: a storage that was restored from a backup is noticed when its watch is silent, and taken as it is'),
      reflectorRelist(
        'F20: a watch that was silent for all its time is doubted; a server that is behind its version is listed anew',
      ),
      on('src/ingest/thread/ingest-host.test.ts')(
        'F20, R16: a storage that was restored from a backup is noticed at the next round, though watches say nothing',
      ),
      on('src/ingest/cluster/rewind-guard.test.ts')(
        'F20: below the version of another collection is a hint, and that collection decides',
      ),
      reflectorRelist('F20: a list below the known version is taken as it is, and said'),
      reflectorRelist(
        'F20: a version that a server gives again, behind a past it went back to, is not taken for the one that is stored',
      ),
    ],
    note: 'Partly covered. A restored server may reach versions above all known ones before the next check, which comes each minute. Then only the daily audit finds the wrong rows. It misses rows with the same version in both histories.',
  },
  {
    number: 21,
    title: 'Another cluster answers at the same address',
    holds: 'The stored objects are removed. The change log gets RESET, and subscribers get GAP.',
    tests: [
      refusals('F21: another cluster behind the same address: the store is emptied, and subscribers are told by RESET'),
      on('src/ingest/thread/ingest-host.test.ts')(
        'F21: another cluster behind the same address makes what is stored go',
      ),
    ],
  },
  {
    number: 22,
    title: 'One of two API servers is behind the other',
    holds:
      'After a 504 the gateway sends the request again, and never with resourceVersion=0. The table never goes back.',
    tests: [lists('F22: a server that is behind is asked again, never for any age, and the table does not go back')],
  },
  {
    number: 23,
    title: '429 with Retry-After',
    holds: 'The gateway waits that long and sends no additional list.',
    tests: [
      refusals('F23: 429 with Retry-After on a %s is asked again, and no list is made for it'),
      reflectorFailures('F23: 429 on a list and on a watch is obeyed, and nothing is listed for it'),
      reflectorFailures('F23: a later page that is throttled is waited for, and the staged pages stay'),
    ],
  },
  {
    number: 24,
    title: 'The API server is down',
    holds: 'Old data stays. Delays grow to their cap. The number of concurrent lists is bounded.',
    tests: [
      watches('F24: while an API server is away the old table stays, and one list at the most is made for it'),
      on('src/base/backoff.test.ts')('R13: the bound doubles from 0.8 s to 30 s'),
      reflector('R13: no more than four lists at a time'),
    ],
  },
  {
    number: 25,
    title: 'All watches are closed at once',
    holds: 'They are reopened without a list, a bounded number at a time.',
    tests: [
      watches('F25: watches that are all closed at once are opened again without a list'),
      on('src/base/concurrency/semaphore.test.ts')('lets so many in, then the next in the order of asking'),
    ],
  },
  {
    number: 26,
    title: '401 responses, and credential plugins that are slow or fail',
    holds: 'One renewal serves all waiting requests. Then everything resumes.',
    tests: [
      refusals('F26: 401 everywhere for a while costs nothing but time'),
      connection('are dropped on a 401, and the request is sent once more with new ones'),
      connection('that a plugin gives are fetched once for many requests, and once for many refusals'),
    ],
  },
  {
    number: 27,
    title: 'A right is revoked',
    holds: 'Only this resource is parked. It resumes when the right is granted again.',
    tests: [
      refusals(
        'F27: a right that is taken away parks this resource alone, what is stored stays, and it resumes when it is given back',
      ),
      on('src/ingest/thread/ingest-host.test.ts')(
        'F27: what is forbidden is parked and reported; a change of access rules lets it in at once',
      ),
    ],
  },
  {
    number: 28,
    title: 'A CRD is removed, or created again with another schema, scope or version',
    holds: 'The table is removed or created anew. Requests that get 404 do not repeat in a loop.',
    tests: [
      refusals(
        'F28: a definition that is made again with another schema, scope and version leaves nothing of the former',
      ),
      on('src/ingest/thread/ingest-host.test.ts')('R22, F28: a CRD that is added, changed, removed and made again'),
    ],
  },
  {
    number: 29,
    title: 'Lists of one resource fail with 500',
    holds: 'Only this resource fails. The others are served.',
    tests: [refusals('F29: lists of one resource that fail with 500 degrade this resource alone')],
  },
  {
    number: 30,
    title: 'An aggregated API server is down, and discovery is stale',
    holds: 'The table stays.',
    tests: [
      refusals('F30: a group whose server is away, with stale discovery, is kept as it is'),
      on('src/ingest/thread/ingest-host.test.ts')(
        'F30: a group that discovery does not show is kept until its server says 404 itself',
      ),
    ],
  },
  {
    number: 31,
    title: 'A proxy answers with its own page, with an error status or with 200',
    holds: 'The error contains text of the page. The gateway retries with increasing delay.',
    tests: [refusals('F31: a page of a proxy with status %i is an error with its words, never an object')],
  },
  {
    number: 32,
    title: 'A line that is not JSON between good lines',
    holds:
      'The line is never skipped. The gateway opens the watch again, then lists. If the watch is unreadable again, the resource is polled.',
    tests: [nonsense, lines('F32: nonsense again and again is listed around, then parked, and taken up when it ends')],
  },
  {
    number: 33,
    title: 'An unknown event, an object of another kind, a Status as an object',
    holds: 'It is counted and adds no row.',
    tests: [nonsense],
  },
  {
    number: 34,
    title: 'An object without resourceVersion or uid',
    holds: 'It is counted. The stored version does not move.',
    tests: [nonsense],
  },
  {
    number: 35,
    title: 'Events come twice, and old events come again',
    holds: 'They change nothing, and subscribers do not get them.',
    tests: [
      lines('F35: events that come twice, and old ones that come again, change nothing'),
      reflectorWatch('F35: an old event that comes again behind a newer one does not take the version back'),
    ],
  },
  {
    number: 36,
    title: 'MODIFIED before ADDED, and DELETED for an unknown object',
    holds: 'The first adds the object. The second advances the version and changes nothing else.',
    tests: [
      lines('F36: a MODIFIED for an unknown object adds it; a DELETED for one moves the version and nothing else'),
    ],
  },
  {
    number: 37,
    title: 'An object of 1.5 MiB, and a line over the size limit',
    holds: 'The object is stored. The line causes an error, and its resource is polled. Memory stays bounded.',
    tests: [
      lines('F37: an object of 1.5 MiB is stored; a line over the cap is said and parked, without harm to others'),
    ],
  },
  {
    number: 38,
    title: 'Characters cut by the network, line separators, NUL, lone surrogates',
    holds: 'They arrive as they were sent.',
    tests: [
      lines('F38: characters cut anywhere, line separators, NUL and lone surrogates arrive as they were sent'),
      on('src/ingest/bytes/line-framer.test.ts')('F38: lines survive a cut at every position'),
    ],
  },
  {
    number: 39,
    title: 'Integers above 2^53',
    holds: 'They are exact in the store and in answers.',
    tests: [
      lines('F39: an int64 above 2^53 is exact in the store, from a list and from a watch'),
      on('src/graphql/types/scalars.test.ts')('free JSON, raw and value keep the digits as they are'),
    ],
  },
  {
    number: 40,
    title: 'Thousands of events per second, and a store that stalls',
    holds: 'The socket is paused. Memory stays flat. The gateway catches up.',
    tests: [
      storm(
        'F40: a flood of changes and a store that stalls: the sender is held up, memory stays flat, nothing is lost',
      ),
      on('src/kube/client/rest-client.test.ts')('gives pieces as they come, and stops the sender when nobody reads'),
      lines('F50: three thousand deletes in a burst are all applied, in order'),
    ],
    note: 'By default the test plays a few seconds. `PORTOLAN_STORM=full` plays five minutes of 5,000 events a second with a stall of ten seconds.',
  },
  {
    number: 41,
    title: 'A handler throws',
    holds: 'The batch is rolled back. Only this resource fails. The process continues.',
    tests: [
      store('a failing transaction leaves memory and file as they were'),
      reflectorFailures('F42: what the store refuses is tried again from the version that the store has'),
    ],
  },
  {
    number: 42,
    title: 'The store is full, busy or broken',
    holds:
      'The whole transaction is rolled back, and the version does not move. A full store frees space in a fixed order, and parks writes that do not fit. A failing store tries again, then parks. A file that is damaged, gone, replaced or written by another program is made anew with a new epoch, without a restart. Answers are right, say their age, or have a code.',
    tests: [
      on('src/store/sqlite/store-fault.test.ts')(
        'F42: SQLITE_FULL rolls back whole; the log is given up down to its least, and the same event is taken then',
      ),
      on('src/store/sqlite/store-fault.test.ts')(
        'F42: wherever there is no room, memory and file agree, and the work is done when there is room',
      ),
      on('src/store/sqlite/store-fault.test.ts')(
        'F42: SQLITE_IOERR keeps nothing of the transaction, and the same events are taken when the disk is well again',
      ),
      on('src/store/file/checkpointer.test.ts')('F42: a checkpoint that fails is tried again until the disk takes it'),
      on('src/store/sqlite/store-fault.test.ts')(
        'F42: a damaged page ends the writer without a step forward; the next one begins a new life of the file',
      ),
      on('src/ingest/thread/start-ingest.test.ts')(
        'F42: a store that %s finds damaged is made anew while the thread goes on',
      ),
      reflectorFailures(
        'F42: a store without room parks what it refuses again and again; the old set stays, and it goes on when there is room',
      ),
      reflectorFailures('F42: what the store refuses is tried again from the version that the store has'),
      on('src/store/file/open-store.test.ts')('a store with %s is rebuilt, loudly, as a new life'),
      on('src/store/file/file-seal.test.ts')('a file that is %s is found by whoever looks first, and by all others'),
      on('test/faults/data-folder.test.ts')('a folder that is emptied, removed, or moved away'),
      on('test/faults/data-folder.test.ts')('an older folder in place of the folder: moved there, and copied over it'),
      on('test/faults/data-folder.test.ts')('pages overwritten at random places, the first among them'),
      on('test/faults/data-folder-disk.test.ts')('a full disk'),
      on('test/faults/data-folder-disk.test.ts')('files and a folder that cannot be changed'),
    ],
    note: '`PORTOLAN_SEEDS=100 npx vitest run test/faults/data-folder.test.ts` overwrites pages 100 times. The tests of a full disk and of a read-only folder need root.',
  },
  {
    number: 43,
    title: 'kill -9 at any moment',
    holds: 'Everything committed is whole. The next process continues from it.',
    tests: [
      reflector('a crash between a new shape and its list: the next run lists, and watches only from there'),
      on('src/store/write/crash.test.ts')(
        'kill -9 during %s loses nothing that was committed and leaves nothing half done',
      ),
      on('test/ingest/kill.test.ts')(`\${kills} kills at random moments`),
    ],
  },
  {
    number: 44,
    title: 'The clock jumps, or a thread is delayed',
    holds: 'Timeouts use the monotonic clock only. A silent watch is checked a second time before it is closed.',
    tests: [
      reflectorWatch(
        'F44: silence is believed at a second look: what waited in the socket while this thread was held up counts',
      ),
    ],
  },
  {
    number: 45,
    title: 'A stop at any moment, and two starts',
    holds: 'Each reflector runs one loop. After a stop no timer, socket or staged row is left.',
    tests: [reflector('F45, R19: a stop while listing, waiting, parked or watching leaves nothing behind')],
  },
  {
    number: 46,
    title: 'HTTP/2 GOAWAY and RST_STREAM',
    holds: 'The guarantee is the same as for F1.',
    tests: [connection('speaks HTTP/1.1 only')],
    note: 'Not applicable: connections speak HTTP/1.1 only, and a test checks that.',
  },
  {
    number: 47,
    title: 'No bookmarks, many bookmarks, or equal bookmarks',
    holds: 'They cause no false alarm. Equal bookmarks are not written.',
    tests: [
      watches('F47: without bookmarks there is no alarm, and equal ones are not written'),
      store('bookmarks and statuses go with the next commit, on time, and at the end'),
    ],
  },
  {
    number: 48,
    title: 'Certificates change',
    holds: 'New connections use the new certificate. Running watches stay open.',
    tests: [
      connection('shows its client certificate, and a new one when the file has changed, while old streams go on'),
    ],
  },
  {
    number: 49,
    title: 'An object leaves a selector and comes back',
    holds: 'It is removed and added, not deleted.',
    tests: [],
    note: 'Not applicable: a watch covers a whole collection, of the cluster or of a named namespace. It never selects by labels or fields.',
  },
  {
    number: 50,
    title: 'Three thousand deletes in a burst',
    holds: 'All are applied in order.',
    tests: [lines('F50: three thousand deletes in a burst are all applied, in order')],
  },
  {
    number: 51,
    title: 'A right is revoked while the rules are stale',
    holds:
      'When the rules are older than a minute, every caller sees nothing. A revocation that is received counts at once.',
    tests: [
      on('test/rights/fails-closed.test.ts')('when the API server has not confirmed the roles for a minute'),
      on('test/rights/live-rights.property.test.ts')(
        'a client has what its caller may see, whatever becomes of the rights [L1] [L7]',
      ),
    ],
  },
  {
    number: 52,
    title: 'An empty collection, and items that are null',
    holds: 'It is ready without rows.',
    tests: [lists('F52: a collection without items is ready and empty, whether its items are a list or null')],
  },
  {
    number: 53,
    title: 'Versions that look like numbers and have no order',
    holds: 'They are compared for equality only, and are never evidence of a restore.',
    tests: [
      on('src/ingest/cluster/rewind-guard.test.ts')(
        'F53: versions that cannot be compared, and those of other servers, say nothing',
      ),
      lines('F53: versions that look like numbers and have no order are compared for being equal, and nothing else'),
    ],
    note: 'Partly covered. Decimal numbers without a leading zero count as ordered, as Kubernetes promises since 1.35. A server that breaks this promise is not recognised.',
  },
  {
    number: 54,
    title: 'A redirect, or compression that was not requested',
    holds: 'It is refused and never read as text.',
    tests: [
      lists('F54: a %s that nobody asked for is refused with what is wrong'),
      connection('does not follow a redirect'),
    ],
  },
  {
    number: 55,
    title: 'An API group whose own server is ill',
    holds:
      'The server hangs, is slow, refuses requests or is away. Or it sends garbage, ends its watches, loses its version, sends objects without uids, or drops connections. The kinds of other groups are served as before. The ill group is named in `resources`, the log and /readyz, and is right within 10 s of its recovery.',
    tests: [
      sick(
        'groups that fall ill one and all: the others stay fresh, each says what is wrong, and is right soon after its recovery',
      ),
      sick(
        'groups that are ill from the start: the others sync, each says what is wrong, and its kind comes with its recovery',
      ),
      sick('fall ill one and all, say so, and are right soon after their recovery'),
      sick('are ill from the start, say so, and come with their recovery'),
    ],
  },
];
