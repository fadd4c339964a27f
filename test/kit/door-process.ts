/** A gateway with `--aggregate` in a process of its own, which can be made ill, killed, and started again on the same port. */
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { must } from '../../src/base/must.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { flagArguments, startDoor } from './start-door.ts';

const hungReaders = fileURLToPath(new URL('./faults/hung-readers.ts', import.meta.url));

export class DoorProcess {
  readonly #args: readonly string[];
  /** Lists hang while this file is there. */
  readonly #hang: string;
  #gateway: GatewayProcess | null = null;
  #port: number | null = null;

  private constructor(args: readonly string[], hang: string) {
    this.#args = args;
    this.#hang = hang;
  }

  /** Resolves when it listens.
   * @param kubeconfig in a folder of the test
   * @param flags as `runGateway` takes them; `'true'` for a flag without a value */
  static async start(kubeconfig: string, flags: Readonly<Record<string, unknown>>): Promise<DoorProcess> {
    const { aggregatePort: _aggregatePort, ...given } = flags;
    const hang = join(dirname(kubeconfig), 'hang-lists');
    const door = new DoorProcess(['--kubeconfig', kubeconfig, ...flagArguments(given)], hang);
    await door.restart();
    return door;
  }

  get aggregatePort(): number {
    return must(this.#port, 'the door has started');
  }

  /** Starts a new process on the same port. */
  async restart(): Promise<void> {
    const { process, port } = await startDoor([...this.#args, '--aggregate-port', String(this.#port ?? 0)], {
      NODE_OPTIONS: `--import=${hungReaders}`,
      PORTOLAN_HUNG_READERS: this.#hang,
    });
    this.#gateway = process;
    this.#port = port;
  }

  /** Lets no list be answered, until `answerLists`. The process answers everything else. */
  hangLists(): void {
    writeFileSync(this.#hang, '');
  }

  answerLists(): void {
    rmSync(this.#hang, { force: true });
  }

  /** Stops the whole process, until `thaw`: it accepts connections and answers nothing. */
  freeze(): void {
    this.#gateway?.signal('SIGSTOP');
  }

  thaw(): void {
    this.#gateway?.signal('SIGCONT');
  }

  async kill(): Promise<void> {
    await this.#gateway?.kill();
    this.#gateway = null;
  }

  async close(): Promise<void> {
    this.answerLists();
    await this.kill();
  }
}
