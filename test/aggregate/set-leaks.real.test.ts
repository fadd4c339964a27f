/**
 * Users with random rights read and write sets in every form. No answer has a value of a member that the user may not read, and one set, read
 * by its name, shows each value that the user may read.
 *
 *   each member of each set has a text of its own -> random roles -> SubjectAccessReviews say who may get or list which member
 *     -> all answers of a user are searched for the texts of the others, also in base64
 *
 * A ShadowRecord has kubectl's last-applied annotation without data of Secrets and without redacted values. So whoever may get records by
 * GraphQL may see the other values.
 *
 * PORTOLAN_SETS is the number of sets, PORTOLAN_SEED chooses the rights.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type AggregatedPlane, startAggregatedPlane } from '../kit/aggregated-plane.ts';
import { type ApiAnswer, type ApiRequest, apiRequest } from '../kit/api-request.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { runKubectl } from '../kit/kubectl-run.ts';
import { setWidgetCrd } from '../kit/random-members.ts';
import { randomSetRights } from '../kit/random-set-rights.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { seededRandom } from '../kit/seeded-random.ts';

const count = Number(process.env['PORTOLAN_SETS'] ?? 12);
const seed = Number(process.env['PORTOLAN_SEED'] ?? 38);
const namespaces = ['north', 'south', 'west'];
const users = ['u0', 'u1', 'u2', 'records', 'sets'];
const group = 'shadow.portolan.dev';
const tokenOf = (user: string): string => `token-of-${user}`;

interface PlantedMember {
  readonly group: string;
  readonly resource: string;
  readonly name: string;
  readonly text: string;
  /** Its value is in no record. */
  readonly isWithheld: boolean;
  readonly manifest: object;
}

interface PlantedSet {
  readonly namespace: string;
  readonly name: string;
  readonly members: readonly PlantedMember[];
}

const sets = Array.from({ length: count }, (_, index) => plantedSet(index));

