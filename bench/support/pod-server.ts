/** Starts the API server of pod-server.child.ts in a process of its own, and talks to it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** How much the resourceVersions of a churn grow in a millisecond: they are times, short enough to be exact and unremarkable. */
export const versionsPerMs = 100;

export interface PodServerState {
  /** Collection LISTs of Pods that were begun; a page of one item is a probe and counts apart. */
  readonly lists: number;
  readonly probes: number;
  readonly watches: number;
  /** Milliseconds since 1970, with fractions: the first LIST, and the first watch, which follows the last page's commit. */
  readonly firstListAt: number | null;
  readonly watchAt: number | null;
  /** `namespace/name` and resourceVersion of every Pod, in order. */
  readonly versions: readonly (readonly [string, string])[];
}

export interface ChurnOrder {
  readonly perSecond: number;
  readonly seconds: number;
}

export type PodServerMessage =
  | { readonly type: 'listening'; readonly url: string; readonly bytes: number }
  | { readonly type: 'churned'; readonly sent: number }
  | { readonly type: 'state'; readonly state: PodServerState };

export interface PodServer {
  readonly url: string;
  /** Of the whole list. */
  readonly bytes: number;
  state(): Promise<PodServerState>;
  /** Resolves when the last event was sent, with how many there were. */
  churn(order: ChurnOrder): Promise<number>;
  close(): Promise<void>;
}

/** Resolves when it listens and the kubeconfig that leads to it is written. */
export async function startPodServer(objects: number, kubeconfig: string): Promise<PodServer> {
  const child = fork(fileURLToPath(new URL('./pod-server.child.ts', import.meta.url)), [String(objects), kubeconfig]);
  const { url, bytes } = await next(child, 'listening');
  return {
    url,
    bytes,
    state: async () => {
      const answer = next(child, 'state');
      child.send('state');
      return (await answer).state;
    },
    churn: async (order) => {
      const answer = next(child, 'churned');
      child.send(order);
      return (await answer).sent;
    },
    close: async () => {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function next<T extends PodServerMessage['type']>(
  child: ChildProcess,
  type: T,
): Promise<Extract<PodServerMessage, { type: T }>> {
  const ended = new AbortController();
  const lost = once(child, 'exit', { signal: ended.signal }).then(() => {
    throw new Error('the bench server ended before its time');
  });
  lost.catch(() => {});
  try {
    for (;;) {
      const [message] = (await Promise.race([once(child, 'message'), lost])) as [PodServerMessage];
      if (message.type === type) return message as Extract<PodServerMessage, { type: T }>;
    }
  } finally {
    ended.abort();
  }
}
