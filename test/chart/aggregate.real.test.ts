/**
 * The aggregated API server, installed by the chart on Kubernetes 1.37: a rolling upgrade under load, and the policies that hold its account.
 * It makes its certificates itself, and the upgrade leaves the authority in the APIService.
 * The Deployment, its Pods and its endpoints are those of the real controllers. The Pods run as processes (test/kit/process-pods.ts).
 */
import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { chartFolder } from '../../deploy/chart-source/chart-files.ts';
import { messageOf } from '../../src/base/errors.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { auditEvents } from '../kit/audit-events.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../kit/certificates.ts';
import { describeWithHelm, helmPath, manifestsOf, renderValues } from '../kit/chart.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type ProcessPods, runProcessPods } from '../kit/process-pods.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { sharedDirectory } from '../kit/temporary-directory.ts';

const run = promisify(execFile);
const folder = sharedDirectory('chart-aggregate');
const chart = fileURLToPath(chartFolder);
const apiService = 'v1alpha1.shadow.portolan.dev';

describeOn(
  [mainServer],
  'the aggregated API server of the chart',
  { timeout: 240_000, needs: ['kube-controller-manager', 'kubectl'] },
  (server) => {
    describeWithHelm('with helm', () => {
      let plane: ControlPlane;
      let authority: CertificateAuthority;
      let pods: ProcessPods;
      let close = async (): Promise<void> => {};
      const requestLog = join(folder, 'requests.log');
      const write = (name: string, text: string): string => {
        writeFileSync(join(folder, name), text, { mode: 0o600 });
        return join(folder, name);
      };
      const kubectl = (args: readonly string[], stdin?: string): Promise<string> => plane.kubectl(args, stdin);
      const apply = (...objects: readonly object[]): Promise<string> =>
        kubectl(['apply', '--server-side', '-f', '-'], objects.map((each) => JSON.stringify(each)).join('\n---\n'));

      function helm(command: string, values: object): Promise<unknown> {
        const home = { HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
        const file = write('values.json', JSON.stringify(values));
        return run(
          helmPath(),
          [command, 'portolan', chart, '-n', 'portolan', '--values', file, '--kubeconfig', plane.kubeconfigPath],
          { env: { ...process.env, ...home } },
        );
      }

      const values = (step: number): object => ({
        replicas: 0,
        config: { kinds: ['configmaps'], logLevel: 'warn' },
        podAnnotations: { step: String(step) },
        aggregate: {
          enabled: true,
          policy: { records: 'named' },
        },
      });

      beforeAll(async () => {
        authority = await createCertificateAuthority('Proxies');
        const front = await authority.issue({ names: [], commonName: 'aggregator' });
        const rules = [{ level: 'Metadata', resources: [{ group: 'shadow.portolan.dev' }] }, { level: 'None' }];
        plane = await startControlPlane({
          server,
          controllerManager: true,
          apiServer: {
            serviceAddresses: '127.10.0.0/24',
            proxyCaFile: write('proxy-ca.crt', authority.ca),
            aggregator: {
              certFile: write('front.crt', front.cert),
              keyFile: write('front.key', front.key),
              name: 'aggregator',
            },
            audit: {
              policyFile: write(
                'policy.json',
                JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }),
              ),
              logFile: requestLog,
            },
          },
        });
        await kubectl(['create', 'namespace', 'portolan']);
        await helm('install', values(1));
        await kubectl(['create', 'rolebinding', 'jane', '--clusterrole=edit', '--user=jane']);
        const token = (await kubectl(['create', 'token', 'portolan-aggregate', '-n', 'portolan'])).trim();
        const connection = await connect({ env: {}, name: 'real', kubeconfig: plane.kubeconfigPath });
        pods = await runProcessPods({
          client: new RestClient(connection),
          namespace: 'portolan',
          selector: 'app.kubernetes.io/name=portolan-aggregate',
          service: 'portolan-aggregate',
          kubeconfig: plane.writeKubeconfig('account', { token }),
          folder,
        });
        close = async () => {
          await pods.close();
          await connection.close();
        };
        await eventually(
          () => kubectl(['wait', '--for=condition=Available', `apiservice/${apiService}`, '--timeout=5s']),
          120_000,
        );
        await kubectl(['rollout', 'status', 'deployment/portolan-aggregate', '-n', 'portolan', '--timeout=60s']);
      }, 300_000);
      afterAll(async () => {
        await close();
        await plane?.stop();
        authority?.remove();
      }, 60_000);

      test('has no failed request in a rolling upgrade, and is available throughout', {
        timeout: 240_000,
      }, async () => {
        const setAt = (step: number): string =>
          JSON.stringify({
            apiVersion: 'shadow.portolan.dev/v1alpha1',
            kind: 'ShadowResource',
            metadata: { name: 'task', namespace: 'default' },
            spec: {
              flowList: ['one', 'two'].map((name) => ({
                ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { step: String(step) } },
              })),
            },
          });
        const applyAt = (step: number): Promise<string> =>
          kubectl(['apply', '--server-side', '--as=jane', '-f', '-'], setAt(step));
        const failures: string[] = [];
        const over = new AbortController();
        const counts = { applies: 0, gets: 0, looks: 0, watches: 0 };
        const repeat = async (name: keyof typeof counts, work: () => Promise<unknown>): Promise<void> => {
          while (!over.signal.aborted) {
            await work().catch((error: unknown) => failures.push(`${name}: ${messageOf(error)}`));
            counts[name] += 1;
          }
        };
        const conditionOf = async (): Promise<string> =>
          kubectl(['get', 'apiservice', apiService, '-o', 'jsonpath={.status.conditions}']);
        const before = await conditionOf();
        expect(before).toContain('"status":"True"');
        await applyAt(0);
        const old = pods.names();
        expect(old).toHaveLength(2);

        let seen = '';
        const watching = async (): Promise<void> => {
          const child = spawn(server.assets.path('kubectl'), [
            `--kubeconfig=${plane.kubeconfigPath}`,
            ...['get', 'shadow', 'task', '--watch', '-o', 'jsonpath={.spec.flowList[1].data.step}{"\\n"}'],
          ]);
          const stop = (): void => void child.kill('SIGTERM');
          over.signal.addEventListener('abort', stop);
          let errors = '';
          child.stdout.on('data', (chunk: Buffer) => {
            seen += chunk;
          });
          child.stderr.on('data', (chunk: Buffer) => {
            errors += chunk;
          });
          const code = await new Promise((resolve) => child.once('close', resolve));
          over.signal.removeEventListener('abort', stop);
          if (!over.signal.aborted && (code !== 0 || errors !== '')) throw new Error(`ended with ${code}: ${errors}`);
        };
        let step = 0;
        const loops = [
          repeat('watches', watching),
          repeat('applies', () => applyAt(++step)),
          repeat('gets', async () => {
            await kubectl(['get', 'shadow', '--as=jane', '-n', 'default', '-o', 'yaml']);
            // Discovery of the group, over connections that kube-apiserver keeps.
            await kubectl(['get', '--raw', '/apis/shadow.portolan.dev/v1alpha1', '--as=jane']);
          }),
          repeat('looks', async () => expect(await conditionOf()).toBe(before)),
        ];
        onTestFinished(() => over.abort());
        const rounds = (): number => Math.min(counts.applies, counts.gets, counts.looks);
        await eventually(() => expect(rounds()).toBeGreaterThanOrEqual(3), 60_000);

        await helm('upgrade', values(2));
        await kubectl(['rollout', 'status', 'deployment/portolan-aggregate', '-n', 'portolan', '--timeout=120s']);
        await eventually(() => {
          expect(pods.names()).toHaveLength(2);
          expect(pods.names().filter((name) => old.includes(name))).toEqual([]);
        }, 60_000);
        const after = rounds();
        await eventually(() => expect(rounds()).toBeGreaterThanOrEqual(after + 3), 60_000);
        const last = step;
        await eventually(() => expect(seen.trim().split('\n').map(Number)).toContain(last), 20_000);
        // Before the watch is cut off by its client.
        const requests = auditEvents(requestLog);
        const failed = requests.filter(({ responseStatus }) => (responseStatus?.code ?? 0) >= 300);
        over.abort();
        await Promise.all(loops);

        expect(failures).toEqual([]);
        expect(requests.length).toBeGreaterThan(0);
        expect(failed.map(({ verb, requestURI, responseStatus }) => [verb, requestURI, responseStatus])).toEqual([]);
        expect(pods.failures).toEqual([]);
        expect(await conditionOf()).toBe(before);
        // The watch has ended with each old Pod that it was at, and has come to a new one.
        expect(counts.watches).toBeGreaterThanOrEqual(2);
        process.stdout.write(
          `${JSON.stringify({ upgrade: { ...counts, requests: requests.length, failed: failures.length } })}\n`,
        );
      });

      test('policies hold the account, and who writes records', async () => {
        const text = await renderValues(
          { aggregate: { enabled: true, policy: { records: 'named', recordWriters: { groups: ['deployers'] } } } },
          { namespace: 'own' },
        );
        await kubectl(['create', 'namespace', 'own']);
        await kubectl(['delete', 'validatingadmissionpolicy', 'portolan-records']);
        await apply(...manifestsOf(text).filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy')));
        const account = ['--as=system:serviceaccount:own:portolan-aggregate'];
        const users = [account, ['--as=jim'], ['--as=joe', '--as-group=deployers']] as const;
        const [, jim, deployer] = users;
        // So that RBAC refuses nothing of this test.
        await kubectl([
          ...['create', 'clusterrolebinding', 'everything', '--clusterrole=cluster-admin', '--user=jim', '--user=joe'],
          '--serviceaccount=own:portolan-aggregate',
        ]);
        const create = (who: readonly string[], ...args: readonly string[]): Promise<string> =>
          kubectl(['create', ...args, '-n', 'own', ...who]);
        const ofAccount = 'The account of the aggregated API server of Portolan writes ShadowRecords';
        await eventually(() => expect(create(account, 'configmap', 'a')).rejects.toThrow(ofAccount), 30_000);
        const secret = 'portolan-aggregate-certificates';
        await expect(create(account, 'secret', 'generic', 'other')).rejects.toThrow(ofAccount);
        await create(account, 'secret', 'generic', secret);
        await kubectl(['label', 'secret', secret, 'a=b', '-n', 'own', ...account]);
        await expect(kubectl(['delete', 'secret', secret, '-n', 'own', ...account])).rejects.toThrow(ofAccount);
        await expect(kubectl(['delete', 'node', 'processes', ...account])).rejects.toThrow(ofAccount);
        const event = (of: object): string => {
          const involvedObject = { ...of, namespace: 'own', name: 'web' };
          const metadata = { generateName: 'web.', namespace: 'own' };
          return JSON.stringify({ apiVersion: 'v1', kind: 'Event', metadata, involvedObject });
        };
        const pod = event({ apiVersion: 'v1', kind: 'Pod' });
        await expect(kubectl(['create', '-f', '-', ...account], pod)).rejects.toThrow(ofAccount);
        const ofSet = event({ apiVersion: 'shadow.portolan.dev/v1alpha1', kind: 'ShadowResource' });
        await kubectl(['create', '-f', '-', ...account], ofSet);
        await expect(kubectl(['delete', 'events', '--all', '-n', 'own', ...account])).rejects.toThrow(ofAccount);
        const patch = (spec: object): Promise<string> =>
          kubectl(['patch', 'apiservice', apiService, '--type=merge', '-p', JSON.stringify({ spec }), ...account]);
        await expect(patch({ versionPriority: 99 })).rejects.toThrow(ofAccount);
        await expect(patch({ service: { name: 'other' } })).rejects.toThrow(ofAccount);
        await expect(patch({ caBundle: null, insecureSkipTLSVerify: true })).rejects.toThrow(ofAccount);
        await patch({ caBundle: btoa(`${authority.ca}\n`) });
        await expect(kubectl(['delete', 'apiservice', apiService, ...account])).rejects.toThrow(ofAccount);
        await kubectl(['auth', 'can-i', 'get', 'pods', ...account]);

        const record = (name: string, owners: readonly object[] = []): string =>
          JSON.stringify({
            apiVersion: 'portolan.dev/v1alpha1',
            kind: 'ShadowRecord',
            metadata: { name, namespace: 'own', ownerReferences: owners },
            spec: { generation: 1, phase: 'Applied' },
          });
        const createRecord = (who: readonly string[], name: string): Promise<string> =>
          kubectl(['create', '-f', '-', ...who], record(name));
        const ofRecords = 'ShadowRecords are written by the aggregated API server of Portolan';
        await eventually(() => expect(createRecord(jim, 'a')).rejects.toThrow(ofRecords), 30_000);
        await createRecord(account, 'a');
        await createRecord(deployer, 'b');
        await createRecord([], 'c');
        const relabel = (who: readonly string[]): Promise<string> =>
          kubectl(['label', 'shadowrecord', 'a', 'a=b', '--overwrite', '-n', 'own', ...who]);
        await expect(relabel(jim)).rejects.toThrow(ofRecords);
        await expect(kubectl(['delete', 'shadowrecord', 'a', '-n', 'own', ...jim])).rejects.toThrow(ofRecords);
        await relabel(account);
        await kubectl(['delete', 'shadowrecord', 'a', '-n', 'own', ...account]);

        // The garbage collector and the namespace controller delete records.
        await create([], 'configmap', 'owner');
        const uid = await kubectl(['get', 'configmap', 'owner', '-n', 'own', '-o', 'jsonpath={.metadata.uid}']);
        await kubectl(
          ['create', '-f', '-'],
          record('owned', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]),
        );
        await kubectl(['delete', 'configmap', 'owner', '-n', 'own']);
        await kubectl(['wait', '--for=delete', 'shadowrecord/owned', '-n', 'own', '--timeout=60s']);
        await kubectl(['delete', 'namespace', 'own', '--timeout=60s']);
      });
    });
  },
);
