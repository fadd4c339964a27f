import { describe, expect, test } from 'vitest';
import { type GatewayNeeds, gatewayRoles } from './gateway-rules.ts';

const verbs = ['get', 'list', 'watch'];
const pods = { group: '', plural: 'pods', namespaced: true, verbs };
const nodes = { group: '', plural: 'nodes', namespaced: false, verbs };
const deployments = { group: 'apps', plural: 'deployments', namespaced: true, verbs };
const metrics = { group: 'metrics.k8s.io', plural: 'pods', namespaced: true, verbs: ['get', 'list'] };
const gadgets = { group: 'example.com', plural: 'gadgets', namespaced: true, verbs };

function rolesFor(needs: Partial<GatewayNeeds>) {
  return gatewayRoles({
    resources: [deployments, pods, nodes, metrics],
    namespaces: [],
    wildcards: false,
    reviewsTokens: false,
    reviewsAccess: false,
    clusterSecrets: null,
    impersonates: null,
    ...needs,
  });
}

/** `namespace: group/resources verbs`, one line a rule. */
function linesOf(needs: Partial<GatewayNeeds>): readonly string[] {
  return rolesFor(needs).flatMap(({ namespace, suffix, rules }) =>
    rules.map(({ apiGroups, resources, resourceNames, nonResourceURLs, verbs: allowed }) => {
      const names = resourceNames === undefined ? '' : ` [${resourceNames.join()}]`;
      const what = nonResourceURLs === undefined ? `${apiGroups?.join()}/${resources?.join()}${names}` : 'paths';
      return `${namespace}${suffix}: ${what} ${allowed.join()}`;
    }),
  );
}

const identity = ': /namespaces [kube-system] get';

describe('the rules of the gateway', () => {
  test('name the kinds by group; kinds without a watch are listed only', () => {
    expect(linesOf({})).toEqual([
      ': /nodes,pods list,watch',
      ': apps/deployments list,watch',
      ': metrics.k8s.io/pods list',
      // An add-on serves this group: the gateway looks for a definition.
      ': apiextensions.k8s.io/customresourcedefinitions get,list',
      identity,
      ': paths get',
    ]);
  });

  test('have the definitions where a kind may have one', () => {
    expect(linesOf({ resources: [gadgets] })).toEqual([
      ': example.com/gadgets list,watch',
      ': apiextensions.k8s.io/customresourcedefinitions get,list',
      identity,
      ': paths get',
    ]);
  });

  test('are roles in the namespaces for namespaced kinds, and the ClusterRole has the others', () => {
    expect(linesOf({ namespaces: ['a', 'b', 'a'], resources: [pods, nodes] })).toEqual([
      ': /nodes list,watch',
      identity,
      ': paths get',
      'a: /pods list,watch',
      'b: /pods list,watch',
    ]);
    expect(rolesFor({ namespaces: ['a'], resources: [nodes] })).toHaveLength(1);
  });

  test('with wildcards hold for kinds to come, but never beyond the namespaces', () => {
    const definitions = ': apiextensions.k8s.io/customresourcedefinitions get,list';
    expect(linesOf({ wildcards: true })).toEqual([': */* list,watch', definitions, identity, ': paths get']);
    expect(linesOf({ wildcards: true, namespaces: ['a'] })).toEqual([
      ': /nodes list,watch',
      definitions,
      identity,
      ': paths get',
      'a: */* list,watch',
    ]);
  });

  test('have reviews, and impersonation in a role of its own', () => {
    const needs = { resources: [pods], reviewsTokens: true, reviewsAccess: true, impersonates: 'classic' } as const;
    expect(linesOf(needs)).toEqual([
      ': /pods list,watch',
      identity,
      ': authentication.k8s.io/tokenreviews create',
      ': authorization.k8s.io/subjectaccessreviews create',
      ': paths get',
      '-impersonate: /users,groups,serviceaccounts impersonate',
      '-impersonate: authentication.k8s.io/* impersonate',
    ]);
  });

  test('constrained impersonation needs no right to impersonate without constraints', () => {
    const lines = linesOf({ resources: [pods], impersonates: 'constrained' }).filter((line) => line.startsWith('-'));
    expect(lines.map((line) => line.split(',')[0])).toEqual([
      '-impersonate: authentication.k8s.io/* impersonate:user-info',
      '-impersonate: authentication.k8s.io/serviceaccounts impersonate:serviceaccount',
      '-impersonate: */* impersonate-on:user-info:get',
      '-impersonate: apps/replicasets',
      '-impersonate: paths impersonate-on:user-info:get',
    ]);
    expect(lines.join()).not.toMatch(/\bimpersonate\b(?![:-])(?!: )/);
  });

  test.each(['classic', 'constrained'] as const)('each have a reason, with %s impersonation', (impersonates) => {
    const roles = rolesFor({ reviewsTokens: true, reviewsAccess: true, impersonates, namespaces: ['a'] });
    for (const { why, rules } of roles)
      for (const text of [why, ...rules.map((rule) => rule.why)]) expect(text).toMatch(/\.$/);
  });
});
