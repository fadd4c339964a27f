/**
 * Reads the state of ingest from a running gateway: failures from /readyz, and each resource from the query `resources`. A
 * resource without a description is only in /readyz, because the catalog does not contain it. Before the first schema, this is
 * true of all resources.
 */
import { z } from 'zod';
import { messageOf, PortolanError } from '../base/errors.ts';

export interface StatusRow {
  /** plural.group; `everything` for a cluster that cannot be reached or read. */
  readonly resource: string;
  readonly cluster: string;
  /** This and the other nullable members are null for a resource that is only in /readyz. */
  readonly phase: string | null;
  readonly synced: boolean | null;
  readonly objects: number | null;
  /** RFC 3339. */
  readonly lastEventAt: string | null;
  /** RFC 3339; null while a watch is open and not silent, and before the first whole list. */
  readonly staleSince: string | null;
  readonly restarts: readonly { readonly reason: string; readonly count: number }[];
  /** The state of each namespace, for a resource that is ingested by namespace; else empty. */
  readonly namespaces: readonly NamespaceRow[];
  readonly error: string | null;
  /** It is among the failures of /readyz: it will not sync without a change outside the gateway. */
  readonly failing: boolean;
}

interface NamespaceRow {
  readonly namespace: string;
  readonly phase: string;
  readonly synced: boolean;
  readonly objects: number;
  readonly error: string | null;
}

export interface StatusReport {
  readonly url: string;
  readonly ready: boolean;
  readonly resources: readonly StatusRow[];
}

/** Milliseconds to wait for each answer of the gateway. */
const patience = 10_000;

const readiness = z.object({
  ready: z.boolean(),
  failing: z.array(
    z.object({ cluster: z.string(), resource: z.string(), phase: z.string().nullish(), error: z.string() }),
  ),
});

const resource = z.object({
  key: z.string(),
  cluster: z.string(),
  phase: z.string(),
  synced: z.boolean(),
  objects: z.number(),
  lastEventAt: z.string().nullable(),
  staleSince: z.string().nullable(),
  restarts: z.array(z.object({ reason: z.string(), count: z.number() })),
  collections: z.array(
    z.object({
      namespace: z.string().nullable(),
      phase: z.string(),
      synced: z.boolean(),
      objects: z.number(),
      error: z.string().nullable(),
    }),
  ),
  error: z.string().nullable(),
});

const answer = z.object({
  data: z.object({ resources: z.array(resource) }).nullish(),
  errors: z
    .array(z.object({ message: z.string(), extensions: z.object({ code: z.string() }).partial().optional() }))
    .optional(),
});

const refusal = z.object({ error: z.string() });

const query = `{ resources { key cluster phase synced objects lastEventAt staleSince restarts { reason count } error
  collections { namespace phase synced objects error } } }`;

/**
 * The state of all resources.
 * @param url the GraphQL endpoint, or the gateway's root.
 * @throws PortolanError UPSTREAM_UNAVAILABLE, with a message that contains instructions.
 */
export async function askStatus(url: string): Promise<StatusReport> {
  const endpoint = new URL(url);
  if (endpoint.pathname === '/') endpoint.pathname = '/graphql';
  const shown = endpoint.href;
  const ready = await fetched(shown, new URL('readyz', endpoint), {}, readiness);
  const rows = await resourcesOf(shown);
  const failures = new Map(ready.failing.map((each) => [`${each.cluster} ${each.resource}`, each]));
  const known = rows.map(({ key, error, collections, ...row }): StatusRow => {
    const failure = failures.get(`${row.cluster} ${key}`);
    failures.delete(`${row.cluster} ${key}`);
    const namespaces = collections.flatMap(({ namespace, ...each }) =>
      namespace === null ? [] : { namespace, ...each },
    );
    // With several namespaces, the resource's own error names the namespace.
    const shown = namespaces.length > 0 && error !== null ? error : (failure?.error ?? error);
    return { resource: key, ...row, namespaces, error: shown, failing: failure !== undefined };
  });
  const unknown = [...failures.values()].map(
    ({ cluster, resource, phase, error }): StatusRow => ({
      resource,
      cluster,
      phase: phase ?? null,
      synced: null,
      objects: null,
      lastEventAt: null,
      staleSince: null,
      restarts: [],
      namespaces: [],
      error,
      failing: true,
    }),
  );
  return { url: shown, ready: ready.ready, resources: [...unknown, ...known] };
}

async function resourcesOf(url: string): Promise<readonly z.output<typeof resource>[]> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify({ query }) };
  const { data, errors = [] } = await fetched(url, new URL(url), request, answer);
  if (data != null) return data.resources;
  // Before the first schema the list is empty; /readyz has the reason.
  if (errors.some(({ extensions }) => extensions?.code === 'CACHE_NOT_READY')) return [];
  const why = errors[0]?.message ?? 'nothing';
  throw new PortolanError('UPSTREAM_UNAVAILABLE', `Ask again: the gateway at ${url} answers ${JSON.stringify(why)}.`);
}

async function fetched<T>(shown: string, target: URL, request: RequestInit, shape: z.ZodType<T>): Promise<T> {
  const text = await textOf(shown, target, request);
  const found = shape.safeParse(parsed(text));
  if (found.success) return found.data;
  const refused = refusal.safeParse(parsed(text));
  const detail = refused.success ? `, it answers ${JSON.stringify(refused.data.error)}` : '';
  throw new PortolanError(
    'UPSTREAM_UNAVAILABLE',
    `The server at ${shown} cannot be queried as a Portolan gateway${detail}; name the endpoint with --url.`,
  );
}

async function textOf(shown: string, target: URL, request: RequestInit): Promise<string> {
  try {
    return await (await fetch(target, { ...request, signal: AbortSignal.timeout(patience) })).text();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new PortolanError(
      'UPSTREAM_UNAVAILABLE',
      `No gateway answers at ${shown} (${messageOf(cause) || 'refused'}); start one with portolan serve, or name it with --url.`,
      { cause: error },
    );
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
