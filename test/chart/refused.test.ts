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
