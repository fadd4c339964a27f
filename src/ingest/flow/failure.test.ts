import { expect, test } from 'vitest';
import { PortolanError } from '../../base/errors.ts';
import { apiErrorFromAnswer, apiErrorFromNetwork, apiErrorFromStatus } from '../../kube/http/api-error.ts';
import { diskIsFull } from '../../store/file/folder-fault.ts';
import { StoreFault } from '../../store/types/store-fault.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import { failureOf, inStore, StoreFailure } from './failure.ts';

const answer = (httpStatus: number, text: string, headers: Record<string, string> = {}) =>
  apiErrorFromAnswer({ what: 'GET /x', httpStatus, headers, text });
const status = (code: number, more: object = {}) => answer(code, JSON.stringify({ kind: 'Status', code, ...more }));

test.each([
  ['expired', 'expired', status(410, { reason: 'Expired' })],
  ['expired', 'expired', apiErrorFromStatus({ kind: 'Status', reason: 'Gone' }, 'x')],
  ['too new', 'too new', status(504, { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } })],
  ['too new', 'too new', status(504, { message: 'Timeout: Too large resource version: 9, current: 3' })],
  ['server', 'status 504', status(504, { message: 'etcd is slow' })],
  ['throttled', 'status 429', status(429)],
  ['unauthorized', 'status 401', status(401)],
  ['unauthorized', 'credentials', new PortolanError('UNAUTHENTICATED', 'The plugin failed.')],
  ['refused', 'status 403', status(403)],
  ['refused', 'status 404', status(404)],
  ['refused', 'status 405', status(405)],
  ['server', 'status 500', status(500)],
  ['server', 'status 502', answer(502, '<html><title>Bad Gateway</title></html>')],
  ['network', 'network', apiErrorFromNetwork(new Error('socket hang up'), 'x')],
  ['network', 'network', new Error('anything else')],
  ['network', 'truncated', new ProtocolError('truncated', 'It broke off.')],
  ['protocol', 'bad json', new ProtocolError('bad json', 'It is none.')],
  ['store', 'store', new StoreFailure(new Error('SQLITE_FULL'))],
])('%s (%s)', (kind, reason, error) => {
  expect(failureOf(error)).toMatchObject({ kind, reason, message: expect.any(String) });
});

test.each([
  new StoreFault('full', diskIsFull, { file: '/data/store.db', cause: null }),
  Object.assign(new Error("ENOENT: no such file or directory, open '/data/store.db'"), {
    code: 'ENOENT',
    path: '/data/store.db',
  }),
])('a failure of the store names no file: %s', (error) => {
  const { message } = failureOf(new StoreFailure(error));
  expect(message).toMatch(
    /^The (?:disk that holds the store is full; free|store cannot be read or written \(ENOENT\))/,
  );
  expect(message).not.toContain('/data');
});

test('Retry-After is handed on', () => {
  expect(failureOf(answer(429, '', { 'retry-after': '9' })).retryAfterSeconds).toBe(9);
});

test('what the store finds wrong with an object is the server’s fault, all else is the store’s', () => {
  const thrown = (error: unknown): unknown => {
    try {
      return inStore(() => {
        throw error;
      });
    } catch (found) {
      return failureOf(found).kind;
    }
  };
  expect(thrown(new PortolanError('INVALID', 'It has no name.'))).toBe('protocol');
  expect(thrown(new PortolanError('NOT_FOUND', 'It was dropped.'))).toBe('store');
  expect(thrown(new Error('SQLITE_IOERR'))).toBe('store');
});
