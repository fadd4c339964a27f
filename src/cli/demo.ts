/** `portolan demo`: a simulated cluster in its own thread, and a gateway over it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { spawnSimCluster } from '../../sim/spawn-sim.ts';
import { refuseUnlessLoopback } from '../access/loopback.ts';
import { createLogger } from '../base/create-logger.ts';
import { temporaryFolder } from '../base/temporary-folder.ts';
import type { Config } from '../config/options.ts';
import { refuseTakenPort } from '../server/listen.ts';
import { demoConfig } from './declaration-files.ts';
import { checkPathOptions, startGateway } from './gateway.ts';
import { demoWorld } from './options/demo-cluster.ts';
import { runUntilSignal } from './run-until-signal.ts';
import type { StoreSizes } from './serving/store-readers.ts';

/**
 * Flags of V8 for the threads that start after they are set. The flags keep young generations small. Without them, the young generation
 * of each of the eight threads grows to 48 MB and does not shrink. The flags also let V8 collect old generations as soon as they grow,
 * so `--heap-growing-percent` of src/portolan.js is unset.
 * This costs little, because the demo world is small. The main thread has the same flags from package.json.
 */
export const smallHeaps = '--max-semi-space-size=4 --memory-saver-mode --heap-growing-percent=0';

const mebibyte = 2 ** 20;

/** The demo world is small, and its machine is often a laptop with other work. */
export const demoSizes: StoreSizes = {
  changeLogBytes: 24 * mebibyte,
  walGateBytes: 8 * mebibyte,
  writerCacheKib: 4096,
  readerCacheKib: 2048,
  readers: 2,
};

/** Runs until a signal and returns the exit code. */
export async function demo(config: Config): Promise<number> {
  refuseUnlessLoopback(config.host);
  setFlagsFromString(smallHeaps);
  const log = createLogger(config.logLevel);
  checkPathOptions(config);
  let release = async (): Promise<void> => {};
  return runUntilSignal(
    async (signal) => {
      await refuseTakenPort(config);
      log.info({ pods: config.pods }, 'the simulated cluster is being built');
      // Made after the signals are caught: a signal would leave the folder behind.
      const folder = temporaryFolder('portolan-demo-');
      release = async () => folder.remove();
      const cluster = await spawnSimCluster({ ...demoWorld(), pods: config.pods, churn: !config.still }, signal);
      release = async () => {
        await cluster.close();
        folder.remove();
      };
      const kubeconfig = join(folder.path, 'kubeconfig.yaml');
      writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
      return startGateway(demoConfig(config), [{ name: 'demo', kubeconfig }], log, {
        signal,
        sizes: demoSizes,
        isDemo: true,
      });
    },
    log,
    { release: () => release() },
  );
}
