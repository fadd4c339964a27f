import type { IngestStatus } from '../types/progress.ts';

/** Of a collection that nobody has begun to ingest. */
export const idleStatus: IngestStatus = {
  phase: 'IDLE',
  lastEventAt: null,
  lastSignAt: null,
  staleSince: null,
  error: null,
  restarts: {},
  refused: false,
};
