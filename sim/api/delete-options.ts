/** Reads and validates DeleteOptions: the body of a deletion, its parameters in the form of a body, or a part of an Eviction. */
import { asArray, asObject, asString, type JsonObject } from '../objects/json.ts';
import { type StatusCause, statusErrors } from '../objects/status-error.ts';
import { builtinSchema } from '../schema/builtin-schema.ts';
import { validateValue } from '../schema/validate.ts';
import { goTypeProblem } from './admission.ts';
import type { DeleteRequest } from './write-options.ts';

const policies = ['Foreground', 'Background', 'Orphan'];
const definition = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

/** The request; throws a Status of 400 for another kind or wrong types, of 422 for values that no server knows. */
export function readDeleteOptions(body: JsonObject): DeleteRequest {
  const { kind = 'DeleteOptions', apiVersion = 'v1' } = body;
  if (kind !== 'DeleteOptions') {
    throw statusErrors.badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
    );
  }
  const { definitions } = builtinSchema();
  const root = asObject(definitions[definition]);
  const [wrong] = validateValue(body, root, { root, definitions, open: true }, '');
  if (wrong) throw statusErrors.badRequest(goTypeProblem('DeleteOptions', wrong));
  checkDeleteOptions(body);
  const policy = policyOf(body);
  const { uid, resourceVersion } = asObject(body.preconditions);
  return {
    ...(policy === '' ? {} : { propagationPolicy: policy }),
    ...(body.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: graceOf(Number(body.gracePeriodSeconds)) }),
    preconditions: {
      ...(uid === undefined ? {} : { uid: asString(uid) }),
      ...(resourceVersion === undefined ? {} : { resourceVersion: asString(resourceVersion) }),
    },
    dryRun: asArray(body.dryRun).length > 0,
  };
}

function checkDeleteOptions(body: JsonObject): void {
  const causes: StatusCause[] = [];
  const field = 'propagationPolicy';
  const policy = asString(body.propagationPolicy);
  if (body.propagationPolicy !== undefined && body.orphanDependents !== undefined) {
    const message = `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`;
    causes.push({ reason: 'FieldValueInvalid', message, field });
  }
  if (body.propagationPolicy !== undefined && !policies.includes(policy)) {
    const supported = [...policies, 'nil'].map((each) => JSON.stringify(each)).join(', ');
    const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: ${supported}`;
    causes.push({ reason: 'FieldValueNotSupported', message, field });
  }
  causes.push(...dryRunCauses(asArray(body.dryRun)));
  if (causes.length > 0) throw statusErrors.invalid('meta.k8s.io', 'DeleteOptions', '', causes);
}

/** The causes for which values of `dryRun` are rejected. */
export function dryRunCauses(given: readonly unknown[]): StatusCause[] {
  if (given.every((value) => value === 'All')) return [];
  const message = `Unsupported value: ${JSON.stringify(given)}: supported values: "All"`;
  return [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }];
}

function policyOf({ propagationPolicy, orphanDependents }: JsonObject): string {
  if (orphanDependents === undefined) return asString(propagationPolicy);
  return orphanDependents === true ? 'Orphan' : 'Background';
}

/** Negative seconds are one second. */
function graceOf(seconds: number): number {
  return seconds < 0 ? 1 : seconds;
}
