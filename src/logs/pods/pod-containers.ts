/**
 * The containers of a Pod and which of their logs there are, from the Pod's body.
 *
 * A container starts again and again in its Pod. Each start is an instance, and its number is the `restartCount` of the status. The API server
 * has the logs of the newest instance and of the one before.
 */
import { recordOf } from '../../catalog/values/displayed-value.ts';

export interface ContainerState {
  readonly name: string;
  /** The number of the newest instance that has a log; null before the first one. */
  readonly instance: number | null;
  readonly isRunning: boolean;
  /** Why the newest instance has ended; null while it runs. */
  readonly end: { readonly exitCode: number; readonly reason: string } | null;
}

/** The parts of a Pod that are read. */
export const podProjection = {
  metadata: { creationTimestamp: true },
  spec: { containers: true, initContainers: true, ephemeralContainers: true, nodeName: true },
  status: { phase: true, containerStatuses: true, initContainerStatuses: true, ephemeralContainerStatuses: true },
} as const;

/** Those of init containers first, then the others, then ephemeral ones. */
const groups = [
  ['initContainers', 'initContainerStatuses'],
  ['containers', 'containerStatuses'],
  ['ephemeralContainers', 'ephemeralContainerStatuses'],
] as const;

/** @param wanted names; null for all */
export function containersOf(body: unknown, wanted: readonly string[] | null): readonly ContainerState[] {
  const { spec, status } = recordOf(body) ?? {};
  return groups.flatMap(([list, statuses]) => {
    const states = new Map(recordsIn(status, statuses).map((each) => [each['name'], each]));
    return recordsIn(spec, list).flatMap(({ name }) =>
      typeof name === 'string' && wanted?.includes(name) !== false ? stateOf(name, states.get(name)) : [],
    );
  });
}

/** Has the Pod ended, so that no container starts again? */
export function isOver(body: unknown): boolean {
  const phase = recordOf(recordOf(body)?.['status'])?.['phase'];
  return phase === 'Succeeded' || phase === 'Failed';
}

function stateOf(name: string, status: Readonly<Record<string, unknown>> | undefined): ContainerState {
  const state = recordOf(status?.['state']);
  const ended = recordOf(state?.['terminated']) ?? recordOf(recordOf(status?.['lastState'])?.['terminated']);
  const isRunning = recordOf(state?.['running']) !== null && recordOf(state?.['running']) !== undefined;
  const hasLog = isRunning || (ended !== null && ended !== undefined);
  const { exitCode, reason } = ended ?? {};
  return {
    name,
    instance: hasLog ? Number(status?.['restartCount'] ?? 0) : null,
    isRunning,
    end: isRunning || !hasLog ? null : { exitCode: Number(exitCode ?? 0), reason: String(reason ?? '') },
  };
}

function recordsIn(of: unknown, list: string): readonly Readonly<Record<string, unknown>>[] {
  const found: unknown = recordOf(of)?.[list];
  const all: readonly unknown[] = Array.isArray(found) ? found : [];
  return all.map(recordOf).filter((each) => each !== null);
}
