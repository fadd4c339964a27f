/** The informer of test/clients/go/informer: a Go program with client-go. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';

export interface GoInformerState {
  readonly items: readonly object[];
  readonly version: string;
  readonly synced: boolean;
  readonly lists: number;
  readonly watchLists: number;
  readonly watches: number;
  /** Answers that said 410. */
  readonly expired: number;
}

export class GoInformer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #interface: Interface;

  constructor(
    program: string,
    { kubeconfig, resource, watchList }: { kubeconfig: string; resource: readonly string[]; watchList: boolean },
  ) {
    const gate = { KUBE_FEATURE_WatchListClient: String(watchList) };
    this.#child = spawn(program, resource, {
      env: { ...process.env, KUBECONFIG: kubeconfig, ...gate },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#interface = createInterface({ input: this.#child.stdout as NonNullable<ChildProcess['stdout']> });
    this.#lines = this.#interface[Symbol.asyncIterator]();
  }

  /** One at a time. */
  async state(): Promise<GoInformerState> {
    this.#child.stdin?.write('\n');
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the informer has ended');
    return JSON.parse(value) as GoInformerState;
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }
}
