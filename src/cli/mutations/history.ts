/**
 * `portolan history`: the recorded changes of a running gateway, newest first, with the versions that `portolan revert` takes.
 *
 *   AT                    CHANGE    OBJECT                     FROM  TO    BY       PATHS
 *   2026-01-31T08:15:00Z  MODIFIED  shop/Deployment web        4711  4712  kubectl  spec.replicas
 */
import { PortolanError } from '../../base/errors.ts';
import { standardError, standardOutput } from '../../base/output/standard-streams.ts';
import { shortList } from '../../base/text/short-list.ts';
import { textTable } from '../../base/text/text-table.ts';
import { GatewayClient, type RemoteConfig } from '../remote/gateway-client.ts';
import { inPlace } from '../remote/object-filter.ts';
import { kindAndNames } from './kind-and-names.ts';
import { cutNotice, missingChanges, type RecordedChange, recordedChanges } from './recorded-changes.ts';

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
  { words, since, namespace, cluster, limit, output }: HistoryFlags,
  to: Writable = standardOutput,
  errors: Writable = standardError,
): Promise<number> {
  const [kind, name, ...more] = kindAndNames(words);
  if (more.length > 0) {
    const given = [name, ...more].join(', ');
    throw new PortolanError(
      'CONFIGURATION',
      `The history is that of one name or of all: ${given} are ${more.length + 1}.`,
    );
  }
  const changes: RecordedChange[] = [];
  const wanted = { since, kind, name, namespace, cluster };
  const client = new GatewayClient(remote);
  let notice: string | null = null;
  const cut = (): void => {
    notice = `${cutNotice} Narrow them with --namespace or --cluster.`;
  };
  for await (const change of recordedChanges(client, wanted, cut)) {
    if (changes.length === limit) {
      notice = `There are more than the newest ${limit} changes: --limit shows more of them.`;
      break;
    }
    changes.push(change);
  }
  // Changes that are older than the read ones do not matter.
  notice ??= missingNotice(since, await missingChanges(client, wanted));
  if (output === 'json') to.write(`${JSON.stringify(changes, null, 2)}\n`);
  else if (changes.length === 0) {
    const of = kind === undefined ? '' : ` of ${kind}${name === undefined ? '' : ` ${name}`}`;
    const check = name === undefined ? '' : ', or check the name';
    const hint = notice === null ? ` Give an earlier time with --since${check}.` : '';
    to.write(`No change${of}${inPlace({ namespace, cluster })} is recorded since ${since}.${hint}\n`);
  } else to.write(textTable([titles, ...changes.map(rowOf)]));
  if (notice !== null) errors.write(`portolan: ${notice}\n`);
  return 0;
}

function missingNotice(since: string, missing: Awaited<ReturnType<typeof missingChanges>>): string | null {
  if (missing === null) return null;
  const kinds = shortList(missing.kinds, mostKinds).join(', ');
  return `Older changes since ${since} may be missing: the record is whole only since ${missing.since}, for ${kinds}.`;
}

const titles = ['AT', 'CHANGE', 'OBJECT', 'FROM', 'TO', 'BY', 'PATHS'];
const mostPaths = 4;
const mostKinds = 8;

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
