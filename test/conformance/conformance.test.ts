/** The simulated cluster answers as `conformance-cases.ts` says. */
import { describe } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { conformanceCases } from './conformance-cases.ts';
import type { ConformanceTarget } from './conformance-client.ts';

const nobodyToken = 'the-token-of-nobody';

const simulated = async (): Promise<ConformanceTarget> => {
  const users = [
    { token: 'known', user: 'admin', groups: ['system:masters'] },
    { token: nobodyToken, user: 'nobody', groups: [] },
  ];
  const cluster = await startSimCluster({ controllers: true, features: { users } });
  return {
    url: cluster.url,
    token: 'known',
    nobodyToken,
    compact: async () => cluster.compact(),
    stop: () => cluster.close(),
  };
};

describe('the simulated cluster', { timeout: 60_000 }, () => conformanceCases(simulated));
