/**
 * Reads the state of ingest from a running gateway: failures from /readyz, and each resource from the query `resources`. A
 * resource without a description is only in /readyz, because the catalog does not contain it. Before the first schema, this is
 * true of all resources.
 */
import { z } from 'zod';
import { GatewayClient, type RemoteConfig } from './gateway-client.ts';

/** The `resource` of a cluster that cannot be reached or read. */
export const wholeCluster = 'everything';

export interface StatusRow {
  /** plural.group; `wholeCluster` for a cluster that cannot be reached or read. */
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
  /** That of /readyz; null where the gateway does not tell it. */
  readonly status: string | null;
  /** The processes that answer requests; null of a gateway with one. */
  readonly processes: {
    readonly wanted: number;
    readonly serving: number;
    readonly ended: readonly { readonly process: number; readonly error: string }[];
  } | null;
  readonly resources: readonly StatusRow[];
}

const readiness = z.object({
  ready: z.boolean(),
  status: z.string().optional(),
  // Absent for callers who may not read the details.
  failing: z
    .array(z.object({ cluster: z.string(), resource: z.string(), phase: z.string().nullish(), error: z.string() }))
    .optional(),
  // Absent too of a gateway with one process.
  processes: z
    .object({
      wanted: z.number(),
      serving: z.number(),
      ended: z.array(z.object({ process: z.number(), error: z.string() })),
    })
    .optional(),
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

const shape = z.object({ resources: z.array(resource) });

const query = `{ resources { key cluster phase synced objects lastEventAt staleSince restarts { reason count } error
  collections { namespace phase synced objects error } } }`;

/**
 * The state of all resources.
 * @throws PortolanError UPSTREAM_UNAVAILABLE or UNAUTHENTICATED, with a message that contains instructions.
 */
export async function askStatus(config: RemoteConfig): Promise<StatusReport> {
  const gateway = new GatewayClient(config);
  const { ready, status = null, failing = [], processes = null } = await gateway.get('readyz', readiness);
  // Before the first schema the list is empty; /readyz has the reason.
  const rows = (await gateway.ask(query, shape))?.resources ?? [];
  const failures = new Map(failing.map((each) => [`${each.cluster} ${each.resource}`, each]));
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
  return { url: gateway.endpoint.href, ready, status, processes, resources: [...unknown, ...known] };
}
