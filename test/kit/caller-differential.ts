/**
 * What callers see through Portolan, beside what the API server lets them read: random roles and bindings, then for each caller and kind
 * the lists of the server in every namespace, and each object by its name.
 *
 * The names that a role tells are the one thing that reads do not show. A plain model over the written roles and bindings adds them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { UserInfo } from '../../src/access/caller.ts';
import { Dice } from '../fuzz/dice.ts';
import { type RbacManifest, randomRbac, rbacNamespaces, rbacPath } from './rbac-world.ts';

/** Sends a request with a token. Rejects for a status from 500 on. */
export type AskAs = (
  token: string,
  method: string,
  path: string,
  body?: object,
) => Promise<{ readonly status: number; readonly body: unknown }>;

export interface TokenCaller extends Pick<UserInfo, 'user' | 'groups'> {
  readonly token: string;
}

export const tokenCallers: readonly TokenCaller[] = [
  { token: 'token-of-alice', user: 'alice', groups: ['devs'] },
  { token: 'token-of-bob', user: 'bob', groups: [] },
  { token: 'token-of-olga', user: 'olga', groups: ['ops', 'devs'] },
  { token: 'token-of-nobody', user: 'nobody', groups: [] },
];

export interface CallerWorld {
  readonly ask: AskAs;
  /** The token of an administrator. */
  readonly admin: string;
  /** The GraphQL endpoint. */
  readonly gateway: string;
  /** Further callers, such as service accounts. */
  readonly callers: readonly TokenCaller[];
}

export interface CallerComparison {
  /** Lists and single objects that were compared. */
  readonly compared: number;
  /** Lists that had some rows of the kind, but not all. */
  readonly partial: number;
  readonly mismatches: readonly string[];
}

interface Kind {
  readonly list: string;
  readonly one: string;
  readonly group: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const kinds: readonly Kind[] = [
  { list: 'pods', one: 'pod', group: '', plural: 'pods', namespaced: true },
  { list: 'deployments', one: 'deployment', group: 'apps', plural: 'deployments', namespaced: true },
  { list: 'namespaces', one: 'namespace', group: '', plural: 'namespaces', namespaced: false },
];
const names = ['x', 'y', 'z'];
/** Milliseconds in which Portolan must show a change of rights, on a busy machine. */
const patienceMs = 20_000;

export async function prepareCallerWorld(ask: AskAs, admin: string): Promise<void> {
  for (const namespace of rbacNamespaces) {
    await ask(admin, 'POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    for (const name of names) {
      const container = { name: 'c', image: 'registry.example/i:1' };
      await ask(admin, 'POST', `/api/v1/namespaces/${namespace}/pods`, {
        metadata: { name },
        spec: { containers: [container] },
      });
      const labels = { app: name };
      await ask(admin, 'POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
        metadata: { name },
        spec: {
          replicas: 0,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [container] } },
        },
      });
    }
  }
}

export async function compareCallers(world: CallerWorld, rounds: number, seed: number): Promise<CallerComparison> {
  const dice = new Dice(seed);
  const mismatches: string[] = [];
  let [compared, partial] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    for (let change = 0; change < (round === 0 ? 40 : 8); change += 1) await write(world, dice);
    const settled = Date.now() + patienceMs;
    for (const caller of world.callers) {
      for (const kind of kinds) {
        compared += 1;
        for (;;) {
          // The server itself learns of a change by a watch, and its controllers fill aggregated roles.
          const expected = await expectedRows(world, caller, kind, await readRbac(world));
          const problem = await difference(world, caller, kind, expected);
          if (problem !== null && Date.now() < settled) {
            await sleep(100);
            continue;
          }
          if (problem !== null) mismatches.push(`round ${round}, ${caller.user}, ${kind.list}: ${problem}`);
          partial += expected.rows.size > 0 && !expected.whole ? 1 : 0;
          break;
        }
      }
    }
  }
  return { compared, partial, mismatches };
}

