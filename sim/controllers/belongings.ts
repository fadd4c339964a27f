/** What every namespace and every application has: a service account, configuration, credentials. Created where it is missing. */
import { asObject, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import type { Controller } from '../world/controller-loop.ts';
import { isDeleting, type World } from '../world/world.ts';

/** The Secret with which Pods of applications pull their images. */
export const pullSecret = 'registry-credentials';
const certificate = '-----BEGIN CERTIFICATE-----\nMIIBsimulated\n-----END CERTIFICATE-----\n';

interface Application {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: JsonObject;
  /** Creates what is missing as if it had been there since then. */
  readonly created?: string;
  readonly owner?: JsonObject;
  readonly config?: JsonObject;
  readonly credentials?: JsonObject;
}

/** The ServiceAccount, the ConfigMap and the Secrets that Pods made with `appTemplate` mention. */
export function ensureBelongings(world: World, application: Application, manager: string): void {
  const { namespace, name, created, owner } = application;
  const metadata = (own: string): JsonObject => ({
    name: own,
    namespace,
    ...(application.labels === undefined ? {} : { labels: application.labels }),
    ...(created === undefined ? {} : { creationTimestamp: created }),
    ...(owner === undefined ? {} : { ownerReferences: [owner] }),
  });
  const ensure = (plural: string, own: string, content: JsonObject): void => {
    if (!world.get(plural, namespace, own)) world.create('', plural, { metadata: metadata(own), ...content }, manager);
  };
  ensurePullSecret(world, namespace, manager, created);
  ensure('serviceaccounts', name, { imagePullSecrets: [{ name: pullSecret }] });
  ensure('configmaps', `${name}-config`, { data: application.config ?? { 'application.yaml': `name: ${name}\n` } });
  ensure('secrets', `${name}-credentials`, {
    type: 'Opaque',
    stringData: application.credentials ?? { url: `postgres://${name}@db.${namespace}:5432/app` },
  });
}

function ensurePullSecret(world: World, namespace: string, manager: string, created: string | undefined): void {
  if (world.get('secrets', namespace, pullSecret)) return;
  const auths = { 'registry.example': { username: 'pull', password: 'not-a-secret' } };
  const metadata = {
    name: pullSecret,
    namespace,
    ...(created === undefined ? {} : { creationTimestamp: created }),
  };
  const stringData = { '.dockerconfigjson': JSON.stringify({ auths }) };
  world.create('', 'secrets', { metadata, type: 'kubernetes.io/dockerconfigjson', stringData }, manager);
}

/** A TLS Secret for a host. */
export function createTlsSecret(world: World, metadata: JsonObject, host: string): Stored {
  const stringData = { 'tls.crt': certificate, 'tls.key': 'not-a-secret' };
  const annotations = { 'portolan.example/host': host };
  return world.create(
    '',
    'secrets',
    { metadata: { ...metadata, annotations }, type: 'kubernetes.io/tls', stringData },
    'helm',
  );
}

/** Gives each namespace its service account `default` and the ConfigMap with the certificate of the API server. */
export function namespaceController(world: World): Controller {
  const by = 'kube-controller-manager';
  return {
    name: 'namespace',
    storage: 'namespaces',
    watches: {
      serviceaccounts: ({ type, stored }) => (type === 'DELETED' ? `/${stored.namespace}` : undefined),
      configmaps: ({ type, stored }) => (type === 'DELETED' ? `/${stored.namespace}` : undefined),
    },
    reconcile: (namespace) => {
      if (isDeleting(namespace) || at(namespace.object, 'status', 'phase') === 'Terminating') return;
      const { creationTimestamp } = asObject(namespace.object.metadata);
      const metadata = (name: string): JsonObject => ({ name, namespace: namespace.name, creationTimestamp });
      if (!world.get('serviceaccounts', namespace.name, 'default'))
        world.create('', 'serviceaccounts', { metadata: metadata('default') }, by);
      if (!world.get('configmaps', namespace.name, 'kube-root-ca.crt'))
        world.create('', 'configmaps', { metadata: metadata('kube-root-ca.crt'), data: { 'ca.crt': certificate } }, by);
    },
  };
}

/** The lowest cluster address that no Service has. */
export function freeClusterIp(world: World): string {
  const used = new Set(world.list('services').map(({ object }) => at(object, 'spec', 'clusterIP')));
  for (let number = 10; ; number++) {
    const address = `10.96.${number >>> 8}.${number & 255}`;
    if (!used.has(address)) return address;
  }
}
