/** Random subscriptions and live queries of the consistency test. Few different ones, so that clients have them in common. */
import type { Dice } from '../../fuzz/dice.ts';
import type { ListQuestion } from './followed-list.ts';
import type { QueryQuestion } from './followed-query.ts';
import { filters, kinds, type Selection, selections } from './watched-objects.ts';

export function randomList(dice: Dice): ListQuestion {
  const { filter, matches } = dice.pick(filters);
  const selection = dice.choose<Selection>([
    [4, () => 'narrow'],
    [4, () => 'wide'],
    [1, () => 'related'],
  ]);
  const [root, type, followed, more] = dice.choose<readonly [string, string, readonly string[], string]>([
    [4, () => ['configMapChanges(', 'ConfigMapFilter', ['ConfigMap'], 'data']],
    [2, () => ['serviceAccountChanges(', 'ServiceAccountFilter', ['ServiceAccount'], '']],
    [3, () => [`objectChanges(kinds: ${JSON.stringify(kinds)}, `, 'ObjectFilter', kinds, '... on ConfigMap { data }']],
  ]);
  const object = `${selections[selection]} ${selection === 'wide' ? more : ''}`;
  const query = `subscription ($filter: ${type}, $since: String) {
    changes: ${root}filter: $filter, since: $since) {
      phase reset cursor totalCount removedIds changes { type id reason object { ${object} } }
    }
  }`;
  return { query, filter, kinds: followed, selection, matches };
}

const nodes = 'nodes { kind metadata { namespace name resourceVersion labels } }';

export function randomQuery(dice: Dice): QueryQuestion {
  const { filter } = dice.pick(filters);
  const query = dice.pick([
    `($filter: ConfigMapFilter) { configMaps(filter: $filter, first: 8, orderBy: [{ path: "metadata.name" }]) { totalCount ${nodes} } }`,
    `($filter: ConfigMapFilter) {
      serviceAccounts { totalCount }
      configMaps(filter: $filter) { aggregate { groups(by: ["metadata.namespace"]) { keys aggregate { count } } } }
    }`,
    `($filter: ObjectFilter) { objects(kinds: ${JSON.stringify(kinds)}, filter: $filter, first: 10) { totalCount ${nodes} } }`,
    `($filter: ServiceAccountFilter) { serviceAccounts(filter: $filter, last: 5) { totalCount nodes { id metadata { uid } } } }`,
  ]);
  return { query, variables: { filter } };
}
