/** The cluster that `portolan doctor` looks at: the objects that several checks read, each read once. */
import { isRecord, record, text } from '../../base/json.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { nullIfAbsent } from '../../kube/http/api-error.ts';
import { apiServiceName, apiServicePath } from '../../kube/http/api-service.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';
import { definitionPath } from '../../sets/definition.ts';

export type Json = Readonly<Record<string, unknown>>;

interface ExaminedOptions {
  readonly client: RestClient;
  /** The group and version of sets. */
  readonly api: { readonly group: string; readonly version: string };
  /** Is the aggregated API server expected here? */
  readonly isExpected: boolean;
  /** The service account of Portolan in this cluster; null if it is not known. */
  readonly account: { readonly namespace: string; readonly name: string } | null;
  readonly impersonate: 'off' | 'constrained' | 'classic';
  /** The kinds that may be members of sets; empty for all. */
  readonly setKinds: readonly string[];
  /** Where the aggregated API server is reached from here; null for its name in the cluster. */
  readonly address: { readonly host: string; readonly port: number } | null;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The Service that an APIService names. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

const services = { group: '', version: 'v1', plural: 'services', namespaced: true };

export class ExaminedCluster {
  readonly options: ExaminedOptions;
  readonly #read = new Map<string, Promise<Json | null>>();

  constructor(options: ExaminedOptions) {
    this.options = options;
  }

  /** `v1alpha1.shadow.portolan.dev` */
  get apiServiceName(): string {
    const { group, version } = this.options.api;
    return apiServiceName(group, version);
  }

  /** Null if it is not there. The methods below are the same. @throws ApiError */
  apiService(name = this.apiServiceName): Promise<Json | null> {
    return this.object(apiServicePath(name));
  }

  /** The definition of ShadowRecord. */
  definition(): Promise<Json | null> {
    return this.object(definitionPath);
  }

  service({ namespace, name }: ServiceReference): Promise<Json | null> {
    return this.object(resourcePath(services, namespace, name));
  }

  /** The Service that the APIService names; null where it names none, and without APIService. */
  async serviceReference(): Promise<ServiceReference | null> {
    const reference = record(record((await this.apiService())?.['spec'])?.['service']);
    const [namespace, name] = [text(reference?.['namespace']), text(reference?.['name'])];
    if (namespace === undefined || name === undefined) return null;
    return { namespace, name, port: Number(reference?.['port'] ?? 443) };
  }

  /** The object at the path, read once. */
  object(path: string): Promise<Json | null> {
    const before = this.#read.get(path);
    if (before !== undefined) return before;
    const found = this.options.client.get(path).then((value) => (isRecord(value) ? value : null), nullIfAbsent);
    this.#read.set(path, found);
    return found;
  }

  /** Is the aggregated API server here, or expected? */
  async hasDoor(): Promise<boolean> {
    return this.options.isExpected || (await this.apiService()) !== null;
  }
}