/** The roles and bindings of the server. */
async function readRbac({ ask, admin }: CallerWorld): Promise<ReadonlyMap<string, RbacManifest>> {
  const found = new Map<string, RbacManifest>();
  for (const kind of ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'] as const) {
    const { body } = await ask(admin, 'GET', rbacPath({ kind, metadata: { name: '' } }));
    for (const object of (body as { readonly items: readonly RbacManifest[] }).items) {
      const { namespace = '', name } = object.metadata;
      found.set(`${kind} ${namespace}/${name}`, { ...object, kind });
    }
  }
  return found;
}

interface Expected {
  /** `namespace/name` of the rows of a list. */
  readonly rows: ReadonlySet<string>;
  readonly whole: boolean;
  /** Those that the caller may read by name, whether they are in lists or not. */
  readonly single: ReadonlySet<string>;
}

async function expectedRows(
  { ask, admin }: CallerWorld,
  caller: TokenCaller,
  kind: Kind,
  written: ReadonlyMap<string, RbacManifest>,
): Promise<Expected> {
  const all = await listed(ask, admin, kind, null);
  const everywhere = await listed(ask, caller.token, kind, null);
  const rows = new Set(everywhere ?? []);
  if (kind.namespaced && everywhere === null) {
    for (const namespace of rbacNamespaces) {
      for (const row of (await listed(ask, caller.token, kind, namespace)) ?? []) rows.add(row);
    }
  }
  const single = new Set<string>();
  for (const row of all ?? []) {
    const [namespace = '', name = ''] = row.split('/');
    if (kind.namespaced && !rbacNamespaces.includes(namespace)) continue;
    const { status } = await ask(caller.token, 'GET', `${pathOf(kind, kind.namespaced ? namespace : null)}/${name}`);
    if (status === 200) single.add(row);
    if (status === 200 && (isTold(caller, kind, namespace, name, written) || isInItself(caller, kind, name, written))) {
      rows.add(row);
    }
    if (rows.has(row)) single.add(row);
  }
  return { rows, single, whole: everywhere !== null };
}

async function listed(ask: AskAs, token: string, kind: Kind, namespace: string | null): Promise<string[] | null> {
  const { status, body } = await ask(token, 'GET', pathOf(kind, namespace));
  if (status === 403) return null;
  if (status !== 200) throw new Error(`${pathOf(kind, namespace)}: ${status}`);
  const { items } = body as { readonly items: readonly { metadata: { namespace?: string; name: string } }[] };
  return items.map(({ metadata: { namespace: of = '', name } }) => `${of}/${name}`);
}

function pathOf({ group, plural }: Kind, namespace: string | null): string {
  const root = group === '' ? '/api/v1' : `/apis/${group}/v1`;
  return `${root}${namespace === null ? '' : `/namespaces/${namespace}`}/${plural}`;
}

interface Rule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** The rules of all bindings of the caller that hold in a namespace; '' for the whole cluster alone. */
function rulesIn(caller: TokenCaller, namespace: string, written: ReadonlyMap<string, RbacManifest>): readonly Rule[] {
  return [...written.values()].flatMap((manifest) => {
    if (!manifest.kind.endsWith('Binding')) return [];
    const within = manifest.metadata.namespace ?? '';
    if (within !== '' && within !== namespace) return [];
    const { subjects = [], roleRef } = manifest as unknown as {
      readonly subjects?: readonly { kind: string; name: string; namespace?: string }[];
      readonly roleRef: { kind: string; name: string };
    };
    const isSubject = subjects.some(({ kind, name, namespace: home = within }) =>
      kind === 'User'
        ? name === caller.user
        : kind === 'Group'
          ? caller.groups.includes(name)
          : caller.user === `system:serviceaccount:${home}:${name}`,
    );
    const role = written.get(`${roleRef.kind} ${roleRef.kind === 'Role' ? within : ''}/${roleRef.name}`);
    return isSubject ? ((role as { rules?: readonly Rule[] | null } | undefined)?.rules ?? []) : [];
  });
}

function allows({ verbs = [], apiGroups = [], resources = [] }: Rule, verb: string, { group, plural }: Kind): boolean {
  const has = (some: readonly string[], value: string): boolean => some.includes('*') || some.includes(value);
  return has(verbs, verb) && has(apiGroups, group) && has(resources, plural);
}

