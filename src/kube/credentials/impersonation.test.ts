import { expect, test } from 'vitest';
import { impersonationHeaders } from './impersonation.ts';

const jane = { name: 'jane', groups: [] };

test('extra is sent whole, also an empty value', () => {
  expect(impersonationHeaders({ ...jane, uid: 'u1', extra: { 'example.com/Scopes': ['', 'read'] } })).toEqual({
    'impersonate-user': 'jane',
    'impersonate-uid': 'u1',
    'impersonate-extra-example.com%2F%53copes': ['', 'read'],
  });
});

test.each([
  ['a key without values', { scopes: [] }],
  ['a value with a line break', { scopes: ['a\nb'] }],
])('%s is refused: the request would have other rights', (_what, extra) => {
  expect(() => impersonationHeaders({ ...jane, extra })).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
});
