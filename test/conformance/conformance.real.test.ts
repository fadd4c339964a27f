/** Real API servers answer as `conformance-cases.ts` says. */
import { startControlPlane } from '../kit/control-plane.ts';
import { describeOn, mainServer, oldServer, type RealServer } from '../kit/real-servers.ts';
import { conformanceCases } from './conformance-cases.ts';
import type { ConformanceTarget } from './conformance-client.ts';

const real = async (server: RealServer): Promise<ConformanceTarget> => {
  const plane = await startControlPlane({ server, controllerManager: true });
  return {
    url: plane.server,
    token: plane.token,
    nobodyToken: plane.nobodyToken,
    compact: async () => {
      await plane.compactEtcd();
      // Its watch cache remembers too.
      await plane.killApiServer('SIGKILL');
      await plane.startApiServer();
    },
    stop: () => plane.stop(),
  };
};

describeOn([mainServer, oldServer], 'a real API server', { timeout: 60_000 }, (server) =>
  conformanceCases(() => real(server)),
);