describeOn(
  [mainServer],
  'values of members that a user may not read',
  { timeout: 60_000 + count * 3000, needs: ['kubectl'] },
  (server) => {
    let aggregated: AggregatedPlane;
    let gateway: RunningGateway;
    const clients = new Map<string, RestClient>();
    /** `verb user namespace/resource/name` of what users may get or list. */
    const allowed = new Set<string>();
    const told = new Map<string, { readonly what: string; readonly text: string }[]>();

    beforeAll(async () => {
      aggregated = await startAggregatedPlane({
        server,
        flags: {
          impersonate: 'constrained',
          redact: ['deployments=spec.template.spec.containers[].env'],
          readOnly: 'false',
        },
        users: ['owner', ...users].map((user) => ({ token: tokenOf(user), user, groups: [] })),
        run: async ({ kubeconfigPath: kubeconfig }, flags) => {
          gateway = await runGateway({ name: 'real', kubeconfig }, flags);
          return gateway;
        },
        prepare: async (plane) => {
          await plane.kubectl(['create', '-f', '-'], JSON.stringify(setWidgetCrd));
          await plane.kubectl(['wait', '--for=condition=Established', 'crd/widgets.sets.example']);
          await plane.kubectl(['create', 'clusterrolebinding', 'owner', '--clusterrole=cluster-admin', '--user=owner']);
          const rights = randomSetRights({
            ...{ random: seededRandom(seed), users, namespaces },
            kinds: ['configmaps', 'secrets', 'deployments', 'widgets'].map((resource) => {
              const ofKind = sets.flatMap(({ members }) => members).filter((member) => member.resource === resource);
              return { group: ofKind[0]?.group ?? '', resource, names: ofKind.map(({ name }) => name) };
            }),
            sets: { group, resource: 'shadowresources', names: sets.map(({ name }) => name) },
            records: { group: 'portolan.dev', resource: 'shadowrecords' },
          });
          const own = namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
          const text = [...own, ...rights].map((manifest) => JSON.stringify(manifest)).join('\n---\n');
          await plane.kubectl(['apply', '-f', '-'], text);
        },
      });
      for (const user of ['owner', ...users]) {
        const kubeconfig = aggregated.plane.writeKubeconfig(user, { token: tokenOf(user) });
        clients.set(user, new RestClient(await connect({ kubeconfig })));
      }
      const owner = clientOf('owner');
      await eventually(() => owner.get(setPath('north')));
      for (const { namespace, name, members } of sets) {
        const flowList = members.map(({ manifest }) => manifest);
        const text = `${JSON.stringify(setOf({ namespace, name }, flowList))}\n`;
        const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': text };
        await owner.post(setPath(namespace), setOf({ namespace, name, annotations }, flowList));
      }
      const admin = new RestClient(await connect({ kubeconfig: aggregated.plane.kubeconfigPath }));
      for (const user of users) {
        for (const { namespace, name, members } of sets) {
          const asked = [...members, { group, resource: 'shadowresources', name }];
          for (const verb of ['get', 'list']) {
            const answers = await Promise.all(
              asked.map(({ group: of, resource, name: named }) =>
                admin.post<{ status: { allowed: boolean } }>('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
                  apiVersion: 'authorization.k8s.io/v1',
                  kind: 'SubjectAccessReview',
                  spec: { user, resourceAttributes: { verb, group: of, resource, namespace, name: named } },
                }),
              ),
            );
            asked.forEach(({ resource, name: named }, index) => {
              if (answers[index]?.status.allowed) allowed.add(`${verb} ${user} ${namespace}/${resource}/${named}`);
            });
          }
        }
      }
      await admin.connection.close();
    }, 300_000);
    afterAll(async () => {
      for (const client of clients.values()) await client.connection.close();
      await aggregated?.stop();
    }, 60_000);

    const clientOf = (user: string): RestClient => must(clients.get(user), 'a client of the user');
    const mayGet = (user: string, namespace: string, { resource, name }: Pick<PlantedMember, 'resource' | 'name'>) =>
      allowed.has(`get ${user} ${namespace}/${resource}/${name}`);
    /** Lists have whole objects. */
    const mayRead = (user: string, namespace: string, member: PlantedMember) =>
      mayGet(user, namespace, member) || allowed.has(`list ${user} ${namespace}/${member.resource}/${member.name}`);
    const note = (user: string, what: string, text: string): string => {
      told.set(user, [...(told.get(user) ?? []), { what, text }]);
      return text;
    };
    /** A request of the user. An answer that is an error is told as well. */
    const send = async (user: string, path: string, asked: ApiRequest = {}): Promise<ApiAnswer> => {
      const answer = await apiRequest(aggregated.plane, tokenOf(user), path, asked);
      note(user, `${asked.method ?? 'GET'} ${path} ${asked.accept ?? ''}`, answer.text);
      return answer;
    };
    const kubectl = async (user: string, args: readonly string[], input?: object): Promise<string> => {
      const { stdout, stderr } = await runKubectl(server, aggregated.plane, { token: tokenOf(user), args, input });
      return note(user, `kubectl ${args.join(' ')}`, stdout + stderr);
    };

    test('one set by its name shows what the user may get, and nothing else', async () => {
      let shown = 0;
      for (const user of users) {
        for (const { namespace, name, members } of sets) {
          const { status, text } = await send(user, `${setPath(namespace)}/${name}`);
          expect(status, `${user} ${name}`).toBe(
            mayGet(user, namespace, { resource: 'shadowresources', name }) ? 200 : 403,
          );
          if (status !== 200) continue;
          const list = JSON.stringify(JSON.parse(text).spec.flowList);
          for (const member of members) {
            const isShown = list.includes(member.text) || list.includes(encoded(member.text));
            // What the tables do not have is got as the user.
            const may = member.isWithheld ? mayGet : mayRead;
            expect(isShown, `${user} ${namespace}/${name} ${member.resource}`).toBe(may(user, namespace, member));
            if (isShown) shown += 1;
          }
        }
      }
      expect(shown).toBeGreaterThan(0);
      expect(shown).toBeLessThan(users.length * sets.length * 4);
    });

    test('lists and watches, as JSON, tables and metadata', async () => {
      const as = 'g=meta.k8s.io;v=v1';
      const accepts = [
        'application/json',
        `application/json;as=Table;${as}`,
        `application/json;as=PartialObjectMetadataList;${as}`,
      ];
      const watch =
        'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1';
      const places = [...namespaces.map(setPath), `/apis/${group}/v1alpha1/shadowresources`];
      const answered = new Map<number, number>();
      for (const user of users) {
        const answers = await Promise.all(
          places.flatMap((path) =>
            accepts.flatMap((accept) => [
              send(user, `${path}?includeObject=Object`, { accept }),
              send(user, `${path}?limit=2`, { accept }),
              send(user, `${path}?${watch}&includeObject=Object`, {
                accept: accept.replace('MetadataList', 'Metadata'),
              }),
            ]),
          ),
        );
        for (const { status } of answers) answered.set(status, (answered.get(status) ?? 0) + 1);
      }
      expect([...answered.keys()].toSorted()).toEqual([200, 403]);
    });

    test('kubectl: describe, get and diff', async () => {
      for (const user of users) {
        for (const namespace of namespaces) {
          await kubectl(user, ['describe', 'shadow', '-n', namespace]);
          await kubectl(user, ['get', 'shadow', '-n', namespace, '-o', 'yaml']);
          const { name, members } = must(
            sets.find((set) => set.namespace === namespace),
            'a set of the namespace',
          );
          // The user submits other values for all members: the present ones must not come back.
          const flowList = members.map(({ manifest }) =>
            JSON.parse(JSON.stringify(manifest).replaceAll('planted-', 'other-')),
          );
          await kubectl(user, ['diff', '-n', namespace, '-f', '-'], setOf({ namespace, name }, flowList));
        }
      }
    });

    test('the answers of writes, and of tests of a JSON patch', async () => {
      const guessed = new Map<boolean, Set<string>>();
      for (const user of users) {
        for (const { namespace, name, members } of sets) {
          const path = `${setPath(namespace)}/${name}`;
          await send(user, `${path}?dryRun=All`, merged({ metadata: { labels: { tried: user } } }));
          await send(user, path, merged({ metadata: { labels: { seen: user } } }));
          const got = await send(user, path);
          if (got.status === 200) await send(user, `${path}?dryRun=All`, { method: 'PUT', body: got.text });
          const other = JSON.parse(
            JSON.stringify(members.map(({ manifest }) => manifest)).replaceAll('planted-', 'other-'),
          );
          for (const force of [true, false]) {
            await send(user, `${path}?fieldManager=kubectl&dryRun=All&force=${force}`, {
              ...{ method: 'PATCH', type: 'application/apply-patch+yaml' },
              body: setOf({ namespace, name }, other),
            });
          }
          const secret = must(
            members.find(({ resource }) => resource === 'secrets'),
            'a Secret',
          );
          for (const isRight of [true, false]) {
            const value = encoded(isRight ? secret.text : 'wrong');
            const test = { op: 'test', path: '/spec/flowList/1/data/pin', value };
            const { status, text } = await send(user, `${path}?dryRun=All`, {
              ...{ method: 'PATCH', type: 'application/json-patch+json' },
              body: [test],
            });
            if (mayGet(user, namespace, secret)) continue;
            const all = guessed.get(isRight) ?? new Set();
            guessed.set(isRight, all.add(`${status} ${text}`));
          }
        }
      }
      // A right guess of a hidden value is answered as a wrong one.
      expect(guessed.get(true)).toEqual(guessed.get(false));
    });

    test('GraphQL: sets, members, manifests and memberOf', async () => {
      const document = `{
        sets(first: 100) { nodes {
          raw setHealth { status reason message } metadata { name annotations }
          members { kind name state manifest object { raw } }
        } }
        portolanDevShadowRecords(first: 100) { nodes { raw } }
        configMaps(first: 100) { nodes { metadata { name } memberOf { raw } } }
        secrets(first: 100) { nodes { metadata { name } memberOf { raw } } }
      }`;
      let seen = 0;
      for (const user of users) {
        const answer = await ask(gateway.url, document, {}, { authorization: `Bearer ${tokenOf(user)}` });
        note(user, 'GraphQL', JSON.stringify(answer));
        if (JSON.stringify(answer.data?.['sets'] ?? '').includes('set-')) seen += 1;
      }
      expect(seen).toBeGreaterThan(0);
    });

    test('no answer has a value that its user may not read', () => {
      const leaks: string[] = [];
      let searched = 0;
      for (const user of users) {
        for (const { namespace, members } of sets) {
          for (const member of members) {
            if (mayRead(user, namespace, member)) continue;
            for (const { what, text } of told.get(user) ?? []) {
              // Records are shown whole to those who may get them, and to nobody else.
              if (what === 'GraphQL' && user === 'records' && !member.isWithheld) continue;
              searched += 1;
              if (forms(member.text).some((form) => text.includes(form))) {
                leaks.push(`${user}: ${member.resource} ${namespace}/${member.name} in ${what}`);
              }
            }
          }
        }
      }
      expect(leaks).toEqual([]);
      expect(searched).toBeGreaterThan(1000);
    });
  },
);

