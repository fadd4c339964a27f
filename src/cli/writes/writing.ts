/**
 * Whether a gateway writes, and as whom.
 *
 *   callers are authenticated   the caller, by upstream-credentials.ts                              unless --read-only
 *   none are, serve             the user of the kubeconfig, for requests with the start token       only with --read-only=false
 *   none are, demo              the user of the demo world                                          unless --read-only
 */
import type { AccessControl } from '../../auth/access-control.ts';
import { StartToken } from '../../auth/identity/start-token.ts';
import type { Config } from '../../config/options.ts';
import type { LongManifests, WriteAccess, WriteAudit, WriteMeter } from '../../operation/write-access.ts';
import { WriteGate } from '../../operation/write-gate.ts';
import type { CallerClients } from '../../upstream/caller-clients.ts';
import { type WritingKeys, writingKeys } from './writing-keys.ts';

type WritingConfig = Pick<Config, 'readOnly' | 'planKeyFile' | 'redact' | 'setKinds'>;

interface WritingParts {
  /** Null for a gateway without authentication. */
  readonly access: AccessControl | null;
  /** The cluster is the demo world of this gateway. */
  readonly isDemo: boolean;
  clients(): Promise<CallerClients>;
  readonly charge: WriteAccess['charge'];
  readonly audit: WriteAudit | null;
  readonly meter: WriteMeter;
  readonly longManifests: LongManifests;
  readonly version: string;
  /** Of the gateway whose process this is. Absent: this process makes its own. */
  readonly keys?: WritingKeys | undefined;
}

/** The parts of a gateway that writes. */
interface Writing {
  readonly access: WriteAccess;
  /** Null if requests need none. */
  readonly startToken: StartToken | null;
}

/** Null for a read-only gateway. @throws PortolanError CONFIGURATION for a key file that cannot be used. */
export function openWriting(config: WritingConfig, parts: WritingParts): Writing | null {
  const { access, isDemo, clients, charge, audit, meter, longManifests, version } = parts;
  if (config.readOnly ?? (access === null && !isDemo)) return null;
  const keys = parts.keys ?? writingKeys(config);
  const startToken = access === null && !isDemo ? new StartToken(keys.startToken) : null;
  return {
    startToken,
    access: {
      planKey: keys.planKey,
      charge,
      gate: new WriteGate(),
      redact: config.redact,
      setKinds: config.setKinds,
      audit,
      meter,
      longManifests,
      version,
      async client(cluster, credentials) {
        startToken?.require(credentials);
        const found = await clients();
        found.require(cluster);
        const own =
          access === null ? ({ type: 'local' } as const) : await access.upstreamCredentials(credentials, cluster);
        return found.client(cluster, own);
      },
    },
  };
}
