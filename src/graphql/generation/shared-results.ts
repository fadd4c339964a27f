/**
 * Results of events that several subscribers have in common. An event is executed once for all subscribers with the same document,
 * variables and generation, and its result is written as JSON once.
 *
 *   event of a subscriber -> Delivery.resultOf -> known for this event: the same result
 *                                              -> else executed; kept if the execution used nothing of the caller's own
 *
 * Live lists of one cohort have the same messages (src/live/cohort/cohort-batch.ts), so these are the events in common. Invariant: a result that
 * depends on the rights or the credentials of a caller is never given to another subscriber.
 */
import type { DocumentNode, ExecutionResult } from 'graphql';
import type { Caller } from '../../access/caller.ts';
import { parseExact } from '../../catalog/values/values.ts';
import { dataBegin, extensionsAfter } from '../../operation/answers/answer-text.ts';

/** An event that several subscribers may have in common. Other events are executed for each subscriber. */
export abstract class LiveEvent {
  /** The same object for all subscribers that have the event in common. */
  abstract readonly shared: object;
  /** Did the execution use the rights or the credentials of the subscriber's caller? */
  abstract readonly isPersonal: boolean;
}

/** An event whose fields read by an operation of its own. */
export class DetachedEvent<O> {
  readonly operation: O;
  readonly value: unknown;

  constructor(operation: O, value: unknown) {
    this.operation = operation;
    this.value = value;
  }
}

/** Sends a result without a turn of the subscription's event stream. */
export interface PushOutlet {
  /** False if it cannot be sent now. Nothing is sent then. */
  push(result: unknown): boolean;
}

/** The results that the subscribers of one delivery and caller have in common. @typeParam O the type of operations */
export interface CommonResults<O> {
  readonly outlet: PushOutlet;
  /**
   * The group of these subscribers; made by the first of them, and kept until the last of the delivery has left.
   * @param make gets an operation without the parts of a request
   */
  groupOf<T extends object>(make: (operation: O, resultOf: CommonResult) => T): T;
}

/** The result of an event of the group's operation. Null if it is not in common, or not ready at once. */
export type CommonResult = (event: LiveEvent) => ExecutionResult | null;

type Execute = () => ExecutionResult | Promise<ExecutionResult>;

/** The subscribers with the same document, variables and generation. */
export class Delivery {
  /** The subscribers. The last one that leaves takes the delivery with it. */
  members = 0;
  /** False after an execution that used what is a caller's own. */
  #isCommon = true;
  readonly #results = new WeakMap<object, ExecutionResult>();
  readonly #groups = new WeakMap<Caller, object>();

  /** May results be in common? */
  get isCommon(): boolean {
    return this.#isCommon;
  }

  groupOf<T extends object>(caller: Caller, make: () => T): T {
    const group = this.#groups.get(caller) ?? make();
    this.#groups.set(caller, group);
    return group as T;
  }

  resultOf(event: LiveEvent, execute: Execute): ExecutionResult | Promise<ExecutionResult> {
    const known = this.#isCommon ? this.#results.get(event.shared) : undefined;
    if (known !== undefined) return known;
    const result = execute();
    if (result instanceof Promise || event.isPersonal) this.#isCommon = false;
    else if (result.errors === undefined) {
      this.#results.set(event.shared, result);
      common.add(result);
    }
    return result;
  }
}

/** Results that have several receivers. */
const common = new WeakSet<ExecutionResult>();
const texts = new WeakMap<ExecutionResult, Buffer>();

/** Notes that a result has several receivers. */
export function sharedByReceivers<R extends object>(result: R): R {
  common.add(result);
  return result;
}

/**
 * A whole answer whose text is known: `{"data":…,"extensions":{"portolan":…}}`. A part is parsed each time it is read.
 * @param dataEnd where the bytes of the data end
 */
export function resultOfText(text: Buffer, dataEnd: number): ExecutionResult {
  const result = {
    get data() {
      return parseExact(text.toString('utf8', dataBegin, dataEnd));
    },
    get extensions() {
      return JSON.parse(text.toString('utf8', dataEnd + extensionsAfter, text.length - 1)) as Record<string, unknown>;
    },
  };
  // Yoga's way to write a result.
  Object.defineProperty(result, 'stringify', { value: () => text.toString('utf8') });
  texts.set(result as ExecutionResult, text);
  return result as ExecutionResult;
}

/** The result as JSON. A result that has several receivers is written once. */
export function jsonOf(result: ExecutionResult): Buffer {
  const known = texts.get(result);
  if (known !== undefined) return known;
  const text = Buffer.from(JSON.stringify(result));
  if (common.has(result)) texts.set(result, text);
  return text;
}

const deliveries = new WeakMap<object, WeakMap<DocumentNode, Map<string, Delivery>>>();

/** One subscriber's part in a delivery. */
interface Membership {
  readonly delivery: Delivery;
  /** The subscriber has ended. Calls after the first do nothing. */
  leave(): void;
}

/** Subscribers that send the same text share one parsed document. */
export function joinDelivery(
  generation: object,
  document: DocumentNode,
  operationName: string | null,
  variables: unknown,
): Membership {
  const ofGeneration = deliveries.get(generation) ?? new WeakMap<DocumentNode, Map<string, Delivery>>();
  deliveries.set(generation, ofGeneration);
  const known = ofGeneration.get(document) ?? new Map<string, Delivery>();
  ofGeneration.set(document, known);
  const key = JSON.stringify([operationName, variables ?? null]);
  const delivery = known.get(key) ?? new Delivery();
  known.set(key, delivery);
  delivery.members += 1;
  let hasLeft = false;
  return {
    delivery,
    leave() {
      if (hasLeft) return;
      hasLeft = true;
      delivery.members -= 1;
      if (delivery.members === 0) known.delete(key);
    },
  };
}
