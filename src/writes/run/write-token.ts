/**
 * The token of a mutation: what a reader at any replica waits for, so that it sees the writes.
 *
 *   base64url(JSON [[cluster, resourceKey, namespace, name, uid, resourceVersion, isRemoval], …])
 *
 * It has the newest write of each collection that a reflector may watch: a resource of a cluster, or of one namespace. The events of a
 * collection arrive in the order of their versions. So a reader that sees the newest one sees the others. Removals without a version are
 * all in it, because nothing orders them.
 */
import { PortolanError } from '../../base/errors.ts';
import { list, parsedJson } from '../../base/json.ts';
import { compareResourceVersions } from '../../catalog/resources/resource-version.ts';
import type { Operation } from '../../operation/operation.ts';
import { refusalOfObject } from '../../operation/require-visible.ts';
import { type Awaited, seen } from './seen.ts';

/** Milliseconds that a reader waits. */
const longestWait = 10_000;
const mostEntries = 1000;

/** Null where nothing was written. */
export function tokenOf(written: readonly Awaited[]): string | null {
  const newest = new Map<string, Awaited>();
  for (const each of written) {
    const { cluster, key, namespace, name } = each.identity;
    const ordered = each.resourceVersion !== null && !each.isRemoval;
    const collection = JSON.stringify([cluster, key, namespace, ordered ? null : name]);
    const known = newest.get(collection);
    const isNewer =
      known === undefined ||
      (compareResourceVersions(known.resourceVersion ?? '', each.resourceVersion ?? '') ?? -1) < 0;
    if (isNewer) newest.set(collection, each);
  }
  if (newest.size === 0) return null;
  const entries = [...newest.values()].map(
    ({ identity: { cluster, key, namespace, name }, uid, resourceVersion, isRemoval }) => [
      cluster,
      key,
      namespace,
      name,
      uid,
      resourceVersion,
      isRemoval,
    ],
  );
  return Buffer.from(JSON.stringify(entries)).toString('base64url');
}

/**
 * Resolves when the tables show the writes of the token. A kind that is not ingested here is not waited for. Objects that the caller may
 * not get are not waited for either: callers can make tokens, and a wait would tell which objects there are.
 * @throws PortolanError BAD_USER_INPUT for a text that is no token, TIMEOUT if the tables do not show the writes within ten seconds.
 */
export async function untilShown(
  operation: Pick<Operation, 'at' | 'signal' | 'readCells' | 'renewSnapshot' | 'viewIn'>,
  token: unknown,
): Promise<void> {
  // The token of a mutation that wrote nothing.
  if (token === null) return;
  const { signal } = operation;
  const named = readToken(token);
  const clusters = named.map(({ identity }) => identity.cluster);
  const awaited = await operation.readCells(
    async (cells) =>
      named.filter(({ identity }) => refusalOfObject(operation.viewIn(cells, identity.cluster), identity) === null),
    [],
    clusters,
  );
  const shown = await seen(operation, awaited, longestWait, signal);
  // The snapshot of the rights may be older than the writes.
  operation.renewSnapshot();
  const missing = awaited.find((_, index) => shown[index] === false);
  if (missing === undefined) return;
  throw new PortolanError(
    'TIMEOUT',
    `The tables do not show the write of ${missing.identity.key} ${missing.identity.name} yet: send the query again.`,
  );
}

function readToken(token: unknown): readonly Awaited[] {
  const entries = typeof token === 'string' ? parsedJson(Buffer.from(token, 'base64url').toString()) : null;
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > mostEntries) throw noToken();
  return entries.map((entry): Awaited => {
    const [cluster, key, namespace, name, uid, resourceVersion, isRemoval] = list(entry);
    if (![cluster, key, name].every((text) => typeof text === 'string')) throw noToken();
    if (![namespace, uid, resourceVersion].every((text) => text === null || typeof text === 'string')) throw noToken();
    const identity = { cluster, key, namespace, name } as Awaited['identity'];
    return { identity, uid, resourceVersion, isRemoval: isRemoval === true } as Awaited;
  });
}

function noToken(): PortolanError {
  return new PortolanError('BAD_USER_INPUT', '`after` is not a token of a mutation; use `token` just as it was given.');
}
