import { describe, expect, test } from 'vitest';
import { apiErrorFromAnswer, apiErrorFromNetwork, apiErrorFromStatus, systemCodeOf } from './api-error.ts';

function answer(httpStatus: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return apiErrorFromAnswer({ what: 'GET /api/v1/pods', httpStatus, headers, text });
}

function status(code: number, reason: string, rest: object = {}) {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `it is ${reason}`, ...rest };
}

describe('an answer with a Status', () => {
  test.each([
    [400, 'BadRequest', 'BAD_USER_INPUT'],
    [401, 'Unauthorized', 'UNAUTHENTICATED'],
    [403, 'Forbidden', 'FORBIDDEN'],
    [404, 'NotFound', 'NOT_FOUND'],
    [405, 'MethodNotAllowed', 'BAD_USER_INPUT'],
    [409, 'Conflict', 'CONFLICT'],
    [409, 'AlreadyExists', 'ALREADY_EXISTS'],
    [410, 'Expired', 'GONE'],
    [410, 'Gone', 'GONE'],
    [415, 'UnsupportedMediaType', 'BAD_USER_INPUT'],
    [422, 'Invalid', 'INVALID'],
    [429, 'TooManyRequests', 'TOO_MANY_REQUESTS'],
    [500, 'InternalError', 'UPSTREAM_UNAVAILABLE'],
    [503, 'ServiceUnavailable', 'UPSTREAM_UNAVAILABLE'],
    [504, 'Timeout', 'UPSTREAM_UNAVAILABLE'],
  ])('%d %s is %s', (code, reason, expected) => {
    const error = answer(code, status(code, reason));
    expect(error).toMatchObject({ code: expected, httpStatus: code, reason });
    expect(error.message).toBe(`GET /api/v1/pods was refused by the API server (${code} ${reason}): it is ${reason}.`);
  });

  test('carries causes, the wait and a reduced Status', () => {
    const error = answer(
      504,
      status(504, 'Timeout', {
        details: {
          name: 'secret-name',
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
          retryAfterSeconds: 1,
        },
      }),
    );
    expect(error.causes).toEqual([
      { reason: 'ResourceVersionTooLarge', message: 'Too large resource version', field: '' },
    ]);
    expect(error.retryAfterSeconds).toBe(1);
    expect(error.details['status']).toEqual({
      code: 504,
      reason: 'Timeout',
      message: 'it is Timeout',
      causes: error.causes,
      retryAfterSeconds: 1,
    });
  });

  test('takes the longer wait of header and Status', () => {
    const body = status(429, 'TooManyRequests', { details: { retryAfterSeconds: 2 } });
    expect(answer(429, body, { 'retry-after': '7' }).retryAfterSeconds).toBe(7);
    expect(answer(429, body, { 'retry-after': '1' }).retryAfterSeconds).toBe(2);
    expect(answer(429, body).retryAfterSeconds).toBe(2);
  });

  test('believes the HTTP status where the two disagree', () => {
    expect(answer(403, status(200, 'Forbidden'))).toMatchObject({ code: 'FORBIDDEN', httpStatus: 403 });
  });
});

describe('an answer of something else than the API', () => {
  test('keeps the words of an HTML page, in one line', () => {
    const error = answer(502, '<html>\n<head><title>502 Bad\nGateway</title></head><body><h1>x</h1></body></html>');
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', httpStatus: 502, reason: '' });
    expect(error.message).toContain('not by the Kubernetes API (502 Bad Gateway)');
  });

  test.each([
    ['an empty body', ''],
    ['text', '404 page not found\n'],
    ['broken JSON', '{"kind":"Status"'],
    ['other JSON', '{"error":"x"}'],
    ['null', 'null'],
  ])('maps the status with %s', (_, body) => {
    expect(answer(404, body)).toMatchObject({ code: 'NOT_FOUND', httpStatus: 404, reason: '' });
    expect(answer(429, body, { 'retry-after': '3' })).toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      retryAfterSeconds: 3,
    });
  });

  test('reads a Retry-After date against the Date of the answer', () => {
    const date = 'Wed, 01 Jul 2026 10:00:00 GMT';
    const headers = { 'retry-after': 'Wed, 01 Jul 2026 10:00:30 GMT' };
    expect(answer(503, '', { ...headers, date }).retryAfterSeconds).toBe(30);
    expect(answer(503, '', headers).retryAfterSeconds).toBeUndefined();
    expect(answer(503, '', { 'retry-after': 'soon' }).retryAfterSeconds).toBeUndefined();
  });

  test.each([301, 302, 307, 308])('refuses a redirect %d and says what to do', (code) => {
    const error = answer(code, '', { location: 'https://login.example/' });
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', httpStatus: code });
    expect(error.message).toContain('set the server in the kubeconfig');
  });
});

describe('a group with a server of its own', () => {
  const what = 'GET /apis/metrics.k8s.io/v1beta1/pods';
  const failing = (httpStatus: number, text: string, of = what): string =>
    apiErrorFromAnswer({ what: of, httpStatus, headers: {}, text }).message;

  test('is named when it is away, whoever says so', () => {
    for (const text of ['service unavailable\n', 'error trying to reach service: dial tcp 10.0.0.1:443', ''])
      expect(failing(503, text)).toContain('the server of the APIService v1beta1.metrics.k8s.io is not available');
    expect(failing(503, JSON.stringify(status(503, 'ServiceUnavailable')))).toContain(
      'kubectl get apiservice v1beta1.metrics.k8s.io',
    );
    expect(apiErrorFromNetwork(new Error('reset'), what).message).toContain('apiservice v1beta1.metrics.k8s.io');
  });

  test('is not named where a proxy answers, for a group of the API server itself, or for a refusal', () => {
    expect(failing(502, '<html><title>502 Bad Gateway</title>')).toContain('not by the Kubernetes API');
    expect(failing(503, 'away', 'GET /apis/apps/v1/deployments')).toContain('not by the Kubernetes API');
    expect(failing(404, '404 page not found')).not.toContain('apiservice');
    expect(failing(403, JSON.stringify(status(403, 'Forbidden')))).not.toContain('apiservice');
  });
});

describe('an ERROR event', () => {
  test('is classified by its Status', () => {
    expect(apiErrorFromStatus(status(410, 'Expired'), 'The watch of pods')).toMatchObject({
      code: 'GONE',
      httpStatus: 410,
      reason: 'Expired',
    });
  });
  test.each([null, 'x', {}, { kind: 'Pod' }])('is UPSTREAM_UNAVAILABLE when it is %j', (object) => {
    expect(apiErrorFromStatus(object, 'The watch of pods')).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      httpStatus: 0,
    });
  });
});

describe('a failure without an answer', () => {
  test('finds the system code through causes and aggregates', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' });
    const both = new AggregateError([refused, new Error('other')], '');
    const error = apiErrorFromNetwork(new TypeError('fetch failed', { cause: both }), 'GET /api');
    expect(error).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', httpStatus: 0, reason: 'ECONNREFUSED' });
    expect(systemCodeOf(error)).toBe('ECONNREFUSED');
  });
  test('survives causes that go in circles, and things that are no errors', () => {
    const circle = new Error('round');
    circle.cause = circle;
    expect(apiErrorFromNetwork(circle, 'GET /api').message).toContain('round');
    expect(apiErrorFromNetwork('just text', 'GET /api').message).toContain('just text');
  });
});
