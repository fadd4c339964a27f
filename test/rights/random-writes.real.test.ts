/**
 * Random writes of callers with different rights, beside kubectl: each is allowed or denied as `kubectl --as` is, in the same words. At
 * the end the audit log of the API server must have exactly the requests of these writes, each with its caller as the author.
 *
 *   a round   other random roles -> the authorizer has them -> groups of writes
 *   a group   kubectl --as, as a dry run -> all writes of the group at once -> the objects once more
 *
 * A revert is to a state that an object had before, once each gateway has recorded it. A rollback is to a revision that is made for it.
 *
 * PORTOLAN_WRITES is the number of writes, PORTOLAN_SEED chooses them.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { ApiError } from '../../src/kube/http/api-error.ts';
import { Dice } from '../fuzz/dice.ts';
import { auditedBy } from '../kit/audit-events.ts';
import { type Certificate, type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import type { Answer } from '../kit/graphql-client.ts';
import { type KubectlOptions, type KubectlVerdict, kubectlVerdict } from '../kit/kubectl-verdict.ts';
import { printedRoles } from '../kit/printed-roles.ts';
import {
  type CallerWrite,
  type ReadObject,
  randomCallerWrite,
  randomRights,
  rightsLabel,
  writtenNames,
  writtenNamespaces,
} from '../kit/random-caller-writes.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { isSince } from '../kit/server-version.ts';
import { askOverTls } from '../kit/tls-gateway.ts';
import { mutationOf, type Written } from '../kit/writes-suite.ts';
import { type AuditedRequest, auditedRequests, robot, writingUsers } from '../kit/writing-users.ts';
import { writtenDefinitions, writtenKinds, writtenManifest } from '../kit/written-kinds.ts';

const writes = Number(process.env['PORTOLAN_WRITES'] ?? '150');
const usualSeed = 37;
const seed = Number(process.env['PORTOLAN_SEED'] ?? usualSeed);
const inRound = 30;
/** Writes of several callers at once. */
const atOnce = 5;

const modes = ['off', 'constrained', 'classic'] as const;

/** A way in: the gateway with this mode of impersonation, and what the request carries. */
interface Way {
  readonly mode: (typeof modes)[number];
  readonly by: 'token' | 'proxy' | 'proxy with extra' | 'proxy with uid and extra';
}

const token = modes.map((mode): Way => ({ mode, by: 'token' }));
const byProxy = (['proxy', 'proxy with extra', 'proxy with uid and extra'] as const).flatMap((by) =>
  modes.map((mode): Way => ({ mode, by })),
);

interface WritingCaller {
  readonly user: string;
  /** Without those that the API server adds by itself. */
  readonly groups: readonly string[];
  readonly token: string;
  /** Of the token. */
  readonly uid: string;
}

const robotGroups = ['system:serviceaccounts', 'system:serviceaccounts:shop'];
const ownUid = 'uid-42';
const scopesKey = 'example.com/scopes';
const scopes = ['write', 'read all'];
const accounts = 'system:serviceaccount:gateway:';

