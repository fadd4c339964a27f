/** Calls that must be refused as wrong input of the caller. */
import { PortolanError } from '../../src/base/errors.ts';

/** The error of a call that must be refused. */
export function refusal(make: () => unknown): PortolanError {
  try {
    make();
  } catch (error) {
    if (error instanceof PortolanError && error.code === 'BAD_USER_INPUT') return error;
    throw error;
  }
  throw new Error('nothing is refused');
}
