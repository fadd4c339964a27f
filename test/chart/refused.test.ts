/** Values that the chart refuses, each with the sentence that tells what is wrong. */
import { expect, test } from 'vitest';
import { describeWithHelm, manifestOf, renderValues } from '../kit/chart.ts';

describeWithHelm('refused values', () => {
  test.each<readonly [string, object, string]>([
    ['a name that is no value', { replica: 2 }, "additional properties 'replica' not allowed"],
    ['a name that is no option', { config: { prot: 4000 } }, "at '/config': additional properties 'prot' not allowed"],
    [
      'an option that the chart sets',
      { config: { port: 4001 } },
      "at '/config': additional properties 'port' not allowed",
    ],
    ['a number that is too large', { config: { readers: 65 } }, "at '/config/readers': maximum: got 65, want 64"],
    [
      'another word',
      { config: { authorizationMode: 'abac' } },
      "at '/config/authorizationMode': value must be one of 'auto', 'rbac', 'review'",
    ],
    ['a wrong duration', { config: { keepAlive: '75' } }, "at '/config/keepAlive': '75' does not match pattern"],
    [
      'a wrong name of a namespace',
      { config: { namespaces: ['Team'] } },
      "at '/config/namespaces/0': 'Team' does not match pattern",
    ],
    ['a wrong digest', { image: { digest: 'latest' } }, "at '/image/digest': 'latest' does not match pattern"],
    ['an address of loopback', { config: { host: '127.0.0.1' } }, 'config.host is an address of loopback'],
    [
      'nobody to authenticate',
      { config: { auth: [] } },
      'config.auth is empty, and Portolan then listens on loopback only',
    ],
    ['none beside others', { config: { auth: ['none', 'token'] } }, 'config.auth none stands alone'],
    ['certificates without TLS', { config: { auth: ['certificate'] } }, 'set tls.secret'],
    [
      'certificates without their authority',
      { config: { auth: ['certificate'] }, tls: { secret: 'a' } },
      'config.auth certificate and tls.clientCa.secret need each other',
    ],
    [
      'an authority without proxies',
      { tls: { secret: 'a', proxyClientCa: { secret: 'b' } } },
      'config.auth proxy and tls.proxyClientCa.secret need each other',
    ],
    [
      'data of Secrets for everybody',
      { config: { auth: ['none'], secretData: 'live' } },
      'config.secretData live needs callers with credentials',
    ],
    [
      'data of Secrets in the name of callers without a token',
      { config: { auth: ['proxy'], secretData: 'live' }, tls: { secret: 'a', proxyClientCa: { secret: 'b' } } },
      'set config.impersonate to constrained',
    ],
    [
      'impersonation of everybody',
      { config: { auth: ['none'], impersonate: 'constrained' } },
      'config.impersonate needs callers with credentials',
    ],
    ['writes of everybody', { config: { auth: ['none'], readOnly: false } }, 'config.readOnly false needs to know'],
    ['contexts without a kubeconfig', { config: { context: ['east'] } }, 'set kubeconfig.secret'],
    [
      'several clusters that may know the callers',
      { config: { context: ['east', 'west'] }, kubeconfig: { secret: 'a' } },
      'set config.authCluster',
    ],
    ['Secrets that may not be read', { config: { kinds: ['pods', 'Secret'] } }, 'set rbac.secrets'],
    [
      'everything but some kinds',
      { rbac: { wildcards: true }, config: { exclude: ['secrets'] } },
      'rbac.wildcards grants every kind',
    ],
    [
      'own rules beside others',
      { rbac: { rules: [{ verbs: ['get'] }], secrets: true } },
      'rbac.rules replaces all other rules',
    ],
    [
      'own rules for namespaces',
      { rbac: { rules: [{ verbs: ['get'] }] }, config: { namespaces: ['a'] } },
      'what portolan rbac --namespaces prints',
    ],
    [
      'two budgets',
      { podDisruptionBudget: { minAvailable: 1, maxUnavailable: 1 } },
      'podDisruptionBudget takes minAvailable or maxUnavailable, not both',
    ],
    ['fewer Pods at the most', { autoscaling: { enabled: true, minReplicas: 6 } }, 'autoscaling.minReplicas is larger'],
    ['an Ingress without hosts', { ingress: { enabled: true } }, 'ingress has no host names: set ingress.hosts'],
    ['a route without a Gateway', { httpRoute: { enabled: true } }, 'set httpRoute.parentRefs'],
    [
      'sets for everybody',
      { aggregate: { enabled: true }, config: { auth: ['none'] } },
      'aggregate shows each caller what the rights of the caller allow: set config.auth',
    ],
    [
      'sets of another cluster',
      { aggregate: { enabled: true }, kubeconfig: { secret: 'a' } },
      'leave out kubeconfig.secret, or aggregate',
    ],
    [
      'sets without their records',
      { aggregate: { enabled: true }, config: { exclude: ['shadow*'] } },
      'aggregate reads ShadowRecords: leave them out of config.exclude',
    ],
    [
      'own rules without the records of sets',
      { aggregate: { enabled: true }, rbac: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }] } },
      'add list and watch of shadowrecords in portolan.dev to rbac.rules',
    ],
    [
      'a certificate in no Secret',
      { aggregate: { enabled: true, certificates: { from: 'secret' } } },
      'aggregate.certificates.from secret and aggregate.certificates.secret need each other',
    ],
    [
      'a Secret that is not used',
      { aggregate: { enabled: true, certificates: { secret: 'a' } } },
      'aggregate.certificates.from secret and aggregate.certificates.secret need each other',
    ],
    [
      'an authority that others set',
      { aggregate: { enabled: true, certificates: { caBundle: 'QUJD' } } },
      'aggregate.certificates.caBundle is for aggregate.certificates.from secret',
    ],
    [
      'an issuer without cert-manager',
      { aggregate: { enabled: true, certificates: { issuerRef: { name: 'a' } } } },
      'aggregate.certificates.issuerRef is for aggregate.certificates.from certManager',
    ],
    [
      'writers of records whom no policy needs',
      { aggregate: { enabled: true, policy: { recordWriters: { users: ['jane'] } } } },
      'set aggregate.policy.records to named',
    ],
    [
      'another source of certificates',
      { aggregate: { certificates: { from: 'vault' } } },
      "at '/aggregate/certificates/from': value must be one of 'own', 'certManager', 'secret'",
    ],
    [
      'an option that aggregate sets',
      { config: { aggregate: true } },
      "at '/config': additional properties 'aggregate' not allowed",
    ],
    [
      'a store that fills the volume',
      { data: { size: '2Gi' } },
      'config.maxDisk (3Gi) must be smaller than data.size (2Gi)',
    ],
    [
      'no time to end',
      { terminationGracePeriodSeconds: 60, config: { drain: '1m' } },
      'terminationGracePeriodSeconds must be at least 70: preStopSeconds, config.drain and 5 seconds to end',
    ],
  ])('%s', async (_, values, message) => {
    await expect(renderValues(values)).rejects.toThrow(message);
  });

  test.each(['serviceMonitor', 'prometheusRule'])('%s in a cluster without the Prometheus operator', async (name) => {
    const values = { [name]: { enabled: true } };
    const inCluster = (...served: readonly string[]): Promise<string> =>
      renderValues(values, {
        args: ['apiregistration.k8s.io/v1', ...served].flatMap((each) => ['--api-versions', each]),
      });
    await expect(inCluster()).rejects.toThrow(`${name} needs the Prometheus operator`);
    expect(await inCluster('monitoring.coreos.com/v1')).toContain('apiVersion: monitoring.coreos.com/v1');
    // `helm template` without a cluster does not know what is served.
    expect(await renderValues(values)).toContain('apiVersion: monitoring.coreos.com/v1');
  });

  test('an Ingress for every host is one rule without a host', async () => {
    const text = await renderValues({ ingress: { enabled: true, hosts: [''] } });
    const { rules } = manifestOf(text, 'Ingress')['spec'] as { readonly rules: readonly object[] };
    expect(rules).toEqual([{ http: expect.anything() }]);
  });
});
