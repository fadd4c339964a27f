import { describe, expect, test } from 'vitest';
import { userOf } from '../../../test/kit/user.ts';
import { impersonatedUser } from './impersonated-user.ts';

const robot = 'system:serviceaccount:shop:robot';
const groupsOfRobot = ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'];
const extra = { 'example.com/scopes': ['read'] };

describe.each(['constrained', 'classic'] as const)('%s impersonation', (mode) => {
  test('carries a user with groups, uid and extra, without the group that every user has', () => {
    const jane = userOf('jane', ['devs', 'system:authenticated'], { uid: '42', extra });
    expect(impersonatedUser(jane, mode, 37)).toEqual({ name: 'jane', groups: ['devs'], uid: '42', extra });
  });

  test('carries a service account without the groups that follow from its name', () => {
    expect(impersonatedUser(userOf(robot, groupsOfRobot), mode, 37)).toEqual({ name: robot, groups: [], extra: {} });
  });

  test.each([
    ['the administrators of the cluster', userOf('root', ['system:masters'])],
    ['a component of the control plane', userOf('system:kube-scheduler')],
    ['a node', userOf('system:node:a', ['system:nodes'])],
    ['nobody', userOf('system:anonymous', ['system:unauthenticated'])],
    ['what only looks like a service account', userOf('system:serviceaccount:Shop:robot')],
    ['a service account of another namespace', userOf(robot, ['system:serviceaccounts:kube-system'])],
    ['a service account in a group besides', userOf(robot, [...groupsOfRobot, 'devs'])],
  ])('never carries %s', (_what, user) => {
    expect(() => impersonatedUser(user, mode, 37)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  });
});

test.each([
  ['uid', { uid: '42' }],
  ['extra', { extra }],
])('the %s of a service account is refused by constrained impersonation, never left out', (_what, more) => {
  const user = userOf(robot, groupsOfRobot, more);
  expect(() => impersonatedUser(user, 'constrained', 37)).toThrow(/--impersonate classic/);
  expect(impersonatedUser(user, 'classic', 37)).toMatchObject(more);
});

test('a uid is refused for a server that does not read it', () => {
  const user = userOf('jane', [], { uid: '42' });
  expect(() => impersonatedUser(user, 'classic', 21)).toThrow(/1\.21/);
  expect(() => impersonatedUser(user, 'classic', 0)).toThrow(/without a version/);
  expect(impersonatedUser(user, 'classic', 22)).toMatchObject({ uid: '42' });
});

test('a group of Kubernetes itself needs constrained impersonation', () => {
  const user = userOf('jane', ['system:authenticated:oauth', 'system:authenticated']);
  expect(() => impersonatedUser(user, 'classic', 37)).toThrow(/system:authenticated:oauth/);
  expect(impersonatedUser(user, 'constrained', 37)).toMatchObject({ groups: ['system:authenticated:oauth'] });
});

test('constrained impersonation is refused for a server that does not know it', () => {
  expect(() => impersonatedUser(userOf('jane'), 'constrained', 34)).toThrow(/--impersonate classic/);
  expect(impersonatedUser(userOf('jane'), 'constrained', 35)).toMatchObject({ name: 'jane' });
});
