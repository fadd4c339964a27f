/**
 * The certificate that the aggregated API server shows, as kube-apiserver checks it: for the name of its Service, by the caBundle.
 *
 * It is fetched by a TLS handshake with the address. An API server's proxy to Services does not tell certificates.
 */
import type { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { messageOf } from '../../base/errors.ts';
import { record } from '../../base/json.ts';
import { bundleIn, dayOf, isUnchecked, newBundle, validity } from './authority-check.ts';
import type { ExaminedCluster, ServiceReference } from './examined-cluster.ts';
import { commandOf, type Finding, notSeen, ok, problem } from './finding.ts';

const withinMs = 5000;

export async function checkCertificate(cluster: ExaminedCluster): Promise<readonly Finding[]> {
  const service = await cluster.serviceReference();
  if (service === null) return [notSeen('No APIService names a Service.')];
  const spec = record((await cluster.apiService())?.['spec']) ?? {};
  if (spec['insecureSkipTLSVerify'] === true) return [notSeen(isUnchecked)];
  const name = `${service.name}.${service.namespace}.svc`;
  const address = cluster.options.address ?? { host: name, port: service.port };
  let shown: ShownCertificate;
  try {
    shown = await handshake(address, name, bundleIn(spec));
  } catch (error) {
    const where = `${address.host}:${address.port}`;
    if (cluster.options.address !== null) {
      return [
        problem(`Nothing shows a certificate at ${where}: ${messageOf(error)}. See whether Portolan runs there.`),
      ];
    }
    return [
      notSeen(
        `The certificate of ${name} cannot be seen from here. Forward its port, and say --address 127.0.0.1:4443 then:`,
        commandOf`kubectl port-forward --namespace=${service.namespace} service/${service.name} 4443:${service.port}`,
      ),
    ];
  }
  return judge(cluster, shown, service);
}

interface ShownCertificate {
  readonly certificate: X509Certificate;
  /** Why it is not trusted, as Node.js says it; null if it is. */
  readonly refusal: string | null;
}

function judge(cluster: ExaminedCluster, { certificate, refusal }: ShownCertificate, service: ServiceReference) {
  const name = `${service.name}.${service.namespace}.svc`;
  const { now } = cluster.options;
  const renew = commandOf`kubectl create secret tls ${service.name}-tls --namespace=${service.namespace} --cert=tls.crt --key=tls.key --dry-run=client -o yaml | kubectl apply -f -`;
  const of = `The certificate of ${name}`;
  const found: Finding[] = [];
  if (certificate.checkHost(name) === undefined) {
    const names = certificate.subjectAltName ?? 'none';
    found.push(
      problem(`${of} is for other names (${names}). Give Portolan one for ${name}, as its files are read:`, renew),
    );
  }
  const time = validity(of, certificate, now(), renew);
  if (time !== null) found.push(time);
  const isOfChain = refusal !== null && !/ALTNAME|EXPIRED|NOT_YET_VALID/.test(refusal);
  if (isOfChain) {
    found.push(
      problem(
        `${of} is not signed by an authority in the caBundle of the APIService (${refusal}). Put its authority there, from the file ca.crt:`,
        newBundle(cluster.apiServiceName),
      ),
    );
  }
  return found.length > 0 ? found : [ok(`${of} is valid until ${dayOf(certificate.validToDate)}.`)];
}

function handshake(
  { host, port }: { readonly host: string; readonly port: number },
  servername: string,
  ca: string,
): Promise<ShownCertificate> {
  return new Promise((resolve, reject) => {
    // Without authorities, Node.js would trust its own.
    const trust = ca === '' ? { ca: [] } : { ca };
    const socket = connect({ host, port, servername, ...trust, rejectUnauthorized: false, timeout: withinMs }, () => {
      const certificate = socket.getPeerX509Certificate();
      const refusal = socket.authorized ? null : String(socket.authorizationError);
      socket.destroy();
      if (certificate === undefined) reject(new Error('no certificate'));
      else resolve({ certificate, refusal });
    });
    socket.on('timeout', () => socket.destroy(new Error(`no answer within ${withinMs} ms`)));
    socket.on('error', reject);
  });
}
