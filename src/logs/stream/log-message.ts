/** The messages of a subscriber of logs, as data. */

/** The container that a line or a notice is of. */
export interface LogPlace {
  readonly cluster: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
}

export interface LogLine extends LogPlace {
  /** As the kubelet wrote it: RFC 3339 with nanoseconds. Null for a line without one. */
  readonly time: string | null;
  readonly text: string;
  /** Bytes at the end of the line that are left out. */
  readonly leftOut: number;
}

/**
 * BEGAN        a container's log is read from now on
 * RESTARTED    the container has started again, and the log of its new instance follows
 * ENDED        the container has ended, and its log is complete
 * LEFT         the Pod no longer belongs to the subscription
 * REFUSED      the log cannot be read; `code` says why
 * INTERRUPTED  the connection to the API server was lost; the log goes on from the last line as soon as there is one
 * NOTHING      at the beginning: no Pod is chosen, or no chosen Pod has `container`; the other names of the place are empty
 * LEFT_OUT     lines were not sent because the reader took none for too long; `count` of them
 */
export type LogNoticeType =
  | 'BEGAN'
  | 'RESTARTED'
  | 'ENDED'
  | 'LEFT'
  | 'REFUSED'
  | 'INTERRUPTED'
  | 'NOTHING'
  | 'LEFT_OUT';

export interface LogNotice extends LogPlace {
  readonly type: LogNoticeType;
  readonly message: string;
  /** An error code for REFUSED and INTERRUPTED, otherwise null. */
  readonly code: string | null;
  /** Lines for LEFT_OUT, otherwise null. */
  readonly count: number | null;
}

/** Notices first: a container has begun before its lines. */
export interface LogMessage {
  readonly notices: readonly LogNotice[];
  readonly lines: readonly LogLine[];
}
