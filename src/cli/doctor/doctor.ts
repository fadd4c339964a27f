/**
 * `portolan doctor`: looks at a cluster as the user of the kubeconfig, and says what is wrong and which command mends it.
 *
 *   the server answers -> the other checks, one after another -> a line for each finding
 *   it does not        -> the reason, and nothing else is looked at
 *
 * It writes nothing into the cluster but reviews of access, which an API server does not store. A check that may not see something says so.
 */
import { messageOf, PortolanError } from '../../base/errors.ts';
import { standardOutput } from '../../base/output/standard-streams.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import type { Config } from '../../config/options.ts';
import { connect } from '../../kube/client/connection.ts';
import { explainConnectionFailure } from '../../kube/client/explain.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { oneClusterOf } from '../options/clusters-of.ts';
import { checkAccount } from './account-check.ts';
import { checkAggregation } from './aggregation-check.ts';
import { checkApiService } from './api-service-check.ts';
import { checkAuthority } from './authority-check.ts';
import { checkCertificate } from './certificate-check.ts';
import { checkClock } from './clock-check.ts';
import { checkDefinition } from './definition-check.ts';
import { ExaminedCluster } from './examined-cluster.ts';
import { type Finding, notSeen, problem } from './finding.ts';
import { checkKinds } from './kinds-check.ts';
import { checkNamespaces } from './namespaces-check.ts';
import { checkReadiness } from './readiness-check.ts';
import { checkRecords } from './records-check.ts';
import { checkServer } from './server-check.ts';
import { checkService } from './service-check.ts';

type DoctorConfig = Pick<
  Config,
  | 'kubeconfig'
  | 'context'
  | 'inCluster'
  | 'aggregate'
  | 'aggregateGroup'
  | 'aggregateVersion'
  | 'impersonate'
  | 'serviceAccount'
  | 'setKinds'
>;

export interface DoctorFlags {
  readonly output: 'text' | 'json';
  /** `host:port` */
  readonly address?: string;
}

interface Check {
  readonly name: string;
  /** For which clusters: all, or those with an aggregated API server. */
  readonly of: 'all' | 'door';
  /** May throw: then nothing was seen. */
  readonly look: (cluster: ExaminedCluster) => Promise<readonly Finding[]>;
}

const checks: readonly Check[] = [
  { name: 'clock', of: 'all', look: checkClock },
  { name: 'kinds', of: 'all', look: checkKinds },
  { name: 'definition', of: 'all', look: checkDefinition },
  { name: 'records', of: 'all', look: checkRecords },
  { name: 'apiservice', of: 'all', look: checkApiService },
  { name: 'namespaces', of: 'all', look: checkNamespaces },
  { name: 'aggregation', of: 'door', look: checkAggregation },
  { name: 'service', of: 'door', look: checkService },
  { name: 'readiness', of: 'door', look: checkReadiness },
  { name: 'authority', of: 'door', look: checkAuthority },
  { name: 'certificate', of: 'door', look: checkCertificate },
  { name: 'account', of: 'door', look: checkAccount },
];

type NamedFinding = Finding & { readonly check: string };

/**
 * Prints the findings to `output`.
 * @returns the exit code: 1 if there is a problem
 * @throws PortolanError CONFIGURATION for flags that do not fit
 */
export async function doctor(
  config: DoctorConfig,
  { output: form, address }: DoctorFlags,
  { output, now }: { readonly output: { write(text: string): unknown }; readonly now: () => number } = {
    output: standardOutput,
    now: Date.now,
  },
): Promise<number> {
  const reached = address === undefined ? null : addressOf(address);
  const connection = await connect(oneClusterOf(config, 'doctor'));
  try {
    const cluster = new ExaminedCluster({
      client: new RestClient(connection, { headersTimeoutMs: 10_000, bodyTimeoutMs: 10_000 }),
      api: { group: config.aggregateGroup, version: config.aggregateVersion },
      isExpected: config.aggregate,
      account: config.serviceAccount ?? null,
      impersonate: config.impersonate,
      setKinds: config.setKinds,
      address: reached,
      now,
    });
    const findings: NamedFinding[] = [];
    const keep = (check: string, found: readonly Finding[]): void => {
      findings.push(...found.map((each) => ({ check, ...each })));
    };
    const isReached = await checkServer(cluster).then(
      (found) => {
        keep('server', found);
        return true;
      },
      (error: unknown) => {
        keep('server', [problem(explainConnectionFailure(error, connection).message, 'kubectl config view --minify')]);
        return false;
      },
    );
    for (const { name, of, look } of isReached ? checks : []) {
      if (of === 'door' && !(await cluster.hasDoor().catch(() => true))) continue;
      keep(name, await look(cluster).catch((error: unknown) => [notSeen(messageOf(error))]));
    }
    output.write(form === 'json' ? `${JSON.stringify({ findings }, null, 2)}\n` : findings.map(lineOf).join(''));
    return findings.some(({ verdict }) => verdict === 'problem') ? 1 : 0;
  } finally {
    await connection.close();
  }
}

/** A line, and a second one with the command. */
function lineOf({ check, verdict, message, command }: NamedFinding): string {
  const mends = command === null ? '' : `${' '.repeat(24)}${oneLine(command)}\n`;
  return `${verdict.padEnd(10)}${check.padEnd(14)}${oneLine(message)}\n${mends}`;
}

function addressOf(text: string): { readonly host: string; readonly port: number } {
  const [, host, port] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(text) ?? [];
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new PortolanError('CONFIGURATION', '--address must be HOST:PORT.');
}
