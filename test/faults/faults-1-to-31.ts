/** F1 to F31 of the fault catalogue: watches, lists, and servers that fail, refuse or change. */
import type { Fault } from './fault.ts';
import { testsIn } from './tests-in.ts';

const watches = testsIn('test/faults/watches.test.ts');
const expired = testsIn('test/faults/expired.test.ts');
const lists = testsIn('test/faults/lists.test.ts');
const refusals = testsIn('test/faults/refusals.test.ts');
const history = testsIn('test/faults/history.test.ts');
const reflector = testsIn('src/ingest/reflector/reflector.test.ts');
const reflectorWatch = testsIn('src/ingest/reflector/reflector-watch.test.ts');
const reflectorRelist = testsIn('src/ingest/reflector/reflector-relist.test.ts');
const reflectorFailures = testsIn('src/ingest/reflector/reflector-failures.test.ts');
const connection = testsIn('src/kube/client/connection.test.ts');
const streams = testsIn('test/faults/streams.test.ts');
const streamCollection = testsIn('src/ingest/list/stream-collection.test.ts');

const pageThree = lists('%s: a token that expires at page 3 drops what is staged, and the whole comes in one piece');
const tooOld = expired('%s: %s on a watch is followed by a list that is not older, and deletes are found');

export const faultsOfRequests: readonly Fault[] = [
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
      testsIn('src/ingest/thread/ingest-host.test.ts')(
        'F20, R16: a storage that was restored from a backup is noticed at the next round, though watches say nothing',
      ),
      testsIn('src/ingest/cluster/rewind-guard.test.ts')(
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
      testsIn('src/ingest/thread/ingest-host.test.ts')(
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
      testsIn('src/base/backoff.test.ts')('R13: the bound doubles from 0.8 s to 30 s'),
      reflector('R13: no more than four lists at a time'),
    ],
  },
  {
    number: 25,
    title: 'All watches are closed at once',
    holds: 'They are reopened without a list, a bounded number at a time.',
    tests: [
      watches('F25: watches that are all closed at once are opened again without a list'),
      testsIn('src/base/concurrency/semaphore.test.ts')('lets so many in, then the next in the order of asking'),
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
      testsIn('src/ingest/thread/ingest-host.test.ts')(
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
      testsIn('src/ingest/thread/ingest-host.test.ts')(
        'R22, F28: a CRD that is added, changed, removed and made again',
      ),
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
      testsIn('src/ingest/thread/ingest-host.test.ts')(
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
];
