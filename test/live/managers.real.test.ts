/**
 * Random writes by several managers on a real API server, whose audit log says who made each change. The history names that manager or
 * nobody. It names the manager of each change after which the manager's time is newer than all times before.
 *
 * PORTOLAN_MANAGED_WRITES is the number of writes, PORTOLAN_SEED chooses them.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Dice } from '../fuzz/dice.ts';
import { type ApiRequest, apiRequest } from '../kit/api-request.ts';
import { type AuditEvent, auditEvents } from '../kit/audit-events.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { isSince } from '../kit/server-version.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

const writes = Number(process.env['PORTOLAN_MANAGED_WRITES'] ?? randomRuns(40, 120));
const seed = Number(process.env['PORTOLAN_SEED'] ?? '39');

interface ManagerEntry {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string | null;
  readonly time: string;
}

interface Written {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly managedFields?: readonly ManagerEntry[];
  };
}

interface Told {
  readonly type: string;
  readonly kind: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly managers: readonly ManagerEntry[];
}

interface Page {
  readonly nodes: readonly Told[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
}

/** What the audit log says of one change of an object. */
interface Audited {
  readonly by: string;
  /** Null where the answer does not have the object, as that of `scale`. */
  readonly managers: readonly ManagerEntry[] | null;
}

const managers = ['kubectl', 'argocd', 'helm', 'operator'];
const fields = ['a', 'b', 'c', 'd'];
const namespace = 'managed';
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    { level: 'None', verbs: ['get', 'list', 'watch'] },
    {
      level: 'RequestResponse',
      resources: [
        { group: '', resources: ['configmaps'] },
        { group: 'apps', resources: ['deployments', 'deployments/status', 'deployments/scale'] },
      ],
      namespaces: [namespace],
    },
    { level: 'None' },
  ],
};

const media = { merge: 'application/merge-patch+json', json: 'application/json-patch+json' };
const apply = 'application/apply-patch+yaml';

