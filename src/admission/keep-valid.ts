/**
 * Checks the credentials of a long connection again and again.
 *
 *   every `everyMs` -> authenticate -> the same caller: nothing    refused, or another user: `onInvalid`, and the end
 *                                   -> no answer: the next look decides; meanwhile the caller's validity ends by itself
 */
import { type Authenticate, type Caller, type Credentials, isSameUser } from '../access/caller.ts';
import { codeOf } from '../base/errors.ts';

/**
 * @param everyMs milliseconds between two looks. Less than the validity of a reviewed token.
 * @returns a function that ends the checks.
 */
export function keepValid(
  authenticate: Authenticate,
  credentials: Credentials,
  caller: Caller,
  onInvalid: () => void,
  everyMs = 10_000,
): () => void {
  if (caller.validUntil === null) return () => {};
  let ended = false;
  const end = (): void => {
    ended = true;
    clearInterval(timer);
  };
  const invalid = (): void => {
    if (ended) return;
    end();
    onInvalid();
  };
  const look = async (): Promise<void> => {
    try {
      if (!isSameUser(await authenticate(credentials), caller)) invalid();
    } catch (error) {
      if (codeOf(error) === 'UNAUTHENTICATED') invalid();
    }
    if (!ended && (caller.validUntil ?? 0) < Date.now()) invalid();
  };
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  return end;
}
