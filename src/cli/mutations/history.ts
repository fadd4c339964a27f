/**
 * `portolan history`: the recorded changes of a running gateway, newest first, with the versions that `portolan revert` takes.
 *
 *   AT                    CHANGE    OBJECT                     FROM  TO    BY       PATHS
 *   2026-01-31T08:15:00Z  MODIFIED  shop/Deployment web        4711  4712  kubectl  spec.replicas
 */
import { standardError, standardOutput } from '../../base/output/standard-streams.ts';
import { textTable } from '../../base/text/text-table.ts';
import { GatewayClient, type RemoteConfig } from '../remote/gateway-client.ts';
import { inPlace } from '../remote/object-filter.ts';
import { cutNotice, type RecordedChange, recordedChanges } from './recorded-changes.ts';

export interface HistoryFlags {
  /** A kind, and perhaps a name. */
  readonly words: readonly string[];
  readonly since: string;
  readonly namespace?: string;
  readonly cluster?: string;
  readonly limit: number;
  readonly output: 'text' | 'json';
}

interface Writable {
  write(text: string): unknown;
}

/** @throws PortolanError with the words of the gateway */
export async function history(
  remote: RemoteConfig,
  { words: [kind, name], since, namespace, cluster, limit, output }: HistoryFlags,
  to: Writable = standardOutput,
  errors: Writable = standardError,
): Promise<number> {
  const changes: RecordedChange[] = [];
  const wanted = { since, kind, name, namespace, cluster };
  let isCut = false;
  const cut = (): void => {
    isCut = true;
    errors.write(`${cutNotice} Narrow them with --namespace or --cluster.\n`);
  };
  for await (const change of recordedChanges(new GatewayClient(remote), wanted, cut)) {
    if (changes.length === limit) break;
    changes.push(change);
  }
  if (output === 'json') to.write(`${JSON.stringify(changes, null, 2)}\n`);
  else if (changes.length === 0) {
    const of = kind === undefined ? '' : ` of ${kind}${name === undefined ? '' : ` ${name}`}`;
    const check = name === undefined ? '' : ', or check the name';
    const hint = isCut ? '' : ` Give an earlier time with --since${check}.`;
    to.write(`No change${of}${inPlace({ namespace, cluster })} is recorded since ${since}.${hint}\n`);
  } else to.write(textTable([titles, ...changes.map(rowOf)]));
  return 0;
}

const titles = ['AT', 'CHANGE', 'OBJECT', 'FROM', 'TO', 'BY', 'PATHS'];
const mostPaths = 4;

function rowOf(change: RecordedChange): readonly string[] {
  const { at, type, kind, namespace, name, resourceVersion, changedPaths, managers, before } = change;
  const paths = changedPaths ?? [];
  const more = paths.length > mostPaths ? [`and ${paths.length - mostPaths} more`] : [];
  return [
    at.replace(/\.\d+Z$/, 'Z'),
    type,
    `${namespace === null ? '' : `${namespace}/`}${kind} ${name}`,
    before?.metadata.resourceVersion ?? '-',
    type === 'DELETED' ? '-' : (resourceVersion ?? '-'),
    managers.map(({ manager }) => manager).join(', ') || '-',
    [...paths.slice(0, mostPaths), ...more].join(', ') || '-',
  ];
}
