import { expect, test } from 'vitest';
import { allRows, noRows } from '../../access/scope.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { everything, type Filter } from '../../query/plan/filter.ts';
import type { LoggedChange } from '../../store/types/change.ts';
import { FeedChange } from './feed-change.ts';
import { fold } from './fold.ts';

const running: Filter = {
  kind: 'compare',
  path: parsePath('phase'),
  type: 'String',
  operator: 'eq',
  values: ['Running'],
  ignoreCase: false,
};

let sequence = 0;

/** A change of `name` from one phase to another; null where there is no object. */
function change(name: string, before: string | null, after: string | null, cluster = 'east'): FeedChange {
  sequence += 1;
  const body = (phase: string | null): string | null => (phase === null ? null : JSON.stringify({ phase }));
  const type: LoggedChange['type'] = before === null ? 'ADDED' : after === null ? 'DELETED' : 'MODIFIED';
  return new FeedChange({
    seq: sequence,
    type,
    kindId: 1,
    cluster,
    objectId: 1,
    namespace: 'default',
    name,
    uid: `uid-${sequence}`,
    resourceVersion: `${sequence}`,
    at: sequence,
    before: body(before),
    after: body(after),
  });
}

/** Each message as `TYPE name REASON` lines. */
function linesOf(changes: readonly FeedChange[], filter: Filter = running): readonly (readonly string[])[] {
  return fold({ key: 'pods' }, changes, sequence, { filter, scope: allRows }).map(({ changes: folded }) =>
    folded.map(({ type, identity, reason }) => [type, identity.name, reason].filter((part) => part !== null).join(' ')),
  );
}

test.each<[string, string | null, string | null, string[][]]>([
  ['made and matches', null, 'Running', [['ADDED a']]],
  ['made and does not match', null, 'Pending', []],
  ['moves into the filter', 'Pending', 'Running', [['ADDED a']]],
  ['stays in the filter', 'Running', 'Running', [['MODIFIED a']]],
  ['stays outside of it', 'Pending', 'Failed', []],
  ['moves out of it', 'Running', 'Failed', [['REMOVED a NO_LONGER_MATCHES']]],
  ['goes while it matches', 'Running', null, [['REMOVED a DELETED']]],
  ['goes while it does not', 'Failed', null, []],
])('an object that %s', (_what, before, after, messages) => {
  expect(linesOf([change('a', before, after)])).toEqual(messages);
});

test('several changes of one object are one, from before the first to after the last [L4]', () => {
  const first = change('a', 'Running', 'Failed');
  const last = change('a', 'Pending', 'Running');
  const [message] = fold({ key: 'pods' }, [first, change('a', 'Failed', 'Pending'), last], sequence, {
    filter: running,
    scope: allRows,
  });
  expect(message?.changes).toMatchObject([{ type: 'MODIFIED', first, last, reason: null }]);
  expect(linesOf([change('a', null, 'Running'), change('a', 'Running', null)])).toEqual([]);
  expect(linesOf([change('a', 'Pending', 'Running'), change('a', 'Running', null)])).toEqual([]);
});

test('an object made anew is REMOVED and then ADDED, in two messages [L4]', () => {
  const changes = [change('a', 'Running', null), change('b', null, 'Running'), change('a', null, 'Running')];
  expect(linesOf(changes)).toEqual([['REMOVED a DELETED', 'ADDED b'], ['ADDED a']]);
});

test('an object made anew twice', () => {
  const changes = [
    change('a', 'Running', null),
    change('a', null, 'Running'),
    change('a', 'Running', null),
    change('a', null, 'Running'),
  ];
  expect(linesOf(changes)).toEqual([['REMOVED a DELETED'], ['ADDED a']]);
});

test('an object made anew that matched only before, or only after', () => {
  expect(linesOf([change('a', 'Running', null), change('a', null, 'Failed')])).toEqual([['REMOVED a DELETED']]);
  expect(linesOf([change('a', 'Failed', null), change('a', null, 'Running')])).toEqual([['ADDED a']]);
});

test('the same name in two clusters is two objects', () => {
  expect(linesOf([change('a', null, 'Running', 'east'), change('a', null, 'Running', 'west')])).toEqual([
    ['ADDED a', 'ADDED a'],
  ]);
});

test('a message says up to where everything is taken in', () => {
  sequence = 0;
  const changes = [
    change('c', 'Pending', 'Running'),
    change('a', 'Running', null),
    change('b', 'Pending', 'Running'),
    change('c', 'Running', 'Pending'),
    change('a', null, 'Running'),
  ];
  const messages = fold({ key: 'pods' }, changes, 20, { filter: running, scope: allRows });
  expect(messages.map(({ upTo }) => upTo)).toEqual([4, 20]);
  expect(messages.map(({ changes: folded }) => folded.map(({ identity }) => identity.name))).toEqual([
    ['a', 'b'],
    ['a'],
  ]);
});

test('nothing to tell is no message', () => {
  expect(fold({ key: 'pods' }, [], 5, { filter: everything, scope: allRows })).toEqual([]);
});

test('changes of rows that the caller may not see are not told [L6]', () => {
  expect(fold({ key: 'pods' }, [change('a', null, 'Running')], 5, { filter: everything, scope: noRows })).toEqual([]);
});