/** Does a rule name the object? */
function isTold(
  caller: TokenCaller,
  kind: Kind,
  namespace: string,
  name: string,
  written: ReadonlyMap<string, RbacManifest>,
): boolean {
  const within = kind.plural === 'namespaces' ? name : namespace;
  return rulesIn(caller, within, written).some(
    (rule) => rule.resourceNames?.includes(name) === true && (allows(rule, 'get', kind) || allows(rule, 'list', kind)),
  );
}

/** A Namespace is listed if a RoleBinding in it grants `get` of Namespaces. */
function isInItself(
  caller: TokenCaller,
  kind: Kind,
  name: string,
  written: ReadonlyMap<string, RbacManifest>,
): boolean {
  if (kind.plural !== 'namespaces') return false;
  const own = new Map([...written].filter(([, each]) => each.kind !== 'ClusterRoleBinding'));
  return rulesIn(caller, name, own).some(
    (rule) => (rule.resourceNames ?? []).length === 0 && allows(rule, 'get', kind),
  );
}

interface GatewayAnswer {
  readonly data?: Record<string, { nodes?: readonly { metadata: Named }[] } | null> | null;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}
interface Named {
  readonly namespace?: string | null;
  readonly name: string;
}

/** How Portolan's answers differ from what is expected; null if they do not. */
async function difference(
  { gateway }: CallerWorld,
  { token }: TokenCaller,
  kind: Kind,
  { rows, single, whole }: Expected,
): Promise<string | null> {
  const query = async (document: string): Promise<GatewayAnswer> => {
    const response = await fetch(gateway, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: document }),
    });
    return (await response.json()) as GatewayAnswer;
  };
  const documents = [
    `{ w: ${kind.list}(first: 500) { nodes { metadata { namespace name } } } }`,
    `{ w: ${kind.list}(first: 500, orderBy: [{ path: "metadata.name", direction: DESC }]) { nodes { metadata { namespace name } } totalCount } }`,
    `{ w: objects(first: 500, kinds: ["${kind.list}"]) { nodes { metadata { namespace name } } } }`,
  ];
  for (const document of documents) {
    const { data, errors } = await query(document);
    const isForbidden = errors?.[0]?.extensions.code === 'FORBIDDEN' && data?.['w'] === null;
    if (isForbidden && rows.size === 0) continue;
    const found = new Set(data?.['w']?.nodes?.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`));
    if (errors !== undefined) return `${document}: ${JSON.stringify(errors)}, but ${rows.size} rows are visible`;
    const [more, fewer] = [found.difference(rows), rows.difference(found)];
    if (more.size > 0 || fewer.size > 0) {
      return `${document}: shows ${[...more].join()} and lacks ${[...fewer].join()}; whole: ${whole}`;
    }
  }
  for (const namespace of kind.namespaced ? rbacNamespaces : ['']) {
    for (const name of kind.namespaced ? names : rbacNamespaces) {
      const at = kind.namespaced ? `namespace: "${namespace}", ` : '';
      const { data, errors } = await query(`{ w: ${kind.one}(${at}name: "${name}") { metadata { name } } }`);
      const expected = single.has(`${namespace}/${name}`);
      const isForbidden = errors?.[0]?.extensions.code === 'FORBIDDEN';
      if (expected ? data?.['w'] == null : !isForbidden || data?.['w'] !== null) {
        return `${kind.one} ${namespace}/${name}: ${JSON.stringify({ data, errors })}, expected ${expected}`;
      }
    }
  }
  return null;
}

/** Writes or removes one role or binding. */
async function write({ ask, admin }: CallerWorld, dice: Dice): Promise<void> {
  const object = randomRbac(dice);
  // A role reference cannot be changed, so the object is made anew.
  await ask(admin, 'DELETE', `${rbacPath(object)}/${object.metadata.name}`);
  if (dice.chance(0.2)) return;
  const { status, body } = await ask(admin, 'POST', rbacPath(object), object);
  if (status >= 400) throw new Error(`${JSON.stringify(object)}: ${status} ${JSON.stringify(body)}`);
}
