/** How to reach one cluster; plain data, so that it can cross to the ingest thread. */
export interface ClusterOptions {
  /** The cluster's name in Portolan; the context's name without it. */
  readonly name?: string;
  /** Path of a kubeconfig file. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** True: this Pod's service account and nothing else. */
  readonly inCluster?: boolean;
}
