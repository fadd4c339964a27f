/** The secrets of one start of a gateway. All its serve processes have the same. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../config/options.ts';
import { planKey } from './plan-key.ts';

export interface WritingKeys {
  /** See StartToken. */
  readonly startToken: string;
  /** Seals the ids of plans. */
  readonly planKey: Uint8Array;
}

/** @throws PortolanError CONFIGURATION for a key file that cannot be used. */
export function writingKeys({ planKeyFile }: Pick<Config, 'planKeyFile'>): WritingKeys {
  return { startToken: randomBytes(32).toString('base64url'), planKey: planKey(planKeyFile) };
}