function setPath(namespace: string): string {
  return `/apis/${group}/v1alpha1/namespaces/${namespace}/shadowresources`;
}

function setOf(metadata: object, flowList: readonly object[]): object {
  return { apiVersion: `${group}/v1alpha1`, kind: 'ShadowResource', metadata, spec: { flowList } };
}

function merged(body: object): ApiRequest {
  return { method: 'PATCH', type: 'application/merge-patch+json', body };
}

/** The text, and what is always in the base64 of a text that has it. */
function forms(text: string): readonly string[] {
  return [text, ...[0, 1, 2].map((before) => encoded(`${'x'.repeat(before)}${text}`).slice(before === 0 ? 0 : 4, -4))];
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

function plantedSet(index: number): PlantedSet {
  const namespace = namespaces[index % namespaces.length] ?? '';
  const metadata = { name: `m-${index}`, namespace };
  const text = (of: string): string => `planted-${of}-${index}-${((index + 7) * 7919).toString(36)}`;
  const app = { app: metadata.name };
  const container = { name: 'main', image: 'nginx', env: [{ name: 'PIN', value: text('env') }] };
  const template = { metadata: { labels: app }, spec: { containers: [container] } };
  const members: readonly Omit<PlantedMember, 'name'>[] = [
    {
      ...{ group: '', resource: 'configmaps', text: text('config'), isWithheld: false },
      manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: text('config') } },
    },
    {
      ...{ group: '', resource: 'secrets', text: text('secret'), isWithheld: true },
      manifest: { apiVersion: 'v1', kind: 'Secret', metadata, data: { pin: encoded(text('secret')) } },
    },
    {
      ...{ group: 'apps', resource: 'deployments', text: text('env'), isWithheld: true },
      manifest: {
        ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata },
        spec: { replicas: 1, selector: { matchLabels: app }, template },
      },
    },
    {
      ...{ group: 'sets.example', resource: 'widgets', text: text('widget'), isWithheld: false },
      manifest: { apiVersion: 'sets.example/v1', kind: 'Widget', metadata, spec: { more: { x: text('widget') } } },
    },
  ];
  return { namespace, name: `set-${index}`, members: members.map((each) => ({ ...each, name: metadata.name })) };
}
