import { describe, expect, test } from 'vitest';
import { codeOf } from '../../base/errors.ts';
import { resourcePath } from './resource-path.ts';

const pods = { group: '', version: 'v1', plural: 'pods', namespaced: true };
const deployments = { group: 'apps', version: 'v1', plural: 'deployments', namespaced: true };
const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterroles', namespaced: false };

describe('resourcePath', () => {
  test.each([
    [resourcePath(pods), '/api/v1/pods'],
    [resourcePath(pods, 'a'), '/api/v1/namespaces/a/pods'],
    [resourcePath(deployments, 'a', 'b', 'status'), '/apis/apps/v1/namespaces/a/deployments/b/status'],
    [resourcePath(roles), '/apis/rbac.authorization.k8s.io/v1/clusterroles'],
    [
      resourcePath(roles, undefined, 'system:MyAdmin'),
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3AMyAdmin',
    ],
    [resourcePath(pods, 'a', 'b?c#d'), '/api/v1/namespaces/a/pods/b%3Fc%23d'],
  ])('%s', (made, expected) => {
    expect(made).toBe(expected);
  });

  test.each(['..', '.', '', 'a/b', 'a%2fb'])('refuses %j as a name, which would be another path', (name) => {
    expect(() => resourcePath(pods, 'a', name)).toThrowError(/cannot be part of a path/);
    expect(() => resourcePath(pods, name)).toThrowError(/cannot be part of a path/);
  });

  test('refuses what does not fit the scope of the resource', () => {
    for (const wrong of [
      () => resourcePath(roles, 'a'),
      () => resourcePath(pods, undefined, 'b'),
      () => resourcePath(pods, 'a', undefined, 'status'),
    ]) {
      let code: string | undefined;
      try {
        wrong();
      } catch (error) {
        code = codeOf(error);
      }
      expect(code).toBe('BAD_USER_INPUT');
    }
  });
});