/** All that changes something, but the questions about tokens and rights that a gateway asks as itself. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', verbs: ['get', 'list', 'watch'] },
    { level: 'None', resources: [{ group: 'authentication.k8s.io' }, { group: 'authorization.k8s.io' }] },
    { level: 'None', nonResourceURLs: ['*'] },
    { level: 'Metadata' },
  ],
};

const codes: Readonly<Record<string, readonly [code: string, status: number]>> = {
  Forbidden: ['DENIED', 403],
  NotFound: ['NOT_FOUND', 404],
  AlreadyExists: ['ALREADY_EXISTS', 409],
  FieldConflict: ['FIELD_CONFLICT', 409],
};

/** Of the recorded changes. */
interface Page {
  readonly nodes: readonly { readonly resourceVersion: string | null }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** One write on its way in. */
interface Sent {
  readonly caller: WritingCaller;
  readonly way: Way;
  readonly write: CallerWrite;
  readonly before: ReadObject | null;
  /** Null if it is allowed; `refused` if the gateway sends nothing in the name of the caller. */
  readonly verdict: KubectlVerdict | 'refused';
}

// The kubectl of the main server asks both: that of the old one has no --subresource.
const servers = mainServer.missing(['kubectl']) === null ? [mainServer, oldServer] : [mainServer];

describeOn(servers, 'random writes beside kubectl', { timeout: 3_600_000, needs: ['kubectl'] }, (server) => {
  let plane: ControlPlane;
  let admin: RestClient;
  let proxies: CertificateAuthority;
  let front: Certificate;
  let auditLog: string;
  let callers: readonly WritingCaller[];
  let kubectl: KubectlOptions;
  const gateways = new Map<Way['mode'], RunningGateway>();
  /** What objects have been, by their paths, oldest first. */
  const states = new Map<string, readonly ReadObject[]>();

  const apply = (items: readonly object[]): Promise<string> =>
    plane.kubectl(
      ['apply', '--server-side', '--force-conflicts', '--field-manager=seed', '-f', '-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    );

  beforeAll(async () => {
    proxies = await createCertificateAuthority('proxies');
    front = await proxies.issue({ names: [], commonName: 'front' });
    plane = await startControlPlane({
      server,
      users: writingUsers.map(({ user, groups }, index) => ({ token: `token-${index}`, user, groups })),
      apiServer: auditedBy(policy),
    });
    const file = (name: string, text: string): string => {
      writeFileSync(join(plane.dir, name), text);
      return join(plane.dir, name);
    };
    auditLog = join(plane.dir, 'audit.log');
    kubectl = {
      file: mainServer.assets.path('kubectl'),
      kubeconfig: plane.kubeconfigPath,
      cacheFolder: join(plane.dir, 'kubectl-cache'),
      evictionVersion: isSince(plane.version, 1, 22) ? 'policy/v1' : 'policy/v1beta1',
    };
    const named = (kind: string, name: string, namespace?: string) => ({
      ...{ apiVersion: 'v1', kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) } },
    });
    await apply([
      ...[...writtenNamespaces, 'gateway'].map((name) => named('Namespace', name)),
      named('ServiceAccount', 'robot', 'shop'),
      ...modes.map((mode) => named('ServiceAccount', mode, 'gateway')),
      ...writtenDefinitions,
    ]);
    admin = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath, env: {}, name: 'east' }));
    const accountPath = '/api/v1/namespaces/shop/serviceaccounts/robot';
    const account = await admin.get<{ metadata: { uid: string } }>(accountPath);
    callers = [
      ...writingUsers.map((each, index) => ({ ...each, token: `token-${index}`, uid: each.user })),
      { user: robot, groups: [], token: await tokenOf('shop', 'robot'), uid: account.metadata.uid },
    ];
    const own = await proxies.issue({ names: ['IP:127.0.0.1'], commonName: 'gateway' });
    for (const mode of modes) {
      const flags = {
        ...{ auth: ['token', 'proxy'], impersonate: mode, kinds: writtenKinds.map(({ plural }) => plural) },
      };
      const serviceAccount = `gateway/${mode}`;
      const role = { ...flags, kubeconfig: plane.kubeconfigPath, serviceAccount, name: `portolan-${mode}` };
      await plane.kubectl(['apply', '-f', '-'], await printedRoles(role));
      const kubeconfig = plane.writeKubeconfig(`gateway-${mode}`, { token: await tokenOf('gateway', mode) });
      const gateway = await runGateway(
        { name: 'east', kubeconfig },
        {
          ...{ ...flags, callerWrites: '1000000', callerCost: '1000000000' },
          proxyClientCa: file('proxies.crt', proxies.ca),
          ...{ tlsCert: file('gateway.crt', own.cert), tlsKey: file('gateway.key', own.key) },
        },
      );
      gateways.set(mode, gateway);
    }
  }, 240_000);
  afterAll(async () => {
    await closeGateways();
    await admin?.connection.close();
    await plane?.stop();
    proxies?.remove();
  }, 60_000);

  async function closeGateways(): Promise<void> {
    for (const gateway of gateways.values()) await gateway.close();
    gateways.clear();
  }

  async function tokenOf(namespace: string, name: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    return (await admin.post<{ status: { token: string } }>(path, { spec: {} })).status.token;
  }

  async function read(path: string): Promise<ReadObject | null> {
    try {
      const object = await admin.get<ReadObject>(path);
      const known = states.get(path) ?? [];
      const isKnown = known.some(({ metadata }) => metadata.resourceVersion === object.metadata.resourceVersion);
      if (!isKnown) states.set(path, [...known, object]);
      return object;
    } catch (error) {
      if (error instanceof ApiError && error.httpStatus === 404) return null;
      throw error;
    }
  }

  /** Other rights, which the authorizer knows at the end, and some objects of each kind. */
  async function startRound(dice: Dice, round: number): Promise<void> {
    const labelled = [`--selector=${rightsLabel}=yes`];
    await plane.kubectl(['delete', 'roles,rolebindings', '--all-namespaces', ...labelled]);
    await plane.kubectl(['delete', 'clusterroles,clusterrolebindings', ...labelled]);
    await apply(
      writtenKinds.flatMap((kind) =>
        (kind.namespaced ? writtenNamespaces : [null]).flatMap((namespace) =>
          writtenNames.slice(0, 2).map((name) => writtenManifest(kind, namespace, name, `round-${round}`)),
        ),
      ),
    );
    // The authorizer takes the objects of each kind in their order, so these last ones stand for all.
    const last = `last-${round}`;
    const head = (kind: string, namespace?: string) => ({
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind },
      metadata: { name: last, labels: { [rightsLabel]: 'yes' }, ...(namespace === undefined ? {} : { namespace }) },
    });
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: last }];
    const of = (kind: string) => ({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: last },
      subjects: subjects.map((subject) => ({ ...subject, name: `${last}-${kind}` })),
    });
    await apply([
      ...randomRights(dice, round),
      { ...head('Role', 'shop'), rules },
      { ...head('ClusterRole'), rules },
      { ...head('RoleBinding', 'shop'), ...of('Role') },
      { ...head('ClusterRoleBinding'), ...of('ClusterRole') },
    ]);
    for (const kind of ['Role', 'ClusterRole']) {
      const resourceAttributes = { verb: 'get', resource: 'configmaps', namespace: 'shop' };
      const review = { spec: { user: `${last}-${kind}`, resourceAttributes } };
      await eventually(async () => {
        const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
        const { status } = await admin.post<{ status: { allowed: boolean } }>(path, review);
        expect(status.allowed).toBe(true);
      });
      // A revert reads the recorded state by the roles that the gateway knows.
      for (const mode of modes) {
        await eventually(async () => {
          const query = '{ configMap(namespace: "shop", name: "one") { id } }';
          const named = { 'x-remote-user': review.spec.user };
          expect((await asked(mode, query, { headers: named, certificate: front })).errors).toBeUndefined();
        });
      }
    }
  }

  /** The answer of a gateway. */
  async function asked(
    mode: Way['mode'],
    query: string,
    more: Partial<Parameters<typeof askOverTls>[1]>,
  ): Promise<Answer<Record<string, Written>>> {
    const { body } = await askOverTls(must(gateways.get(mode), 'a gateway').url, { ca: proxies.ca, query, ...more });
    return body as Answer<Record<string, Written>>;
  }

  /** Makes the revision of a rollback, and waits until the gateway has the state of a revert. */
  async function prepare({ way: { mode }, write }: Pick<Sent, 'way' | 'write'>): Promise<void> {
    const { revision, state, kind, namespace } = write;
    if (revision !== null) await admin.post(`/apis/apps/v1/namespaces/${namespace}/${revision.plural}`, revision.body);
    if (state === null) return;
    const places = namespace === null ? '' : `, namespaces: ["${namespace}"]`;
    const page = 'nodes { resourceVersion } pageInfo { hasNextPage endCursor }';
    const query = `query ($after: String) { changes(since: "-2h", kinds: ["${kind.kind}"]${places}, first: 100, after: $after) { ${page} } }`;
    await eventually(async () => {
      const versions: (string | null)[] = [];
      for (let after: string | null = null, isMore = true; isMore; ) {
        const variables = { after };
        const headers = { authorization: `Bearer ${plane.token}` };
        const { data } = (await asked(mode, query, { variables, headers })) as unknown as Answer<{ changes: Page }>;
        const { nodes, pageInfo }: Page = must(data, 'the changes').changes;
        versions.push(...nodes.map(({ resourceVersion }) => resourceVersion));
        isMore = pageInfo.hasNextPage;
        after = pageInfo.endCursor;
      }
      expect(versions).toContain(state.metadata.resourceVersion);
    });
  }

  /** Can the gateway not name this caller to the API server? */
  function isRefused({ mode, by }: Way, { user }: WritingCaller): boolean {
    const hasUid = by === 'proxy with uid and extra';
    if (by === 'token') return false;
    if (mode === 'off') return true;
    if (mode === 'constrained') return !isSince(plane.version, 1, 36) || (user === robot && by !== 'proxy');
    return hasUid && !isSince(plane.version, 1, 22);
  }

  /** Most are ways in which the write is sent. */
  function wayIn(dice: Dice): Way {
    const sent = byProxy.filter((way) => callers.some((caller) => !isRefused(way, caller)));
    return dice.choose([
      [4, () => dice.pick(token)],
      [8, () => dice.pick(sent)],
      [1, () => dice.pick(byProxy)],
    ]);
  }

  /** The answer of the gateway. */
  async function answerOf({ caller, way, write }: Sent): Promise<Answer<Record<string, Written>>> {
    const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
    const groups = caller.user === robot ? robotGroups : caller.groups;
    const named = {
      'x-remote-user': bytes(caller.user),
      'x-remote-group': groups.map(bytes),
      ...(way.by === 'proxy with uid and extra' ? { 'x-remote-uid': ownUid } : {}),
      ...(way.by === 'proxy' ? {} : { [`x-remote-extra-${encodeURIComponent(scopesKey)}`]: scopes }),
    };
    const { args, verb } = write;
    const options = { ...(args['options'] as object | undefined), waitMs: 0 };
    return asked(way.mode, mutationOf(verb), {
      variables: { ...args, options },
      ...(way.by === 'token'
        ? { headers: { authorization: `Bearer ${caller.token}` } }
        : { headers: named, certificate: front }),
    });
  }

  /** How the answer or the object differs from what kubectl says; null if neither does. */
  function difference(
    { write, before, verdict }: Sent,
    { data, errors }: Answer<Record<string, Written>>,
    after: ReadObject | null,
  ): string | null {
    const isSame = before?.metadata.resourceVersion === after?.metadata.resourceVersion;
    if (verdict === 'refused') {
      const own = data?.[write.verb]?.items[0]?.errors[0];
      const isForbidden = errors?.[0]?.extensions?.['code'] === 'FORBIDDEN' || own?.by === 'GATEWAY';
      if (!isForbidden) return 'is not refused';
      return isSame ? null : 'is refused and changes the object';
    }
    // The gateway itself decides whether a caller may read what an object was. The API server decides the rest, with the read of now.
    if (verdict?.isOfRead === true && write.verb === 'revert') {
      const own = data?.[write.verb]?.items[0]?.errors[0];
      if (errors?.[0]?.extensions?.['code'] !== 'FORBIDDEN' && own?.by !== 'RBAC') return 'may not be read';
      return isSame ? null : 'may not be read and changes the object';
    }
    const items = data?.[write.verb]?.items;
    if (items?.length !== 1) return 'has not one item';
    const [item] = items;
    const [error] = item?.errors ?? [];
    if (verdict === null) {
      if (error !== undefined) return 'is allowed by kubectl';
      return !isSame && write.isDoneIn(after) ? null : 'does not do what it says';
    }
    const [code] = must(codes[verdict.reason], verdict.reason);
    if (error?.code !== code) return `is ${verdict.reason} for kubectl`;
    if (code === 'DENIED' && error.by !== 'RBAC') return 'is denied by RBAC';
    if (code !== 'FIELD_CONFLICT' && error.message.trimEnd() !== verdict.message) return 'has other words';
    return isSame && item?.result === 'NONE' ? null : 'fails and changes the object';
  }

  /** The line that the audit log must have of a write; null if nothing is sent. */
  function expectedLine({ caller, way, write, verdict }: Sent): string | null {
    if (verdict === 'refused' || verdict?.isOfRead === true) return null;
    const { verb, kind, namespace, name, patch } = write;
    const creates = verb === 'create' || (verb === 'revert' && patch === null);
    const method = creates || verb === 'evict' ? 'create' : verb === 'delete' ? 'delete' : 'patch';
    const subresource = verb === 'evict' ? 'eviction' : (patch?.subresource ?? '');
    const groups = [...caller.groups, ...(caller.user === robot ? robotGroups : []), 'system:authenticated'];
    const byToken = { credentials: caller.user, uid: caller.uid, extra: {} };
    const carried = {
      uid: way.by === 'proxy with uid and extra' ? ownUid : '',
      extra: way.by === 'proxy' ? {} : { [scopesKey]: scopes },
    };
    return JSON.stringify({
      request: [method, kind.plural, subresource, namespace ?? '', creates ? '' : name].join(' '),
      code: verdict === null ? 'done' : must(codes[verdict.reason], verdict.reason)[1],
      name: caller.user,
      groups: groups.toSorted(),
      ...(way.by === 'token' ? byToken : { credentials: `${accounts}${way.mode}`, ...carried }),
    });
  }

  /** A request in the audit log, in the same form. */
  function auditedLine({ user, impersonatedUser, verb, objectRef, responseStatus: { code } }: AuditedRequest): string {
    const { resource, subresource = '', namespace = '', name = '' } = objectRef;
    const author = impersonatedUser ?? user;
    // The API server itself adds these to a token of a service account.
    const extra = Object.entries(author.extra ?? {}).filter(
      ([key]) => !key.startsWith('authentication.kubernetes.io/'),
    );
    const isCollection = verb === 'create' && subresource === '';
    return JSON.stringify({
      request: [verb, resource, subresource, namespace, isCollection ? '' : name].join(' '),
      code: code < 300 ? 'done' : code,
      name: author.username,
      groups: (author.groups ?? []).toSorted(),
      credentials: user.username,
      uid: author.uid ?? '',
      extra: Object.fromEntries(extra),
    });
  }

  test('each write is allowed or denied as kubectl is, and has its caller as the author', async () => {
    const dice = new Dice(seed);
    const mismatches: string[] = [];
    const lines: string[] = [];
    const outcomes = new Map<string, number>();
    const verdictOf = (way: Way, caller: WritingCaller, write: CallerWrite) =>
      isRefused(way, caller) ? ('refused' as const) : kubectlVerdict(kubectl, caller, write);
    for (let done = 0; done < writes; done += atOnce) {
      if (done % inRound === 0) await startRound(dice, done / inRound);
      const group: Sent[] = [];
      for (let serial = done; serial < Math.min(done + atOnce, writes); serial += 1) {
        const taken = new Set(group.map(({ write }) => write.path));
        const statesOf = (path: string): readonly ReadObject[] => states.get(path) ?? [];
        const chosen = await randomCallerWrite(dice, 'east', serial, read, statesOf, taken);
        const [caller, way] = [dice.pick(callers), wayIn(dice)];
        await prepare({ way, write: chosen.write });
        group.push({ ...chosen, caller, way, verdict: await verdictOf(way, caller, chosen.write) });
      }
      const answers = await Promise.all(group.map(answerOf));
      for (const [index, sent] of group.entries()) {
        const { caller, way, write, verdict } = sent;
        const answer = must(answers[index], 'an answer');
        const differs = difference(sent, answer, await read(write.path));
        const what = { user: caller.user, ...way, verb: write.verb, path: write.path, patch: write.patch };
        const told =
          answer.errors ?? answer.data?.[write.verb]?.items.map(({ result, errors }) => ({ result, errors }));
        if (differs !== null) mismatches.push(`${differs}: ${JSON.stringify({ ...what, verdict, told })}`);
        const line = expectedLine(sent);
        if (line !== null) lines.push(line);
        const outcome = verdict === null ? 'done' : verdict === 'refused' ? 'refused' : verdict.reason;
        for (const part of ['writes', caller.user, write.verb, `${way.mode} by ${way.by}`]) {
          outcomes.set(`${part}: ${outcome}`, (outcomes.get(`${part}: ${outcome}`) ?? 0) + 1);
        }
      }
    }
    await closeGateways();
    // What is not in the log by now will not be.
    await plane.killApiServer('SIGTERM');
    const audited = auditedRequests(auditLog).filter(
      ({ user }) => user.username !== 'admin' && user.username !== 'system:apiserver',
    );
    const counts = { randomWrites: plane.version.text, seed, writes, sent: lines.length, audited: audited.length };
    process.stdout.write(
      `${JSON.stringify({ ...counts, mismatches: mismatches.length, outcomes: Object.fromEntries([...outcomes].toSorted()) })}\n`,
    );
    // Each of the three shows other faults.
    expect.soft(mismatches).toEqual([]);
    const byGateways = audited.filter((entry) => (entry.impersonatedUser ?? entry.user).username.startsWith(accounts));
    expect.soft(byGateways).toEqual([]);
    expect.soft(audited.map(auditedLine).toSorted()).toEqual(lines.toSorted());
    if (seed !== usualSeed && writes < 1000) return;
    const verbs = [
      ...['apply', 'create', 'patch', 'delete', 'scale', 'restart', 'cordon', 'evict'],
      ...['edit', 'revert', 'rollback'],
    ];
    for (const part of [...callers.map(({ user }) => user), ...verbs]) {
      expect(outcomes, `${part} is allowed once and denied once`).toSatisfy(hasBoth(part));
    }
  });

  const hasBoth =
    (part: string) =>
    (outcomes: ReadonlyMap<string, number>): boolean =>
      outcomes.has(`${part}: done`) && outcomes.has(`${part}: Forbidden`);
});
