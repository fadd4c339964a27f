import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordSpec } from './record-spec.ts';
import { applySetId, checkSetName, ownerReferenceTo, recordMarks, setManager } from './set-names.ts';
import {
  memberKey,
  membersFinalizer,
  mostMembers,
  readSetRecord,
  recordsThatOwn,
  type SetMember,
  type SetSpec,
} from './set-record.ts';

const metadata = { name: 'web', namespace: 'shop', uid: 'u-1', resourceVersion: '7' };
const text = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...'ab_-.{"ä'.split(''), '__proto__') });
const member: fc.Arbitrary<SetMember> = fc.record({
  group: fc.constantFrom('', 'apps', 'example.com'),
  version: text,
  kind: text,
  resource: text,
  namespace: fc.constant('shop'),
  name: text,
  uid: fc.option(text),
  fields: fc.option(fc.dictionary(text, fc.constantFrom({}, { 'f:a': {} }))),
  leaves: fc.boolean(),
});
const spec: fc.Arbitrary<SetSpec> = fc.record({
  generation: fc.maxSafeNat(),
  phase: fc.constantFrom('Applying', 'Applied', 'Deleting'),
  members: fc.uniqueArray(member, { selector: memberKey, maxLength: 6 }),
  lastApplied: fc.option(text),
});

test('what is written is read again', () => {
  fc.assert(
    fc.property(spec, (wanted) => {
      const stored: unknown = JSON.parse(JSON.stringify({ metadata, spec: recordSpec(wanted) }));
      const { generation, phase, members, lastApplied } = readSetRecord(stored);
      const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
      expect(plain({ generation, phase, members, lastApplied })).toEqual(plain(wanted));
    }),
  );
});

const good = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: 'deployments',
  namespace: 'shop',
  name: 'a',
};

test('metadata is read', () => {
  const more = { labels: { a: 'b' }, finalizers: [membersFinalizer], deletionTimestamp: '2026-01-31T12:00:00Z' };
  const record = readSetRecord({
    metadata: { ...metadata, ...more },
    spec: { generation: 3, phase: 'Deleting', members: [good] },
  });
  expect(record).toMatchObject({ ...metadata, ...more, annotations: {}, generation: 3, phase: 'Deleting' });
  expect(record.members).toEqual([{ ...good, uid: null, fields: null, leaves: false }]);
});

test.each<[string, unknown, RegExp]>([
  ['nothing', null, /no metadata/],
  ['a list', [], /no metadata/],
  ['no uid', { metadata: { name: 'a', namespace: 'b' }, spec: {} }, /metadata.uid is no text/],
  ['no spec', { metadata }, /no spec/],
  ['a spec of the prototype', { metadata, spec: Object.create({ generation: 1, phase: 'Applied' }) }, /generation/],
  ['a negative generation', { metadata, spec: { generation: -1, phase: 'Applied' } }, /generation/],
  ['another phase', { metadata, spec: { generation: 1, phase: 'constructor' } }, /none of Applying, Applied, Deleting/],
  ['members that are no list', { metadata, spec: { generation: 1, phase: 'Applied', members: {} } }, /no list/],
  [
    'too many members',
    { metadata, spec: { generation: 1, phase: 'Applied', members: Array(mostMembers.recorded + 1).fill(good) } },
    /2001 members/,
  ],
  ...(
    [
      ['a text', 'web', /members\[0\] is no object/],
      ['another namespace', { ...good, namespace: 'kube-system' }, /not the namespace of the record/],
      ['no name', { ...good, name: '' }, /members\[0\].name is no text/],
      ['a group that is no text', { ...good, group: 1 }, /group is no text/],
      ['a uid that is no text', { ...good, uid: {} }, /uid is no text/],
      ['fields that are no object', { ...good, fields: ['f:spec'] }, /fields is no object/],
    ] as const
  ).map(([name, each, words]): [string, unknown, RegExp] => [
    `a member: ${name}`,
    { metadata, spec: { generation: 1, phase: 'Applied', members: [each] } },
    words,
  ]),
  [
    'a member twice, in two versions',
    { metadata, spec: { generation: 1, phase: 'Applied', members: [good, { ...good, version: 'v1beta1' }] } },
    /Deployment a is a member twice/,
  ],
])('what is no record is refused: %s', (_name, object, words) => {
  expect(() => readSetRecord(object)).toThrow(expect.objectContaining({ code: 'INVALID' }));
  expect(() => readSetRecord(object)).toThrow(words);
});

test('a manager has at most 128 characters, and no other set has it', () => {
  const managers = [57, 58, 59, 253].map((length) =>
    setManager({ namespace: 'a'.repeat(63), name: 'b'.repeat(length) }),
  );
  expect(managers.map((each) => each.length)).toEqual([128, 128, 128, 128]);
  expect(managers[0]).toBe(`shadow:${'a'.repeat(63)}/${'b'.repeat(57)}`);
  expect(new Set(managers).size).toBe(4);
});

test('the marks of a set are those of an ApplySet', () => {
  const set = { namespace: 'shop', name: 'web' };
  // base64url of sha256("web.shop.ShadowRecord.portolan.dev").
  expect(applySetId(set)).toBe('applyset-AqvAg3MwtU5ehSz1RloPiUykh9M4DO_uXeJlcnMTplY-v1');
  expect(setManager(set)).toBe('shadow:shop/web');
  const members = [good, { ...good, group: '', kind: 'Secret' }, { ...good, name: 'b' }];
  expect(recordMarks(set, members, '1.2.3')).toEqual({
    labels: { 'applyset.kubernetes.io/id': applySetId(set) },
    annotations: {
      'applyset.kubernetes.io/tooling': 'portolan/1.2.3',
      'applyset.kubernetes.io/contains-group-kinds': 'Deployment.apps,Secret',
    },
  });
  const reference = ownerReferenceTo({ name: 'web', uid: 'u-1' });
  expect(recordsThatOwn({ ownerReferences: [{ apiVersion: 'v1', kind: 'Node', uid: 'n' }, reference] })).toEqual([
    'u-1',
  ]);
  expect(recordsThatOwn({ ownerReferences: [{ ...reference, apiVersion: 'other.dev/v1' }] })).toEqual([]);
});

test.each([
  ['shop', 'web', null],
  ['shop', 'a.b-c', null],
  ['shop', '', /no name of a set/],
  ['shop', 'Web', /no name of a set/],
  ['shop', '../nodes', /no name of a set/],
  ['shop', 'a..b', /no name of a set/],
  ['shop/other', 'web', /no name of a namespace/],
  ['a'.repeat(64), 'web', /no name of a namespace/],
  ['a'.repeat(63), 'b'.repeat(57), null],
  ['a'.repeat(63), 'b'.repeat(253), null],
  ['shop', 'b'.repeat(254), /at most 253 characters/],
])('the name of a set: %s %s', (namespace, name, refused) => {
  const check = (): void => checkSetName({ namespace, name });
  if (refused === null) check();
  else expect(check).toThrow(refused);
});
