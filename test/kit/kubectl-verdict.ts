/**
 * The verdict of an API server on a write of a caller. kubectl asks for it as that caller. Each request is a dry run.
 *
 *   apply                               kubectl apply --server-side --dry-run=server
 *   create                              kubectl create --dry-run=server
 *   delete                              kubectl delete --dry-run=server
 *   patch, scale, restart and cordon    kubectl patch --dry-run=server
 *   evict                               kubectl create --raw
 *   edit                                kubectl get, and kubectl patch --dry-run=server
 *   revert                              kubectl get, and kubectl patch or, of a deleted object, create --dry-run=server
 *   rollback                            kubectl get of the object and of its revisions, and kubectl patch --dry-run=server
 *
 * kubectl scale, cordon and rollout restart get the object before they patch it. Then the right to get would decide too, so the same
 * patch is sent without it: a patch of a file reads nothing.
 */
import { execFile } from 'node:child_process';
import type { CallerWrite } from './random-caller-writes.ts';

export interface NamedCaller {
  readonly user: string;
  /** Without those that the API server adds by itself. */
  readonly groups: readonly string[];
}

/** The reason of a Status, with its words; null if the write is allowed and would be done. */
export type KubectlVerdict =
  | (Refusal & {
      /** Is the write not sent, because its object cannot be read? */
      readonly isOfRead: boolean;
    })
  | null;

interface Refusal {
  readonly reason: string;
  readonly message: string;
}

export interface KubectlOptions {
  /** A kubectl that knows `--subresource`: 1.24 or later. */
  readonly file: string;
  /** Of an administrator. */
  readonly kubeconfig: string;
  readonly cacheFolder: string;
  /** `policy/v1` or, before 1.22, `policy/v1beta1`. */
  readonly evictionVersion: string;
}

export async function kubectlVerdict(
  options: KubectlOptions,
  { user, groups }: NamedCaller,
  write: CallerWrite,
): Promise<KubectlVerdict> {
  const as = [`--as=${user}`, ...groups.map((group) => `--as-group=${group}`)];
  const own = [`--kubeconfig=${options.kubeconfig}`, `--cache-dir=${options.cacheFolder}`];
  const failureOf = ({ args, input }: Command): Promise<string | null> =>
    new Promise((resolve) => {
      const child = execFile(options.file, [...own, ...as, ...args], (error, _out, complaint) =>
        resolve(error === null ? null : complaint.trim() || error.message),
      );
      child.stdin?.on('error', () => {});
      child.stdin?.end(JSON.stringify(input));
    });
  for (const { args, input } of readingOf(write)) {
    const failure = await failureOf({ args: ['get', ...args], input });
    const refusal = failure === null ? null : verdictIn(failure);
    const isOfDeleted = write.verb === 'revert' && refusal?.reason === 'NotFound';
    if (refusal !== null && !isOfDeleted) return { ...refusal, isOfRead: true };
  }
  const failure = await failureOf(command(write, options.evictionVersion));
  return failure === null ? null : { ...verdictIn(failure), isOfRead: false };
}

/** What the write reads first. */
function readingOf({ reads, manifest, namespace, revision }: CallerWrite): readonly Command[] {
  const within = [`--namespace=${namespace}`, `--selector=${revision?.selector}`];
  return reads.map((what) =>
    what === 'object' ? { args: ['--filename=-'], input: manifest } : { args: [what, ...within], input: {} },
  );
}

interface Command {
  readonly args: readonly string[];
  readonly input: object;
}

function command(
  { verb, path, manifest, force, patch, namespace, name }: CallerWrite,
  evictionVersion: string,
): Command {
  const dry = ['--dry-run=server', '--filename=-'];
  const manager = '--field-manager=portolan';
  if (patch !== null) {
    const { format, subresource, body } = patch;
    const within = subresource === null ? [] : [`--subresource=${subresource}`];
    const type = `--type=${format.toLowerCase()}`;
    return { args: ['patch', ...dry, manager, type, ...within, `--patch=${JSON.stringify(body)}`], input: manifest };
  }
  switch (verb) {
    case 'apply':
      return {
        args: ['apply', '--server-side', ...dry, manager, '--validate=ignore', `--force-conflicts=${force}`],
        input: manifest,
      };
    case 'create':
    case 'revert':
      return { args: ['create', ...dry, manager, '--validate=ignore'], input: manifest };
    case 'delete':
      return { args: ['delete', ...dry, '--wait=false'], input: manifest };
    case 'evict': {
      const deleteOptions = { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] };
      const input = { apiVersion: evictionVersion, kind: 'Eviction', metadata: { name, namespace }, deleteOptions };
      return { args: ['create', `--raw=${path}/eviction?dryRun=All`, '--filename=-'], input };
    }
    default:
      throw new Error(`${verb} has a patch`);
  }
}

/** @throws Error for words of kubectl that are none of an API server */
function verdictIn(complaint: string): Refusal {
  const conflict = /^error: (Apply failed with .*)/ms.exec(complaint);
  if (conflict !== null) return { reason: 'FieldConflict', message: conflict[1] ?? '' };
  const found = /^Error from server \((\w+)\): (?:error when \w+ "[^"]*": )?(.*)/ms.exec(complaint);
  if (found === null) throw new Error(`kubectl: ${complaint}`);
  return { reason: found[1] ?? '', message: found[2] ?? '' };
}
