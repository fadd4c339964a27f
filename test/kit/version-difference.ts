/** An answer that depends on the version of a Kubernetes server, with the expectations for both sides. */
import { isSince, type ServerVersion } from './server-version.ts';

export interface VersionDifference<T> {
  /** The first minor version of Kubernetes 1 that is known to give the new answer. */
  readonly since: number;
  /** The cause of the difference, in one sentence. */
  readonly why: string;
  readonly before: T;
  readonly after: T;
}

/** The answer to expect of a server. */
export function expectedOf<T>(version: ServerVersion, { since, before, after }: VersionDifference<T>): T {
  return isSince(version, 1, since) ? after : before;
}
