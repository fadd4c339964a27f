/** `files/rights.yaml` of the chart: the built-in kinds, and the rules that name no kinds. Its templates make roles from them. */
import { stringify } from 'yaml';
import { memberRules } from '../../src/access/door-rules.ts';
import { constrained, unnamedRules } from '../../src/access/gateway-rules.ts';
import { rbacKeys } from '../../src/access/rbac-objects.ts';
import { mayBeCustom } from '../../src/catalog/groups/api-group.ts';
import { resourceKey } from '../../src/catalog/resources/resource.ts';
import { selects } from '../../src/ingest/context/selection.ts';
import { builtinKinds } from './builtin-kinds.ts';

/** Of the aggregated API server: what it does with members in the name of callers. The chart does not know the kinds of custom resources. */
const memberImpersonation = constrained(memberRules([{ group: '*', plural: '*' }])).rules;

export function rightsText(): string {
  const kinds = builtinKinds.map((resource) => ({
    group: resource.group,
    plural: resource.plural,
    kind: resource.kind,
    namespaced: resource.namespaced,
    watch: resource.verbs.includes('watch'),
    ...(selects(resource, {}) ? {} : { unlessNamed: true }),
    ...(mayBeCustom(resource.group) ? { mayBeCustom: true } : {}),
    ...(rbacKeys.includes(resourceKey(resource)) ? { decidesRights: true } : {}),
  }));
  const rules = Object.fromEntries(
    Object.entries({ ...unnamedRules, memberImpersonation }).map(([name, each]) => [
      name,
      each.map(({ why: _why, ...rule }) => rule),
    ]),
  );
  return [
    '# Written by npm run chart from the rules of portolan rbac.',
    'kinds:',
    ...kinds.map((kind) => `  - ${JSON.stringify(kind)}`),
    stringify({ rules }, { lineWidth: 0, aliasDuplicateObjects: false }),
  ].join('\n');
}
