/**
 * Where the API servers of the suite answer differently by their version, with the expectations for both sides.
 *
 * The simulated cluster follows the newer side. A difference that is not in this file is a defect: of the simulator, or of the suite.
 */
import type { VersionDifference } from '../kit/version-difference.ts';

/** A status that servers answer since a version, and the status of older ones. */
function statusSince(since: number, code: number, before: number, why: string): VersionDifference<number> {
  return { since, why, before, after: code };
}

export const listFromMalformedVersion: VersionDifference<{ code: number; reason: string | undefined }> = {
  since: 33,
  why: 'Since 1.33 a list validates its options before it looks into the watch cache; a get and a watch do not.',
  before: { code: 500, reason: undefined },
  after: { code: 400, reason: 'BadRequest' },
};

export const incompleteOwnerCause: VersionDifference<string> = {
  since: 37,
  why: 'Since 1.37 the cause names the item of the list, and an empty field is a missing one.',
  before: 'metadata.ownerReferences.uid FieldValueInvalid',
  after: 'metadata.ownerReferences[0].uid FieldValueRequired',
};

export const wrongTypeReason: VersionDifference<string> = {
  since: 24,
  why: 'Since 1.24 a wrong type in a custom object has a reason of its own; before, it was a wrong value.',
  before: 'FieldValueInvalid',
  after: 'FieldValueTypeInvalid',
};

export const aggregatedDiscovery: VersionDifference<string> = {
  since: 30,
  why: 'Version v2 of aggregated discovery is served since 1.30; older servers answer in the older form.',
  before: 'APIGroupList',
  after: 'APIGroupDiscoveryList',
};

export const openApiV3 = statusSince(24, 200, 404, 'OpenAPI v3 is served by default since 1.24.');

export const selfSubjectReview = statusSince(28, 201, 404, 'SelfSubjectReview is served in v1 since 1.28.');

export const strictUnknownField: VersionDifference<{ create: number; patch: number }> = {
  since: 25,
  why: 'Servers validate fields by default since 1.25; older ones ignore the parameter and drop unknown fields.',
  before: { create: 201, patch: 200 },
  after: { create: 400, patch: 422 },
};

export const unknownFieldWarning: VersionDifference<string | undefined> = {
  since: 25,
  why: 'Servers warn of unknown fields by default since 1.25.',
  before: undefined,
  after: '299 - "unknown field \\"bogus\\""',
};

export const oddFieldValidation = statusSince(25, 422, 200, 'The parameter fieldValidation is read since 1.25.');

export const initialEvents: VersionDifference<{ code: number; causes: readonly string[] }> = {
  since: 34,
  why: 'Streaming lists are on by default since 1.34; older servers refuse resourceVersionMatch on a watch.',
  before: {
    code: 422,
    causes: ['resourceVersionMatch FieldValueForbidden', 'resourceVersionMatch FieldValueForbidden'],
  },
  after: { code: 200, causes: [] },
};

export const initialEventsOfList = statusSince(
  27,
  422,
  200,
  'The parameter sendInitialEvents is read since 1.27; older servers ignore it.',
);

export const appliedUnknownField = statusSince(
  22,
  500,
  201,
  'Before 1.22 no types were made of a definition with int-or-string fields, so that any field could be applied.',
);

export const customFieldSelector = statusSince(
  31,
  200,
  400,
  'Selectable fields of custom resources are on since 1.31.',
);

export const policyVersion: VersionDifference<string> = {
  since: 22,
  why: 'policy/v1 has PodDisruptionBudgets since 1.21 and evictions since 1.22; older servers have policy/v1beta1.',
  before: 'policy/v1beta1',
  after: 'policy/v1',
};

export const scaleManagers = statusSince(
  22,
  200,
  200,
  'Since 1.22 a write of a Scale makes its writer a manager, with the name of the subresource.',
);

export const unhealthyEvictions = statusSince(27, 201, 429, 'unhealthyPodEvictionPolicy is read since 1.27.');

export const disruptionTarget = statusSince(
  26,
  201,
  201,
  'Evicted Pods get the condition DisruptionTarget since 1.26.',
);

export const duplicateWarning: VersionDifference<{ json: string | undefined; yaml: string | undefined }> = {
  since: 25,
  why: 'Servers warn of fields that a body has twice by default since 1.25.',
  before: { json: undefined, yaml: undefined },
  after: { json: '299 - "duplicate field \\"data.a\\""', yaml: '299 - "line 7: key \\"a\\" already set in map"' },
};

export const badDeleteOptions = statusSince(
  37,
  400,
  500,
  'Options of a deletion that cannot be read are a bad request on newer servers, and were an error of the server.',
);

export const fixedServiceName: VersionDifference<string> = {
  since: 37,
  why: 'Newer servers name the field of a StatefulSet that may not change; older ones refuse the spec.',
  before: 'spec FieldValueForbidden',
  after: 'spec.serviceName FieldValueInvalid',
};
