/** CACHE_NOT_READY for what will be ready soon, with what an operation may wait for. */
import { PortolanError } from '../../base/errors.ts';

/** The kinds for which a read waits. */
export interface Awaited {
  /** resourceKeys. */
  readonly keys: readonly string[];
  /** In these clusters; null: in all. */
  readonly clusters: readonly string[] | null;
  /** One of the kinds is enough. */
  readonly any: boolean;
  /** It waits for the references of the objects too. */
  readonly related: boolean;
}

/** CACHE_NOT_READY for kinds that are in their first sync, or whose references are being read. */
export class NotReadyError extends PortolanError {
  readonly awaited: Awaited;

  constructor(awaited: Awaited, message: string) {
    super('CACHE_NOT_READY', message, { details: { resources: awaited.keys } });
    this.name = 'NotReadyError';
    this.awaited = awaited;
  }
}
