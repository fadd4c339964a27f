/** An entry of the change log for tests that need no store. */
import type { LoggedChange } from '../../src/store/types/change.ts';

export function loggedChange(given: Partial<LoggedChange>): LoggedChange {
  return {
    seq: 1,
    type: 'MODIFIED',
    kindId: 1,
    cluster: 'east',
    objectId: given.seq ?? 1,
    namespace: null,
    name: 'a',
    uid: 'u',
    resourceVersion: '1',
    at: 0,
    before: null,
    after: null,
    ...given,
  };
}
