/** F32 to F55 of the fault catalogue: what objects and events contain, the store, the process, and single cases. */
import type { Fault } from './fault.ts';
import { testsIn } from './tests-in.ts';

const watches = testsIn('test/faults/watches.test.ts');
const lists = testsIn('test/faults/lists.test.ts');
const lines = testsIn('test/faults/lines.test.ts');
const storm = testsIn('test/faults/storm.test.ts');
const reflector = testsIn('src/ingest/reflector/reflector.test.ts');
const reflectorWatch = testsIn('src/ingest/reflector/reflector-watch.test.ts');
const reflectorFailures = testsIn('src/ingest/reflector/reflector-failures.test.ts');
const store = testsIn('src/store/write/writer.test.ts');
const sick = testsIn('test/hostile/sick-api-server.test.ts');
const connection = testsIn('src/kube/client/connection.test.ts');

const nonsense = lines('%s: %s is counted, stores nothing, and is watched for again from before it');

export const faultsOfContents: readonly Fault[] = [
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
      testsIn('src/ingest/bytes/line-framer.test.ts')('F38: lines survive a cut at every position'),
    ],
  },
  {
    number: 39,
    title: 'Integers above 2^53',
    holds: 'They are exact in the store and in answers.',
    tests: [
      lines('F39: an int64 above 2^53 is exact in the store, from a list and from a watch'),
      testsIn('src/graphql/types/scalars.test.ts')(
        'free JSON and raw keep the digits as they are, and value has an integer beyond 2^53 as text',
      ),
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
      testsIn('src/kube/client/rest-client.test.ts')(
        'gives pieces as they come, and stops the sender when nobody reads',
      ),
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
      testsIn('src/store/sqlite/store-fault.test.ts')(
        'F42: SQLITE_FULL rolls back whole; the log is given up down to its least, and the same event is taken then',
      ),
      testsIn('src/store/sqlite/store-fault.test.ts')(
        'F42: wherever there is no room, memory and file agree, and the work is done when there is room',
      ),
      testsIn('src/store/sqlite/store-fault.test.ts')(
        'F42: SQLITE_IOERR keeps nothing of the transaction, and the same events are taken when the disk is well again',
      ),
      testsIn('src/store/file/checkpointer.test.ts')(
        'F42: a checkpoint that fails is tried again until the disk takes it',
      ),
      testsIn('src/store/sqlite/store-fault.test.ts')(
        'F42: a damaged page ends the writer without a step forward; the next one begins a new life of the file',
      ),
      testsIn('src/ingest/thread/start-ingest.test.ts')(
        'F42: a store that %s finds damaged is made anew while the thread goes on',
      ),
      reflectorFailures(
        'F42: a store without room parks what it refuses again and again; the old set stays, and it goes on when there is room',
      ),
      reflectorFailures('F42: what the store refuses is tried again from the version that the store has'),
      testsIn('src/store/file/open-store.test.ts')('a store with %s is rebuilt, loudly, as a new life'),
      testsIn('src/store/file/file-seal.test.ts')(
        'a file that is %s is found by whoever looks first, and by all others',
      ),
      testsIn('test/faults/data-folder.test.ts')('a folder that is emptied, removed, or moved away'),
      testsIn('test/faults/data-folder.test.ts')(
        'an older folder in place of the folder: moved there, and copied over it',
      ),
      testsIn('test/faults/data-folder.test.ts')('pages overwritten at random places, the first among them'),
      testsIn('test/faults/data-folder-disk.test.ts')('a full disk'),
      testsIn('test/faults/data-folder-disk.test.ts')('files and a folder that cannot be changed'),
    ],
    note: '`PORTOLAN_SEEDS=100 npx vitest run test/faults/data-folder.test.ts` overwrites pages 100 times. The tests of a full disk and of a read-only folder need root.',
  },
  {
    number: 43,
    title: 'kill -9 at any moment',
    holds: 'Everything committed is whole. The next process continues from it.',
    tests: [
      reflector('a crash between a new shape and its list: the next run lists, and watches only from there'),
      testsIn('src/store/write/crash.test.ts')(
        'kill -9 during %s loses nothing that was committed and leaves nothing half done',
      ),
      testsIn('test/ingest/kill.test.ts')(`\${kills} kills at random moments`),
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
      testsIn('test/rights/fails-closed.test.ts')('when the API server has not confirmed the roles for a minute'),
      testsIn('test/rights/live-rights.property.test.ts')(
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
      testsIn('src/ingest/cluster/rewind-guard.test.ts')(
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
