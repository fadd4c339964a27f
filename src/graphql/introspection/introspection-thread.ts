/**
 * Controls the introspection thread from the serve thread.
 *
 *   none -> (first question) started -> kinds sent, in slices -> questions … -> (idle) ended -> none
 *                                       `- again for a later generation: only kinds that it lacks -´
 *
 * Invariant: each question is settled once, by the thread's answer or by the error that ended the thread. A question starts the
 * thread. It ends after a while without questions, because it holds a second copy of the schema.
 */
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { PortolanError } from '../../base/errors.ts';
import { runSliced, type Steps } from '../../base/steps.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Generation } from '../generation/generation.ts';
import type { IntrospectionReply, IntrospectionRequest, Made, Question } from './introspection-messages.ts';

interface Pending {
  resolve(answer: Made | null): void;
  reject(error: unknown): void;
}

export interface ThreadOptions {
  /** Milliseconds without a question after which the thread ends; default 30,000. */
  readonly idleMs?: number;
  /** Megabytes of JavaScript heap that the thread may use; default 2,048. A thousand kinds need about half of that. */
  readonly heapMb?: number;
}

/** Approximate size of a message with kinds, in characters. */
const messageLength = 256 * 1024;

export class IntrospectionThread {
  readonly #idleMs: number;
  readonly #heapMb: number;
  #running: RunningThread | null = null;
  #idle: NodeJS.Timeout | null = null;
  /** Settles when all earlier questions and their generations have been sent. Keeps the messages in order. */
  #sending: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor({ idleMs = 30_000, heapMb = 2048 }: ThreadOptions = {}) {
    this.#idleMs = idleMs;
    this.#heapMb = heapMb;
  }

  /** Is there a thread now? */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /**
   * The answer; null for a whole one whose execution has errors.
   * @throws PortolanError QUERY_TOO_COSTLY if the thread ran out of memory, INTERNAL_SERVER_ERROR if it ended otherwise.
   */
  async ask(generation: Generation, question: Question): Promise<Made | null> {
    this.#waiting += 1;
    if (this.#idle !== null) clearTimeout(this.#idle);
    try {
      const sent = this.#sending.then(() => this.#send(generation, question));
      this.#sending = sent.catch(() => {});
      return await (await sent).answer;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#idle = setTimeout(() => void this.#end(), this.#idleMs).unref();
    }
  }

  /** Ends the thread. Pending questions are rejected. */
  async close(): Promise<void> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    await this.#end();
  }

  /** The promise is wrapped in an object, so that the next question is sent before this one is answered. */
  async #send(generation: Generation, question: Question): Promise<{ readonly answer: Promise<Made | null> }> {
    const thread = this.#running ?? this.#start();
    await thread.load(generation);
    return { answer: thread.ask(question) };
  }

  #start(): RunningThread {
    const thread = new RunningThread(this.#heapMb);
    this.#running = thread;
    void thread.ended.then(() => {
      if (this.#running === thread) this.#running = null;
    });
    return thread;
  }

  async #end(): Promise<void> {
    const thread = this.#running;
    this.#running = null;
    await thread?.end();
  }
}

/** One thread from its start to its end. */
class RunningThread {
  readonly ended: Promise<void>;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  /** The kinds that the thread has. */
  #kinds: ReadonlyMap<string, CatalogKind> = new Map();
  /** Id of the generation that the thread has. */
  #generation = '';
  #calls = 0;
  #error: PortolanError | null = null;

  constructor(heapMb: number) {
    this.#worker = new Worker(new URL('./introspection.worker.ts', import.meta.url), {
      name: 'introspection',
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    this.#worker.unref();
    this.#worker.on('message', (reply: IntrospectionReply) => this.#settle(reply));
    this.ended = new Promise((resolve) => {
      let cause: unknown = null;
      this.#worker.on('error', (error) => {
        cause = error;
      });
      this.#worker.on('exit', () => {
        this.#error = errorOf(cause);
        for (const call of this.#pending.values()) call.reject(this.#error);
        this.#pending.clear();
        resolve();
      });
    });
  }

  /** Sends a generation, unless the thread has it. */
  async load(generation: Generation): Promise<void> {
    if (generation.id === this.#generation) return;
    const { kinds, typePrefix } = generation.catalog;
    const lacking = kinds.filter((kind) => this.#kinds.get(kind.key) !== kind);
    // Starts in a new turn of the event loop, because the request's turn may already have started the thread.
    await setImmediate();
    await runSliced(this.#sendKinds(lacking));
    this.#post({ op: 'generation', keys: kinds.map(({ key }) => key), typePrefix });
    this.#kinds = new Map(kinds.map((kind) => [kind.key, kind]));
    this.#generation = generation.id;
  }

  ask(question: Question): Promise<Made | null> {
    this.#calls += 1;
    const call = this.#calls;
    return new Promise((resolve, reject) => {
      if (this.#error !== null) return reject(this.#error);
      this.#pending.set(call, { resolve, reject });
      this.#post({ op: 'question', call, question });
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  *#sendKinds(kinds: readonly CatalogKind[]): Steps<void> {
    let texts: string[] = [];
    let length = 0;
    for (const kind of kinds) {
      const text = JSON.stringify(kind);
      texts.push(text);
      length += text.length;
      if (length < messageLength && kind !== kinds.at(-1)) continue;
      this.#post({ op: 'kinds', texts });
      texts = [];
      length = 0;
      yield;
    }
  }

  #post(request: IntrospectionRequest): void {
    this.#worker.postMessage(request);
  }

  #settle(reply: IntrospectionReply): void {
    const call = this.#pending.get(reply.call);
    this.#pending.delete(reply.call);
    if ('answer' in reply) call?.resolve(reply.answer);
    else call?.reject(new Error(`introspection failed in its thread: ${reply.failed}`));
  }
}

function errorOf(cause: unknown): PortolanError {
  if ((cause as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    const message = 'The answer needs more memory than introspection may use; ask for fewer fields.';
    return new PortolanError('QUERY_TOO_COSTLY', message, { cause });
  }
  return new PortolanError('INTERNAL_SERVER_ERROR', 'The introspection thread ended; send the request again.', {
    cause,
  });
}