describeOn([mainServer, oldServer], 'managers of recorded changes', { timeout: 600_000 }, (server) => {
  let plane: ControlPlane;
  let gateway: RunningGateway;
  let auditLog: string;

  beforeAll(async () => {
    const folder = sharedDirectory('managers');
    auditLog = join(folder, 'audit.log');
    const policyFile = join(folder, 'audit-policy.json');
    writeFileSync(policyFile, JSON.stringify(policy));
    plane = await startControlPlane({ server, apiServer: { audit: { policyFile, logFile: auditLog } } });
    await send('/api/v1/namespaces', { method: 'POST', body: { metadata: { name: namespace } } });
    gateway = await runGateway({ kubeconfig: plane.kubeconfigPath }, { leaseMs: '10000' });
  }, 240_000);
  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  });

  async function send(path: string, request: ApiRequest): Promise<number> {
    return (await apiRequest(plane, plane.token, path, request)).status;
  }

  /** One write, which the server may refuse. */
  function randomWrite(dice: Dice): Promise<number> {
    const isDeployment = dice.chance(0.4);
    const root = isDeployment
      ? `/apis/apps/v1/namespaces/${namespace}/deployments`
      : `/api/v1/namespaces/${namespace}/configmaps`;
    const name = `o${dice.below(3)}`;
    const by = `fieldManager=${dice.pick(managers)}`;
    const path = `${root}/${name}?${by}`;
    const chosen = dice.sample(fields, 4);
    const values = Object.fromEntries(chosen.map((field) => [field, String(dice.below(3))]));
    const container = { name: 'c', image: `i:${dice.below(3)}` };
    const body = {
      apiVersion: isDeployment ? 'apps/v1' : 'v1',
      kind: isDeployment ? 'Deployment' : 'ConfigMap',
      metadata: { name, annotations: values, ...(dice.chance(0.2) ? { finalizers: ['example.com/keep'] } : {}) },
      ...(isDeployment
        ? {
            spec: {
              ...(dice.chance(0.5) ? { replicas: dice.below(3) } : {}),
              selector: { matchLabels: { app: 'a' } },
              template: { metadata: { labels: { app: 'a' } }, spec: { containers: [container] } },
            },
          }
        : { data: values }),
    };
    const patch = (type: string, content: unknown, to = path): Promise<number> =>
      send(to, { method: 'PATCH', type, body: content });
    switch (dice.below(12)) {
      case 0:
        return send(`${root}?${by}`, { method: 'POST', body });
      case 1:
      case 2:
      case 3:
        return patch(apply, JSON.stringify(body), `${path}&force=true`);
      case 4:
        return send(path, { method: 'PUT', body });
      case 5:
        return patch(media.merge, { metadata: { annotations: values } });
      case 6:
        // Removals give nobody a new time.
        return patch(media.merge, {
          metadata: { annotations: Object.fromEntries(chosen.map((field) => [field, null])) },
        });
      case 7:
        return patch(media.json, [{ op: 'remove', path: `/metadata/annotations/${dice.pick(fields)}` }]);
      case 8:
        return patch(media.merge, { metadata: { managedFields: [{}] } });
      case 9:
        if (!isDeployment) return patch(media.merge, { metadata: { finalizers: null } });
        return patch(media.merge, { status: { observedGeneration: dice.below(9) } }, `${root}/${name}/status?${by}`);
      case 10:
        if (!isDeployment) return patch(media.merge, { data: values });
        return patch(media.merge, { spec: { replicas: dice.below(4) } }, `${root}/${name}/scale?${by}`);
      default:
        return send(path, { method: 'DELETE' });
    }
  }

  async function recorded(): Promise<readonly Told[]> {
    const found: Told[] = [];
    for (let after: string | null = null; ; ) {
      const answer: { changes: Page } = await data(
        gateway.url,
        `query ($after: String) { changes(since: "-1h", kinds: ["configmaps", "deployments.apps"], namespaces: ["${namespace}"], first: 100, after: $after) {
          nodes { type kind name resourceVersion managers { manager operation subresource time } }
          pageInfo { hasNextPage endCursor }
        } }`,
        { after },
      );
      const { nodes, pageInfo } = answer.changes;
      found.push(...nodes);
      if (!pageInfo.hasNextPage) return found.reverse();
      after = pageInfo.endCursor;
    }
  }

  test('are those of the audit log, or nobody', async () => {
    const dice = new Dice(seed);
    let done = 0;
    while (done < writes) {
      // The times of managers are whole seconds: some writes come in the second of the last one, and some in a later one.
      if (dice.chance(0.3)) await sleep(1_005 - (Date.now() % 1000));
      if ((await randomWrite(dice)) < 300) done += 1;
    }
    const audited = await eventually(() => {
      const found = changesOf(auditEvents(auditLog), isSince(plane.version, 1, 22));
      expect(found.size).toBeGreaterThan(writes / 2);
      return found;
    });
    const told = await eventually(async () => {
      const found = await recorded();
      expect(
        [...audited.keys()].filter((version) => !found.some(({ resourceVersion }) => resourceVersion === version)),
      ).toEqual([]);
      return found;
    });
    const wrong: string[] = [];
    const counts = { changes: 0, named: 0, nobody: 0 };
    const before = new Map<string, readonly ManagerEntry[] | null>();
    for (const { type, kind, name, resourceVersion, managers: named } of told) {
      const change = audited.get(resourceVersion);
      const object = `${kind} ${name}`;
      if (type === 'DELETED' || change === undefined) {
        if (named.length > 0) wrong.push(`${type} ${object} at ${resourceVersion}: ${texts(named)}`);
        before.delete(object);
        continue;
      }
      counts.changes += 1;
      const known = before.get(object);
      const newest = Math.max(0, ...(known ?? []).map(({ time }) => Date.parse(time)));
      const isNewer = change.managers?.some((each) => textOf(each) === change.by && Date.parse(each.time) > newest);
      const mustBeNamed = isNewer === true && known !== null;
      const isRight = named.every((each) => textOf(each) === change.by) && named.length <= 1;
      if (!isRight || (mustBeNamed && named.length === 0)) {
        wrong.push(
          `${type} ${object} at ${resourceVersion} by ${change.by}: ${texts(named)}, before ${texts(known ?? [])}, after ${texts(change.managers ?? [])}`,
        );
      }
      counts[named.length > 0 ? 'named' : 'nobody'] += 1;
      before.set(object, change.managers);
    }
    process.stdout.write(
      `${JSON.stringify({ test: 'managers of changes', server: server.name, seed, writes, ...counts, wrong: wrong.length })}\n`,
    );
    expect(wrong).toEqual([]);
    expect(Math.min(counts.named, counts.nobody)).toBeGreaterThan(writes / 10);
  });
});

/** Who made each version of an object. @param isTold do managedFields name the subresource? */
function changesOf(events: readonly AuditEvent[], isTold: boolean): ReadonlyMap<string, Audited> {
  const found = new Map<string, Audited>();
  for (const { requestURI, responseObject, objectRef, responseStatus } of events) {
    const { metadata } = (responseObject ?? {}) as Partial<Written>;
    if ((responseStatus?.code ?? 500) >= 300 || metadata?.resourceVersion === undefined) continue;
    const query = new URL(requestURI, 'https://server').searchParams;
    const operation = query.has('force') ? 'Apply' : 'Update';
    const { subresource } = objectRef ?? {};
    const by = textOf({
      manager: query.get('fieldManager') ?? '',
      operation,
      subresource: isTold ? (subresource ?? null) : null,
      time: '',
    });
    // A write that changes nothing has the version of the write before.
    if (found.has(metadata.resourceVersion)) continue;
    found.set(metadata.resourceVersion, {
      by,
      managers: subresource === 'scale' ? null : (metadata.managedFields ?? []),
    });
  }
  return found;
}

function textOf({ manager, operation, subresource }: ManagerEntry): string {
  return [manager, operation, subresource ?? ''].join(' ').trim();
}

function texts(entries: readonly ManagerEntry[]): string {
  return `[${entries.map((each) => `${textOf(each)} ${each.time.slice(14, 19)}`).join(', ')}]`;
}
