/** Streams of messages: those of a subscription, and the results of a live query. */
import { endingGenerator } from '../../base/ending-generator.ts';
import type { Logger } from '../../base/log.ts';
import { noSpan, type Span, within } from '../../base/tracing.ts';
import { codedError, codeOfThrown } from './coded-error.ts';

/** One message. */
export type Result = { errors?: readonly unknown[]; extensions?: Record<string, unknown>; data?: unknown };

/** The code of a result's first error; OK without errors. */
export function codeOfResult(result: unknown): string {
  const [error] = (result as Result | null)?.errors ?? [];
  return error === undefined ? 'OK' : codeOfThrown(error);
}

function endWith(span: Span, code: string): void {
  if (code !== 'OK') span.fail(code);
  span.end();
}

/**
 * Passes the messages through. A failure between two messages becomes a last message with errors, so that the connection survives.
 * The span ends with the first message.
 * `begin` is called at the first `next`, because a transport that cannot carry messages drops the generator without calling it. The
 * function that `begin` returns is called at least once, however the messages end.
 */
export function endingWithErrors(
  messages: AsyncIterable<Result>,
  log: Logger,
  { begin, span }: { readonly begin: () => () => void; readonly span: Span },
): AsyncGenerator<Result> {
  const inner = messages[Symbol.asyncIterator]();
  let over = false;
  /** `noSpan` after the first message: the next ones come from changes, not from the request. */
  let current = span;
  let ended: (() => void) | null = null;
  const end = async (): Promise<void> => {
    over = true;
    ended?.();
    span.end();
    await inner.return?.();
  };
  return endingGenerator<Result>(async () => {
    if (over) return { done: true, value: undefined };
    ended ??= begin();
    try {
      const step = await within(current, () => inner.next());
      if (current !== noSpan) {
        endWith(current, step.done === true ? 'OK' : codeOfResult(step.value));
        current = noSpan;
      }
      if (step.done !== true) return step;
      ended();
      return { done: true, value: undefined };
    } catch (error) {
      over = true;
      ended();
      endWith(current, codeOfThrown(error));
      return { done: false, value: { errors: [codedError(error, log)] } };
    }
  }, end);
}
