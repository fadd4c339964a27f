/** Labels and label selectors as the API server writes them in cells. */
import { list } from '../../base/json.ts';
import { entries, memberOf, text } from './cell-values.ts';

const none = '<none>';

/** `app=web,tier=front`, in the order of the keys; `<none>` without labels. */
export function labelsText(labels: unknown): string {
  const pairs = entries(labels).map(([key, value]) => `${key}=${text(value)}`);
  return pairs.length === 0 ? none : pairs.sort().join(',');
}

/** A LabelSelector: `app=web,tier in (a,b),!old`, in the order of the keys; `<none>` if it is absent or selects all. */
export function selectorText(selector: unknown): string {
  const requirements = [
    ...entries(memberOf(selector, 'matchLabels')).map(([key, value]) => ({ key, said: `${key}=${text(value)}` })),
    ...list(memberOf(selector, 'matchExpressions')).map((each) => ({
      key: text(memberOf(each, 'key')),
      said: requirementText(each),
    })),
  ];
  if (requirements.some(({ said }) => said === null)) return '<error>';
  requirements.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return requirements.map(({ said }) => said).join(',') || none;
}

/** One of matchExpressions; null for an operator that the API server does not know. */
function requirementText(requirement: unknown): string | null {
  const key = text(memberOf(requirement, 'key'));
  const values = list(memberOf(requirement, 'values')).map(text).sort().join(',');
  switch (memberOf(requirement, 'operator')) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return null;
  }
}

/** A LabelSelector as Go writes the struct: the API server has no shorter form for one of parameters. */
export function selectorStructText(selector: unknown): string {
  const labels = entries(memberOf(selector, 'matchLabels'))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${text(value)},`);
  const expressions = list(memberOf(selector, 'matchExpressions')).map((each) => {
    const values = list(memberOf(each, 'values')).map(text).join(' ');
    return `LabelSelectorRequirement{Key:${text(memberOf(each, 'key'))},Operator:${text(memberOf(each, 'operator'))},Values:[${values}],},`;
  });
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
