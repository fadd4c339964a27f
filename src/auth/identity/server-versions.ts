/** The versions of API servers. A server may be upgraded or replaced by an older one, so each is asked again after a minute. */
import type { Clock } from '../../base/clock.ts';
import { record, textOr } from '../../base/json.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import type { KubernetesMinor } from './impersonated-user.ts';

/** Milliseconds for which a version is known. */
const knownMs = 60_000;
/** Milliseconds until an answer. */
const patienceMs = 10_000;

interface Known {
  readonly minor: Promise<KubernetesMinor>;
  readonly until: number;
}

type VersionClient = Pick<RestClient, 'get'>;

export class ServerVersions {
  readonly #clock: Clock;
  readonly #known = new WeakMap<VersionClient, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Asks as the gateway. @throws PortolanError what the request throws: UPSTREAM_UNAVAILABLE, or FORBIDDEN for a gateway that may not ask. */
  minorOf(client: VersionClient): Promise<KubernetesMinor> {
    const now = this.#clock.monotonic();
    const known = this.#known.get(client);
    if (known !== undefined && now < known.until) return known.minor;
    const minor = readMinor(client);
    this.#known.set(client, { minor, until: now + knownMs });
    // The next call asks again.
    minor.catch(() => this.#known.delete(client));
    return minor;
  }
}

async function readMinor(client: VersionClient): Promise<KubernetesMinor> {
  const answer = await client.get('/version', { headersTimeoutMs: patienceMs, bodyTimeoutMs: patienceMs });
  const [, minor = '0'] = /^v1\.(\d+)\./.exec(textOr(record(answer)?.['gitVersion'])) ?? [];
  return Number(minor);
}
