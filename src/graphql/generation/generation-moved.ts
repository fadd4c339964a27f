/** Ends a live list whose generation has been replaced, and carries the client's position. */
import { PortolanError } from '../../base/errors.ts';
import type { LiveStart } from '../../live/list/live-request.ts';

/** The start of the list on the next generation. @param changed the places of the client are of no use there: it gets GAP */
export function movedStart(successor: LiveStart, changed: boolean): LiveStart {
  if (successor.at === 'place') return { ...successor, changed };
  if (successor.at !== 'cells') return successor;
  const starts = successor.starts.map((start) => (start?.at === 'place' ? { ...start, changed } : start));
  return { ...successor, starts };
}

/** src/graphql/generation/subscribe.ts catches it and subscribes again. Uncaught, it ends the subscription with SCHEMA_RELOAD. */
export class GenerationMoved extends PortolanError {
  readonly start: LiveStart;

  /** @param name that of the type or of the root */
  constructor(name: string, start: LiveStart) {
    super('SCHEMA_RELOAD', `The schema of ${name} has changed; load the schema anew and subscribe again.`);
    this.start = start;
  }
}
