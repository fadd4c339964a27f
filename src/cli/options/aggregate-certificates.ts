/** Where the certificate of the aggregated API server is from: files, or Portolan makes it. */
import type { DoorService } from '../../aggregate/certificates/own-certificates.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Config } from '../../config/options.ts';
import { credentialKinds } from './credential-kinds.ts';

export type AggregateConfig = Pick<
  Config,
  | 'auth'
  | 'aggregate'
  | 'aggregateHost'
  | 'aggregatePort'
  | 'aggregateGroup'
  | 'aggregateVersion'
  | 'aggregateService'
  | 'aggregateCert'
  | 'aggregateKey'
>;

export type AggregateCertificates =
  /** PEM files of the certificate and its key. */
  | { readonly cert: string; readonly key: string }
  /** Portolan makes them for this Service. */
  | { readonly service: DoorService };

/** Null without --aggregate. @throws PortolanError CONFIGURATION for options that miss another one. */
export function aggregateCertificates({
  auth,
  aggregate,
  aggregateService,
  aggregateCert,
  aggregateKey,
}: AggregateConfig): AggregateCertificates | null {
  const given = [
    ...(aggregateService === undefined ? [] : ['--aggregate-service']),
    ...(aggregateCert === undefined ? [] : ['--aggregate-cert']),
    ...(aggregateKey === undefined ? [] : ['--aggregate-key']),
  ];
  if (!aggregate) {
    if (given.length === 0) return null;
    throw new PortolanError('CONFIGURATION', `${given[0]} needs --aggregate.`);
  }
  if (credentialKinds(auth).length === 0) {
    throw new PortolanError(
      'CONFIGURATION',
      '--aggregate needs --auth, such as --auth token: it shows each caller what the rights of the caller allow.',
    );
  }
  if (aggregateService !== undefined) {
    if (given.length === 1) return { service: doorService(aggregateService) };
    throw new PortolanError(
      'CONFIGURATION',
      '--aggregate-service makes certificates, and --aggregate-cert names one: leave out one of the two.',
    );
  }
  if (aggregateCert !== undefined && aggregateKey !== undefined) return { cert: aggregateCert, key: aggregateKey };
  throw new PortolanError(
    'CONFIGURATION',
    '--aggregate needs a certificate for SERVICE.NAMESPACE.svc, which kube-apiserver checks: give --aggregate-service, or both --aggregate-cert and --aggregate-key.',
  );
}

/** @param text `namespace/name` */
export function doorService(text: string): DoorService {
  const [namespace = '', name = ''] = text.split('/');
  return { namespace, name };
}
