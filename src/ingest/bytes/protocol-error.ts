/** A response that violates the protocol. Unreadable data is never skipped, so this error ends the list or the watch. */
import { PortolanError } from '../../base/errors.ts';

/** The reasons for an object without a uid, and without a resourceVersion. */
export const noUid = 'no uid';
export const noVersion = 'no resourceVersion';
/** The reasons for what is longer than the bounds of a line and of an object. */
export const lineTooLong = 'line too long';
export const itemTooLong = 'item too long';

/** `reason` is short and stable (`line too long`, `bad json`, ...): a label of the restart counter. */
export class ProtocolError extends PortolanError {
  readonly reason: string;

  constructor(reason: string, message: string, cause?: unknown) {
    super('UPSTREAM_UNAVAILABLE', message, cause === undefined ? {} : { cause });
    this.name = 'ProtocolError';
    this.reason = reason;
  }
}
