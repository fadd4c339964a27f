/**
 * Content negotiation of an API server. The Accept header lists media types, and the first that the door can answer counts:
 *
 *   application/json;as=Table;v=v1;g=meta.k8s.io     rows for people (kubectl get)
 *   application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io      metadata alone (controllers)
 *   application/json, application/*, *\/*, none      the objects
 *   application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList     aggregated discovery, of `/apis` alone
 *
 * Protobuf, CBOR and YAML are not spoken. Weights are ignored, as API servers do for what clients of Kubernetes send.
 */
import { statusError } from './status.ts';

/** How the objects of an answer are shown. */
export interface Shown {
  readonly as: 'object' | 'table' | 'metadata';
  /** The version of meta.k8s.io; of no meaning for objects. */
  readonly version: string;
}

interface AcceptedType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const metaVersions = ['v1', 'v1beta1'];

/** @throws PortolanError that means 406. */
export function shownBy(accept: string | undefined): Shown {
  for (const { type, parameters } of typesIn(accept)) {
    if (!isJson(type)) continue;
    const as = parameters.get('as');
    if (as === undefined) return { as: 'object', version: '' };
    const version = parameters.get('v') ?? '';
    if (parameters.get('g') !== 'meta.k8s.io' || !metaVersions.includes(version)) continue;
    if (as === 'Table') return { as: 'table', version };
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return { as: 'metadata', version };
  }
  throw notAcceptable();
}

/** The version of aggregated discovery that the client prefers; null if it wants the legacy form. @throws PortolanError that means 406. */
export function discoveryVersion(accept: string | undefined): 'v2' | 'v2beta1' | null {
  for (const { type, parameters } of typesIn(accept)) {
    if (!isJson(type)) continue;
    const as = parameters.get('as');
    if (as === undefined) return null;
    const version = parameters.get('v');
    if (as !== 'APIGroupDiscoveryList' || parameters.get('g') !== 'apidiscovery.k8s.io') continue;
    if (version === 'v2' || version === 'v2beta1') return version;
  }
  throw notAcceptable();
}

/** @throws PortolanError that means 406, if the client does not take JSON. */
export function requireJson(accept: string | undefined): void {
  if (!typesIn(accept).some(({ type }) => isJson(type))) throw notAcceptable();
}

function notAcceptable(): Error {
  return statusError(
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/json;as=Table;v=v1;g=meta.k8s.io, application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  );
}

function isJson(type: string): boolean {
  return type === 'application/json' || type === 'application/*' || type === '*/*';
}

function typesIn(accept: string | undefined): readonly AcceptedType[] {
  const elements = (accept ?? '').split(',').filter((element) => element.trim() !== '');
  return (elements.length === 0 ? ['*/*'] : elements).map((element) => {
    const [type = '', ...parameters] = element.split(';').map((part) => part.trim());
    const pairs = parameters.map((parameter): [string, string] => {
      const at = parameter.indexOf('=');
      return at === -1 ? [parameter, ''] : [parameter.slice(0, at).toLowerCase(), parameter.slice(at + 1)];
    });
    return { type: type.toLowerCase(), parameters: new Map(pairs) };
  });
}
