/** The rights of one caller, which an API server of the test reviews. */
import type { Rights } from '../../src/access/rights.ts';
import { AccessReviews } from '../../src/auth/rights/access-reviews.ts';
import { ReviewedRights } from '../../src/auth/rights/reviewed-rights.ts';
import { PortolanError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/log.ts';
import { ManualClock } from './manual-clock.ts';
import { callerOf } from './user.ts';

export interface Asked {
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

export const alice = callerOf('alice', ['devs']);

/** An API server that allows what `allows` says. */
export function server(allows: (asked: Asked) => boolean | 'down') {
  const asked: Asked[] = [];
  const client = {
    async post<T>(_path: string, body: unknown): Promise<T> {
      const { resourceAttributes } = (body as { spec: { resourceAttributes: Asked } }).spec;
      asked.push(resourceAttributes);
      const allowed = allows(resourceAttributes);
      if (allowed === 'down') throw new PortolanError('UPSTREAM_UNAVAILABLE', 'down');
      return { status: { allowed } } as T;
    },
  };
  return { asked, clients: new Map([['east', client]]) };
}

/** Rights of alice in the cluster east. Every caller counts as alice. */
export function reviewedAlice(allows: (asked: Asked) => boolean | 'down') {
  const clock = new ManualClock();
  const { asked, clients } = server(allows);
  const reviews = new AccessReviews({ clients, clock, log: silentLogger });
  const reviewed = new ReviewedRights({ granted: null, reviews, clock, check: null, clusters: ['east'], served: 1 });
  const rights: Rights = {
    now: () => reviewed.now(alice),
    at: (lease) => reviewed.at(lease, alice),
    after: (place) => reviewed.after(place, alice),
    statement: null,
    isCurrent: () => true,
    pending: (_caller, scopes) => reviewed.pending(alice, scopes),
    allows: (_caller, cluster, request) => reviewed.allows(alice, cluster, request),
    whoCan: () => null,
  };
  return { clock, asked, reviews, reviewed, rights };
}
