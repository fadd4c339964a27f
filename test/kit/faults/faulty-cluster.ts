/** A simulated cluster with a switch for each fault of a server. */
import type { AnswerHooks } from '../../../sim/http/answer-hooks.ts';
import { type SimCluster, type SimOptions, startSimCluster } from '../../../sim/sim-cluster.ts';
import { FaultAnswers } from './fault-answers.ts';
import { Faults } from './faults.ts';
import { faultyList } from './faulty-list.ts';
import { FaultyWire } from './faulty-wire.ts';

export interface FaultyCluster extends SimCluster {
  readonly faults: Faults;
}

/** Starts a cluster whose faults are all off; resolves when it listens. */
export async function startFaultyCluster(options: SimOptions = {}): Promise<FaultyCluster> {
  const faults = new Faults();
  return Object.assign(await startSimCluster({ ...options, hooks: hooksOf(faults) }), { faults });
}

function hooksOf(faults: Faults): AnswerHooks {
  const answers = new FaultAnswers(faults);
  return {
    request: (request, response, about, params) => {
      if (answers.answer(request, response, about, params)) return true;
      answers.reveal(about, params);
      return false;
    },
    discovery: (path, body) => answers.staleDiscovery(path, body),
    list: (resource, response, body) => faultyList(faults, resource, response, body),
    watch: (resource, response) => new FaultyWire(faults, resource, response),
  };
}
