import { expect, test } from 'vitest';
import { PortolanError } from '../../base/errors.ts';
import { type WriteErrorCode, writeError } from '../../writes/outcome/write-error.ts';
import type { WriteReport } from '../../writes/session/session-report.ts';
import { statusOf } from '../protocol/status.ts';
import { isOvertaken, placedError, refusalOf, warningLine } from './write-refusal.ts';

const api = { group: 'g.io', version: 'v1' };

/** A report of the ConfigMaps a, b …, and of the record at the end. */
function reportOf(...codes: readonly (WriteErrorCode | null)[]): WriteReport {
  const items = codes.map((code, index) => ({
    intent: { target: { resource: { kind: 'ConfigMap' }, name: 'abc'[index] } },
    result: code === null ? 'CREATED' : 'NONE',
    written: null,
    errors: code === null ? [] : [{ ...writeError(code, 'why', 'data.a'), retryAfterSeconds: 7 }],
  }));
  return { items } as unknown as WriteReport;
}

const refused = (report: WriteReport, places: readonly number[] = [1, 3]) => {
  const error = refusalOf(api, { name: 'web', places }, report);
  return error === null ? null : statusOf(error);
};

test('the first error decides the status, and skipped items are no causes', () => {
  expect(refused(reportOf(null, null, null))).toBeNull();
  expect(refused(reportOf('SKIPPED', 'DENIED', 'SKIPPED'))).toMatchObject({
    code: 403,
    message: 'spec.flowList[3], ConfigMap b: why',
    details: { name: 'web', causes: [{ field: 'spec.flowList[3].data.a' }] },
  });
  expect(refused(reportOf('INVALID_FIELD', 'IMMUTABLE', 'SKIPPED'))).toMatchObject({
    code: 422,
    details: { causes: [{ field: 'spec.flowList[1].data.a' }, { field: 'spec.flowList[3].data.a' }] },
  });
  expect(refused(reportOf('DENIED', null, 'DENIED'))?.message).toBe(
    'spec.flowList[1], ConfigMap a: why; the record of the set: why',
  );
  // The second item is a member that leaves: the client has no place for it.
  expect(refused(reportOf(null, 'DENIED', 'SKIPPED'), [1])?.message).toBe('ConfigMap b: why');
});

test('each code has its status', () => {
  const codeOf = (code: WriteErrorCode): number | undefined => refused(reportOf(code, null, 'SKIPPED'))?.code;
  expect(codeOf('TOO_MANY_REQUESTS')).toBe(429);
  expect(codeOf('UNAVAILABLE')).toBe(503);
  expect(codeOf('AUDIT_UNAVAILABLE')).toBe(503);
  expect(codeOf('UNKNOWN')).toBe(504);
  expect(codeOf('STALE_OBJECT')).toBe(409);
  expect(codeOf('ALREADY_EXISTS')).toBe(409);
  expect(codeOf('TOO_LARGE')).toBe(413);
  expect(refused(reportOf('TOO_MANY_REQUESTS', null, 'SKIPPED'))?.details?.retryAfterSeconds).toBe(7);
});

test('errors of the record are those of the set', () => {
  expect(refused(reportOf(null, null, 'ALREADY_EXISTS'))).toMatchObject({
    reason: 'AlreadyExists',
    message: 'shadowresources.g.io "web" already exists',
  });
  const overtaken = reportOf('SKIPPED', 'SKIPPED', 'STALE_OBJECT');
  expect(refused(overtaken)).toMatchObject({ code: 409, reason: 'Conflict' });
  expect(isOvertaken(overtaken)).toBe(true);
  expect(isOvertaken(reportOf(null, null, null))).toBe(false);
});

test('an invalid record has causes, because kubectl shows these alone', () => {
  const invalid = (causes: readonly object[]) => {
    const status = { code: 422, reason: 'Invalid', message: 'ShadowRecord.portolan.dev "web" is invalid: why', causes };
    const error = { ...writeError('INVALID_FIELD', status.message, 'metadata.labels'), status };
    const record = {
      intent: { target: { resource: { kind: 'ShadowRecord' }, name: 'web' } },
      written: null,
      errors: [error],
    };
    return refused({ items: [record] } as unknown as WriteReport, []);
  };
  const cause = { reason: 'FieldValueInvalid', field: 'metadata.labels', message: 'Invalid value: "a b"' };
  expect(invalid([cause])).toMatchObject({
    message: 'ShadowResource.g.io "web" is invalid: metadata.labels: Invalid value: "a b"',
    details: { name: 'web', kind: 'ShadowResource', causes: [cause] },
  });
  expect(invalid([{ ...cause, field: 'spec.lastApplied', message: 'Too long' }])?.details?.causes).toEqual([
    {
      reason: 'FieldValueInvalid',
      field: 'metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]',
      message: 'Too long: use `kubectl apply --server-side`',
    },
  ]);
  // Without causes, the message is one. Its beginning is not told twice.
  expect(invalid([])).toMatchObject({
    message: 'ShadowResource.g.io "web" is invalid: metadata.labels: why',
    details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.labels', message: 'why' }] },
  });
});

test('a verb or a patch type that the record does not have is no error of a field', () => {
  const error = writeError('UNSUPPORTED', 'the server does not allow this method');
  const record = {
    intent: { target: { resource: { kind: 'ShadowRecord' }, name: 'web' } },
    written: null,
    errors: [error],
  };
  expect(refused({ items: [record] } as unknown as WriteReport, [])).toMatchObject({
    message: 'ShadowResource.g.io "web" is invalid: the server does not allow this method',
    details: { causes: [{ field: '', message: 'the server does not allow this method' }] },
  });
});

test('a document that is no manifest is told with its place in flowList', () => {
  const found = placedError(
    api,
    { name: 'web', places: [4] },
    new PortolanError('BAD_USER_INPUT', 'docs[0]: it has no kind'),
  );
  expect(statusOf(found)).toMatchObject({
    code: 422,
    details: { causes: [{ field: 'spec.flowList[4]', message: 'it has no kind' }] },
  });
  const other = new Error('docs[0]: a defect');
  expect(placedError(api, { name: 'web', places: [4] }, other)).toBe(other);
});

test('warnings are one line, with the count and the first five', () => {
  expect(warningLine([])).toBeNull();
  expect(warningLine(['a "quoted" \\ word'])).toBe('299 - "a \\"quoted\\" \\\\ word"');
  expect(warningLine(['same', 'same'])).toBe('299 - "same"');
  expect(warningLine(['1', '2', '3', '4', '5', '6\n'])).toBe('299 - "6 warnings: 1; 2; 3; 4; 5"');
});
