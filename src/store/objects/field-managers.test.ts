import { expect, test } from 'vitest';
import { newestManagers, readManagers } from './field-managers.ts';

const kubectl = { manager: 'kubectl', operation: 'Apply', time: '2026-01-31T08:00:00Z', fieldsV1: { 'f:spec': {} } };
const kubelet = { manager: 'kubelet', operation: 'Update', subresource: 'status', time: '2026-01-31T08:15:00Z' };

test.each([
  ['the newest one', [kubectl, kubelet], [['kubelet', 'Update', 'status', '2026-01-31T08:15:00Z']]],
  [
    'several with the same time',
    [kubelet, { ...kubectl, time: '2026-01-31T08:15:00Z' }],
    [
      ['kubelet', 'Update', 'status', '2026-01-31T08:15:00Z'],
      ['kubectl', 'Apply', null, '2026-01-31T08:15:00Z'],
    ],
  ],
  [
    'a time with an offset',
    [kubelet, { ...kubectl, time: '2026-01-31T10:00:00+01:00' }],
    [['kubectl', 'Apply', null, '2026-01-31T10:00:00+01:00']],
  ],
  [
    'the one who applies what nobody has',
    [{ ...kubectl, manager: 'before-first-apply', operation: 'Update' }, kubectl],
    [['kubectl', 'Apply', null, '2026-01-31T08:00:00Z']],
  ],
])('the managers of the newest change: %s', (_, list, expected) => {
  expect(newestManagers(JSON.stringify(list))).toBe(JSON.stringify(expected));
  expect(newestManagers(list)).toBe(JSON.stringify(expected));
  expect(readManagers(newestManagers(list)).map((each) => Object.values(each))).toEqual(expected);
});

test.each([
  ['no list', {}],
  ['no JSON', '[{'],
  ['no entry', []],
  ['no time', [{ manager: 'a' }]],
  ['no manager', [{ time: '2026-01-31T08:15:00Z' }]],
  ['another time', [{ manager: 'a', time: 'soon' }]],
  ['a manager of many characters', [{ ...kubectl, manager: 'x'.repeat(129) }]],
  ['other entries', [null, 1, 'a', []]],
])('no managers: %s', (_, list) => {
  expect(newestManagers(list)).toBeNull();
  expect(readManagers(null)).toEqual([]);
});
