/** The clock of the API server beside the one of this machine. Certificates and tokens are valid by the clock of who checks them. */
import type { ExaminedCluster } from './examined-cluster.ts';
import { type Finding, notSeen, ok, problem, warning } from './finding.ts';

/** Seconds. The Date header has whole seconds, and an answer takes time. */
const noticed = 5;
const harmful = 60;

export async function checkClock({ options }: ExaminedCluster): Promise<readonly Finding[]> {
  const { client, now } = options;
  const asked = now();
  const { headers } = await client.send('GET', '/version', undefined);
  const answered = now();
  const served = Date.parse(String(headers['date']));
  if (Number.isNaN(served)) return [notSeen('The API server does not say its time.')];
  // Between both, as far as the header is exact.
  const late = Math.max(0, asked - (served + 1000));
  const early = Math.max(0, served - answered);
  const seconds = Math.round(Math.max(late, early) / 1000);
  if (seconds < noticed) return [ok('The clocks of the API server and of this machine agree.')];
  const words = `The clock of the API server is ${seconds} seconds ${late > early ? 'behind' : 'ahead of'} the one of this machine. Set the wrong one.`;
  return [(seconds < harmful ? warning : problem)(words, 'timedatectl set-ntp true')];
}
