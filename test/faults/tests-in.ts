/** Names the tests of one file, for the fault catalogue. */
import type { TestedBy } from './fault.ts';

export const testsIn =
  (file: string) =>
  (name: string): TestedBy => ({ file, name });
