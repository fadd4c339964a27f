/** Sets as they were, for callers whose rights the API server reviews. */
import { expect, test } from 'vitest';
import { engineFixture } from '../../../test/kit/engine-fixture.ts';
import { alice, reviewedAlice } from '../../../test/kit/reviewed-alice.ts';
import { storedRecord } from '../../../test/kit/shadow-records.ts';
import { servedResource } from '../../../test/kit/store-file.ts';
import { must } from '../../base/must.ts';
import { beginOperation } from '../../operation/operation.ts';
import { setAt } from './set-at.ts';

test('a set of many kinds is read as it was at once, and is charged once', async () => {
  // Every caller of the fixture is alice.
  const { rights } = reviewedAlice(({ verb, namespace }) => verb === 'get' && namespace === 'shop');
  const fixture = engineFixture({ engine: { rights } });
  const plurals = ['pods', 'secrets', 'configmaps', 'services', 'deployments', 'gadgets'] as const;
  const kinds = ['Pod', 'Secret', 'ConfigMap', 'Service', 'Deployment', 'Gadget'] as const;
  await fixture.declare(
    servedResource({ plural: 'shadowrecords', kind: 'ShadowRecord', group: 'portolan.dev', version: 'v1alpha1' }),
    ...kinds.map((kind, index) => servedResource({ plural: must(plurals[index], 'a plural'), kind })),
  );
  for (const [index, kind] of kinds.entries()) {
    const name = kind.toLowerCase();
    const metadata = { name, namespace: 'shop', uid: `uid-shop-${name}`, resourceVersion: String(100 + index) };
    await fixture.sync(must(plurals[index], 'a plural'), [{ apiVersion: 'v1', kind, metadata, spec: { note: kind } }]);
  }
  const members = kinds.map((kind) => `${kind}/${kind.toLowerCase()}`);
  await fixture.sync('shadowrecords.portolan.dev', [storedRecord({ name: 'web', rv: 200, members })]);
  const spent: number[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const operation = beginOperation(fixture.engine.source, alice);
    const set = { cluster: 'east', namespace: 'shop', name: 'web' };
    // The histories of the kinds begin at whole seconds.
    const { documents, errors } = await setAt(operation, set, Date.now() + 1000);
    expect(documents.map(({ json }) => (json as { spec?: object }).spec)).toEqual(kinds.map((note) => ({ note })));
    expect(errors).toEqual(kinds.map(() => null));
    spent.push(operation.cost.spent);
    operation.end();
  }
  expect(spent).toEqual([kinds.length * 50, kinds.length * 50]);
});
