/** The two sides of a transport: the request of a follower for a log, and the log that it gets. */
import { PortolanError } from '../../base/errors.ts';
import { isText, parsedJson, record, records, strings } from '../../base/json.ts';
import type { CollectionName, FollowerPosition, LogMessage, RunningFill } from '../../store/types/followed-log.ts';

/** An open log. */
export interface LogStream {
  /** The life of the log: sequence numbers of another epoch mean nothing. */
  readonly epoch: string;
  /**
   * Each is taken before the next one is read. Throws UPSTREAM_UNAVAILABLE when the connection is lost, GONE when the log does not go on.
   * Ends the connection when the reader leaves.
   */
  readonly batches: AsyncIterable<readonly LogMessage[]>;
  /** Ends the connection. Idempotent. */
  close(): void;
}

export interface LogRequest {
  /** Of the log that the follower has; null for an empty follower. */
  readonly epoch: string | null;
  readonly position: FollowerPosition;
}

/** The position of a store that has nothing yet. */
export const emptyPosition: FollowerPosition = { revision: 0, collections: [], clusters: [], filling: [] };

/** Throws BAD_USER_INPUT for anything else. */
export function readLogRequest(text: string): LogRequest {
  const request = record(parsedJson(text));
  const position = record(request?.['position']);
  const revision = position?.['revision'];
  if (request === undefined || position === undefined || !isRevision(revision))
    throw new PortolanError('BAD_USER_INPUT', 'A follower sends { epoch, position: { revision, … } } as JSON.');
  const { epoch } = request;
  return {
    epoch: isText(epoch) ? epoch : null,
    position: {
      revision,
      collections: records(position['collections']).map(collectionIn),
      clusters: strings(position['clusters']),
      filling: records(position['filling']).map(fillIn),
    },
  };
}

function isRevision(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function collectionIn({ cluster, key, collection }: Readonly<Record<string, unknown>>): CollectionName {
  return { cluster: String(cluster), key: String(key), collection: String(collection) };
}

function fillIn(fill: Readonly<Record<string, unknown>>): RunningFill {
  const upTo = record(fill['upTo']);
  const reached = upTo === undefined ? null : { namespace: String(upTo['namespace']), name: String(upTo['name']) };
  return { ...collectionIn(fill), upTo: reached };
}
