/** Ends a live list whose generation has been replaced, and carries the client's position. */
import { PortolanError } from '../../base/errors.ts';
import type { LiveStart } from '../../live/list/live-request.ts';

/** src/graphql/generation/subscribe.ts catches it and subscribes again. Uncaught, it ends the subscription with SCHEMA_RELOAD. */
export class GenerationMoved extends PortolanError {
  readonly start: LiveStart;

  /** @param name that of the type or of the root */
  constructor(name: string, start: LiveStart) {
    super('SCHEMA_RELOAD', `The schema of ${name} has changed; load the schema anew and subscribe again.`);
    this.start = start;
  }
}
