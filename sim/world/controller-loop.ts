/**
 * Runs the controllers: queues of object keys, processed in short turns of the injected clock.
 *
 * Life of a key: a store event -> the queue of its controller, once for any number of events -> `reconcile` with the current
 * object, or `removed` when there is none any more. When a controller throws, the error is logged; the key waits for the next event.
 * Never: runs two reconciles at once, or more than 400 keys of a controller in one turn.
 */
import { messageOf } from '../../src/base/errors.ts';
import type { Logger } from '../../src/base/log.ts';
import type { Stored, StoreEvent } from '../objects/object-store.ts';
import type { World } from './world.ts';

export interface Controller {
  readonly name: string;
  /** The storage whose objects it reconciles. */
  readonly storage: string;
  /** Other storages. Each function maps an event there to the `namespace/name` of own objects. */
  readonly watches?: Readonly<Record<string, (event: StoreEvent) => string | readonly string[] | undefined>>;
  /** Moves the cluster one step towards the spec of the object. */
  reconcile(stored: Stored): void;
  /** Cleans up after an object that no longer exists. */
  removed?(namespace: string, name: string): void;
}

/** Work that depends on time, such as a pod that has been starting for long enough. */
export interface Step {
  /** Called in every turn. */
  step(): void;
}

const turnMs = 100;
const keysPerTurn = 400;

export class ControllerLoop {
  readonly #world: World;
  readonly #log: Logger;
  readonly #queues: { controller: Controller; keys: Set<string> }[] = [];
  readonly #steps: Step[] = [];
  readonly #unsubscribe: (() => void)[] = [];
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(world: World, log: Logger) {
    this.#world = world;
    this.#log = log;
  }

  /** Adds a controller and subscribes it to events. With `existing`, it also reconciles the objects that exist already. */
  add(controller: Controller, existing?: 'existing'): void {
    const keys = new Set<string>();
    if (existing) for (const { key } of this.#world.list(controller.storage)) keys.add(key);
    this.#queues.push({ controller, keys });
    const { store } = this.#world.api;
    this.#unsubscribe.push(store.subscribe(controller.storage, (event) => void keys.add(event.stored.key)));
    for (const [storage, keyOf] of Object.entries(controller.watches ?? {})) {
      this.#unsubscribe.push(
        store.subscribe(storage, (event) => {
          const found = keyOf(event) ?? [];
          for (const key of typeof found === 'string' ? [found] : found) keys.add(key);
        }),
      );
    }
  }

  addStep(step: Step): void {
    this.#steps.push(step);
  }

  /** Starts the turns. */
  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const stop of this.#unsubscribe) stop();
    await this.#running;
  }

  /** Processes queued keys until none is left, without the steps: the controllers come to rest. */
  settle(): void {
    while (this.#process() > 0);
  }

  /** One turn: all steps, then the queued keys. Returns the number of processed keys. */
  turn(): number {
    for (const step of this.#steps) this.#guard('step', () => step.step());
    return this.#process();
  }

  #process(): number {
    let done = 0;
    for (const { controller, keys } of this.#queues) {
      for (const key of [...keys].slice(0, keysPerTurn)) {
        keys.delete(key);
        const slash = key.indexOf('/');
        const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)];
        const stored = this.#world.get(controller.storage, namespace, name);
        this.#guard(controller.name, () =>
          stored ? controller.reconcile(stored) : controller.removed?.(namespace, name),
        );
        done++;
      }
    }
    return done;
  }

  #guard(name: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.warn({ controller: name, error: messageOf(error) }, 'a controller failed');
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#world.clock.sleep(turnMs, signal);
      } catch {
        return;
      }
      this.turn();
    }
  }
}
