/** Ends a live list whose generation is no longer the current one, and says where the client stands. */
import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { LiveStart } from '../../live/live-list.ts';

/** To a caller without src/graphql/generation/subscribe.ts around it, the end of the subscription (SCHEMA_RELOAD). */
export class GenerationMoved extends PortolanError {
  readonly start: LiveStart;

  constructor(kind: CatalogKind, start: LiveStart) {
    super('SCHEMA_RELOAD', `The schema of ${kind.names.type} has changed; load the schema anew and subscribe again.`);
    this.start = start;
  }
}
