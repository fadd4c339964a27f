/** A response that violates the protocol. Unreadable data is never skipped, so this error ends the list or the watch. */
import { PortolanError } from '../../base/errors.ts';

/** `reason` is short and stable (`line too long`, `bad json`, ...): a label of the restart counter. */
export class ProtocolError extends PortolanError {
  readonly reason: string;

  constructor(reason: string, message: string, cause?: unknown) {
    super('UPSTREAM_UNAVAILABLE', message, cause === undefined ? {} : { cause });
    this.name = 'ProtocolError';
    this.reason = reason;
  }
}
