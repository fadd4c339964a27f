/** The kinds that fuzzing is about: what the simulated cluster serves, and real CustomResourceDefinitions where there are some. */

import { describeResource } from '../../src/catalog/describe/describe.ts';
import { resourceOfCrd } from '../../src/catalog/describe/from-crd.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { loadCrds } from '../kit/crds.ts';
import { describeSimulatedKinds } from '../kit/simulated-kinds.ts';
import type { Dice } from './dice.ts';

/** @param crds how many real CRDs to take at most. */
export async function fuzzedKinds(dice: Dice, crds: number): Promise<readonly DescribedResource[]> {
  // What is redacted never reaches the store, so the evaluator would see more than it has.
  const builtIn = (await describeSimulatedKinds()).filter(({ redacted }) => redacted.length === 0);
  const custom = dice.sample(loadCrds(), crds).flatMap(({ crd }) => {
    const resource = resourceOfCrd(crd);
    return resource === null ? [] : [describeResource({ cluster: 'demo', resource, crd })];
  });
  return [...builtIn, ...custom];
}
