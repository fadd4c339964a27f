import { describe, expect, test } from 'vitest';
import { chooseResources, compareVersions, type ServedLike } from './served.ts';

const all = ['get', 'list', 'watch'];

function served(text: string, more: Partial<ServedLike> = {}): ServedLike {
  const [group = '', version = '', plural = ''] = text.split(' ');
  return {
    group: group === '-' ? '' : group,
    version,
    plural,
    singular: '',
    kind: plural,
    namespaced: true,
    verbs: all,
    shortNames: [],
    categories: [],
    ...more,
  };
}

const shown = (resource: { group: string; version: string; plural: string }): string =>
  `${resource.group || '-'} ${resource.version} ${resource.plural}`;

describe('chooseResources', () => {
  test('takes one version: the preferred one, else the most stable', () => {
    const { chosen } = chooseResources([
      served('a.io v1 foos'),
      served('a.io v2beta1 foos', { preferred: true }),
      served('b.io v1alpha1 bars'),
      served('b.io v1beta1 bars'),
      served('b.io v1 others', { preferred: true }),
    ]);
    expect(chosen.map(shown)).toEqual(['a.io v2beta1 foos', 'b.io v1beta1 bars', 'b.io v1 others']);
  });

  test('takes another version where the preferred one cannot be listed', () => {
    const { chosen, skipped } = chooseResources([
      served('a.io v1 foos', { preferred: true, verbs: ['create'] }),
      served('a.io v1beta1 foos'),
    ]);
    expect(chosen.map(shown)).toEqual(['a.io v1beta1 foos']);
    expect(skipped).toEqual([]);
  });

  test.each([
    ['events.k8s.io v1 events', '- v1 events'],
    ['extensions v1beta1 ingresses', 'networking.k8s.io v1 ingresses'],
    ['extensions v1beta1 deployments', 'apps v1 deployments'],
    ['extensions v1beta1 networkpolicies', 'networking.k8s.io v1 networkpolicies'],
  ])('leaves out %s where %s is served, and only there', (left, right) => {
    for (const order of [
      [left, right],
      [right, left],
    ]) {
      const { chosen, skipped } = chooseResources(order.map((each) => served(each)));
      expect(chosen.map(shown)).toEqual([right]);
      expect(skipped.map(({ resource, reason }) => [shown(resource), reason])).toEqual([
        [left, expect.stringContaining('its objects are those of')],
      ]);
    }
    expect(chooseResources([served(left)]).chosen.map(shown)).toEqual([left]);
    expect(chooseResources([served(left), served(right, { verbs: ['create'] })]).chosen.map(shown)).toEqual([left]);
  });

  test('keeps equal plurals of groups that are different things', () => {
    expect(
      chooseResources([served('- v1 pods'), served('metrics.k8s.io v1beta1 pods', { verbs: ['get', 'list'] })]).chosen
        .length,
    ).toBe(2);
  });

  test('leaves out what cannot be listed, with a reason, and subresources without', () => {
    const { chosen, skipped } = chooseResources([
      served('authentication.k8s.io v1 tokenreviews', { verbs: ['create'] }),
      served('- v1 pods/status', { verbs: ['get'] }),
    ]);
    expect(chosen).toEqual([]);
    expect(skipped.map(({ reason }) => reason)).toEqual(['it cannot be listed']);
  });
});

describe('compareVersions', () => {
  test("is Kubernetes' order", () => {
    const order = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'bar', 'foo1'];
    expect(order.toReversed().sort((a, b) => compareVersions(b, a))).toEqual(order);
  });
});
