/** An answer that a server may not give: what cannot be understood is never skipped, so it ends the list or the watch. */
import { PortolanError } from '../../base/errors.ts';

/** `reason` is short and stable (`line too long`, `bad json`, ...): it is counted among the restarts. */
export class ProtocolError extends PortolanError {
  readonly reason: string;

  constructor(reason: string, message: string, cause?: unknown) {
    super('UPSTREAM_UNAVAILABLE', message, cause === undefined ? {} : { cause });
    this.name = 'ProtocolError';
    this.reason = reason;
  }
}
