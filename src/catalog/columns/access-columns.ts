/** The columns of roles, certificates, admission, and of the definitions of APIs. */

import { list } from '../../base/json.ts';
import { type BuiltInColumn, column, since, wide } from './built-in-column.ts';
import { flag, isPresent, isTrue, joined, memberOf, number, ofType, size, text, textOr } from './cell-values.ts';
import { age, createdAt, name } from './common-columns.ts';
import { humanDuration } from './human-duration.ts';
import { labelsText, selectorStructText } from './selector-text.ts';

type Columns = readonly BuiltInColumn[];

/** The subjects of one kind, each as its name or as `namespace/name`. */
function subjects(title: string, kind: string, isNamespaced: boolean): BuiltInColumn {
  return column(title, 'string', 'subjects', (value) =>
    list(value)
      .filter((subject) => memberOf(subject, 'kind') === kind)
      .map((subject) => {
        const own = text(memberOf(subject, 'name'));
        return isNamespaced ? `${text(memberOf(subject, 'namespace'))}/${own}` : own;
      })
      .join(', '),
  );
}

const bindings: Columns = [
  name,
  column('Role', 'string', 'roleRef', (role) => `${text(memberOf(role, 'kind'))}/${text(memberOf(role, 'name'))}`),
  age,
  ...wide(
    subjects('Users', 'User', false),
    subjects('Groups', 'Group', false),
    subjects('ServiceAccounts', 'ServiceAccount', true),
  ),
];

function signingCondition(conditions: unknown, certificate: unknown): string {
  const has = (type: string): boolean => ofType(conditions, type) !== undefined;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${decision}${has('Failed') ? ',Failed' : ''}${text(certificate) === '' ? '' : ',Issued'}`;
}

const signingRequests: Columns = [
  name,
  age,
  column('SignerName', 'string', 'spec.signerName', textOr('<none>')),
  column('Requestor', 'string', 'spec.username', text),
  since(
    'spec.expirationSeconds',
    column('RequestedDuration', 'string', 'spec.expirationSeconds', (seconds) =>
      isPresent(seconds) ? humanDuration(number(seconds)) : '<none>',
    ),
  ),
  column('Condition', 'string', 'status.conditions status.certificate', signingCondition),
];

const podCertificateRequests: Columns = [
  name,
  column('PodName', 'string', 'spec.podName', text),
  column('ServiceAccountName', 'string', 'spec.serviceAccountName', text),
  column('NodeName', 'string', 'spec.nodeName', text),
  column('SignerName', 'string', 'spec.signerName', text),
  column('State', 'string', 'status.conditions', (conditions) => {
    const types = list(conditions).map((each) => text(memberOf(each, 'type')));
    return types.findLast((type) => ['Issued', 'Denied', 'Failed'].includes(type)) ?? 'Pending';
  }),
  ...wide(column('UnverifiedUserAnnotations', 'string', 'spec.unverifiedUserAnnotations', labelsText)),
];

const webhooks: Columns = [name, column('Webhooks', 'integer', 'webhooks', size), age];

const paramKind = column('ParamKind', 'string', 'spec.paramKind', (kind) =>
  isPresent(kind) ? `${text(memberOf(kind, 'apiVersion'))}/${text(memberOf(kind, 'kind'))}` : '<unset>',
);

/** The namespace is unknown where the reference has none: parameters may have no namespace at all. */
function paramRef(reference: unknown): string {
  const own = text(memberOf(reference, 'name'));
  if (own !== '') return `${text(memberOf(reference, 'namespace')) || '*'}/${own}`;
  const selector = memberOf(reference, 'selector');
  return isPresent(selector) ? selectorStructText(selector) : '<unset>';
}

const policyBindings: Columns = [
  name,
  column('PolicyName', 'string', 'spec.policyName', text),
  column('ParamRef', 'string', 'spec.paramRef', paramRef),
  age,
];

const apiServices: Columns = [
  name,
  column('Service', 'string', 'spec.service', (service) =>
    isPresent(service) ? `${text(memberOf(service, 'namespace'))}/${text(memberOf(service, 'name'))}` : 'Local',
  ),
  column('Available', 'string', 'status.conditions', (conditions) => {
    const condition = ofType(conditions, 'Available');
    if (condition === undefined) return 'Unknown';
    const [status, reason] = [text(memberOf(condition, 'status')), text(memberOf(condition, 'reason'))];
    return status === 'True' || reason === '' ? status : `${status} (${reason})`;
  }),
  age,
];

/** The served versions, sorted: `v1(storage),v1beta1`. */
function servedVersions(versions: unknown): string {
  return list(versions)
    .filter((version) => flag(memberOf(version, 'served')))
    .map((version) => `${text(memberOf(version, 'name'))}${flag(memberOf(version, 'storage')) ? '(storage)' : ''}`)
    .sort()
    .join(',');
}

const definitions: Columns = [
  name,
  column('Scope', 'string', 'spec.scope', text),
  column('Versions', 'string', 'spec.versions', servedVersions),
  createdAt,
  ...wide(
    column('Group', 'string', 'spec.group', text),
    column('Kind', 'string', 'spec.names.kind', text),
    column('ShortNames', 'string', 'spec.names.shortNames', joined),
    column('Established', 'boolean', 'status.conditions', (conditions) => isTrue(conditions, 'Established')),
  ),
];

const registration = 'admissionregistration.k8s.io';

export const accessColumns: Readonly<Record<string, Columns>> = {
  'roles.rbac.authorization.k8s.io': [name, createdAt],
  'clusterroles.rbac.authorization.k8s.io': [name, createdAt],
  'rolebindings.rbac.authorization.k8s.io': bindings,
  'clusterrolebindings.rbac.authorization.k8s.io': bindings,
  'certificatesigningrequests.certificates.k8s.io': signingRequests,
  'clustertrustbundles.certificates.k8s.io': [
    name,
    column('SignerName', 'string', 'spec.signerName', textOr('<none>')),
  ],
  'podcertificaterequests.certificates.k8s.io': podCertificateRequests,
  [`mutatingwebhookconfigurations.${registration}`]: webhooks,
  [`validatingwebhookconfigurations.${registration}`]: webhooks,
  [`validatingadmissionpolicies.${registration}`]: [
    name,
    column('Validations', 'integer', 'spec.validations', size),
    paramKind,
    age,
  ],
  [`mutatingadmissionpolicies.${registration}`]: [
    name,
    column('Mutations', 'integer', 'spec.mutations', size),
    paramKind,
    age,
  ],
  [`validatingadmissionpolicybindings.${registration}`]: policyBindings,
  [`mutatingadmissionpolicybindings.${registration}`]: policyBindings,
  'apiservices.apiregistration.k8s.io': apiServices,
  'customresourcedefinitions.apiextensions.k8s.io': definitions,
};
