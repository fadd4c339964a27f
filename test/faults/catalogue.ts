/**
 * The fault catalogue: each fault between an API server and the store, what Portolan guarantees, and the tests of that.
 * docs/faults.md is printed from it. A test compares the two and finds every named test in its file.
 */
import type { Fault } from './fault.ts';
import { faultsOfRequests } from './faults-1-to-31.ts';
import { faultsOfContents } from './faults-32-to-55.ts';

/** In the order of their numbers. */
export const catalogue: readonly Fault[] = [...faultsOfRequests, ...faultsOfContents];
