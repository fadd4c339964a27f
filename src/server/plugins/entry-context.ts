/** What the entry points of GraphQL hand to the plugins with a document. */
import type { ServerResponse } from 'node:http';
import type { AdmittedRequest } from '../../admission/admitted-request.ts';
import type { Span } from '../../base/tracing.ts';

/** Of a request over HTTP, before its document is read. */
export interface EntryContext {
  /** Absent where the admission plugin admits the request. */
  readonly admitted?: AdmittedRequest;
  /** Why an entry point could not admit the request. */
  readonly refused?: unknown;
  readonly span?: Span;
  /** The entry point has looked for a kept answer. */
  readonly isLookedUp?: boolean;
  /** Node's response, when the answer goes there. */
  readonly res?: ServerResponse;
  /** The caller was charged for the document. */
  readonly isCharged?: boolean;
}

/** Of a document whose request is admitted, for every plugin after the admission's. */
export interface AdmittedContext extends EntryContext {
  readonly admitted: AdmittedRequest;
  /** The profile that the connection of a message names; null without one. Absent over HTTP, where the request names it. */
  readonly profile?: string | null;
}
