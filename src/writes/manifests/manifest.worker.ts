/**
 * Reads the texts that it is started with, answers once, and ends. manifest-threads.ts starts it and bounds it.
 * Never: loads a native module. A thread that is terminated while it loads one aborts the process.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../../base/concurrency/lower-priority.ts';
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { ManifestBudget, manifestBounds } from './manifest-bounds.ts';
import type { ManifestReply, ManifestTask } from './manifest-messages.ts';
import { manifestsOfYaml, readAt } from './read-manifests.ts';

const port = must(parentPort, 'a parent thread');
lowerPriority();
port.postMessage(read(workerData as ManifestTask));

function read(task: ManifestTask): ManifestReply {
  const budget = new ManifestBudget(manifestBounds);
  try {
    return {
      manifests: task.map(({ place, text }) =>
        readAt(place, () => manifestsOfYaml(text, budget)).map((manifest) => JSON.stringify(manifest)),
      ),
    };
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    const { code, message, details } = error;
    return { refused: { code, message, details } };
  }
}
