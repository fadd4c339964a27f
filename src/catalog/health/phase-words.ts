/**
 * The words by which custom resources without conditions tell their state, in `status.phase` or `status.state`.
 *
 * A word is here if controllers of the field use it, and always for the same. Case, blanks, hyphens and underscores are ignored: `Not Ready`
 * is `notready`. A word that is not here is Unknown, never Failed. Behind each line: whose words they are.
 */
import type { HealthStatus } from './health-status.ts';

const words: Readonly<Record<Exclude<HealthStatus, 'Unknown'>, string>> = {
  Current: `
    ready available bound                  PersistentVolume, Rook, Percona, Elastic
    running active online                  Pod, Namespace, KubeVirt, Zalando
    healthy ok green                       Argo CD, CloudNativePG, Elastic
    succeeded success complete completed   Pod, Job, Velero, Argo Workflows, CDI
    finished done                          Velero, Tekton
    deployed installed                     Helm, OLM
    synced applied established             Argo CD, Sealed Secrets, CRDs
    enabled connected provisioned          cluster-api, Longhorn, Metal3
    bootstrapped configured                Vault, NMState
  `,
  InProgress: `
    pending new initial                    Pod, Velero
    creating create provisioning           Rook, cluster-api
    updating update upgrading modifying    Percona, Zalando, AWS controllers
    initializing init bootstrapping        Percona, InnoDBCluster
    starting restarting reconciling        KubeVirt, Percona
    progressing inprogress processing      Argo CD, Velero
    installing deploying                   OLM, Helm
    scaling resizing migrating             Elastic, KubeVirt
    waiting queued scheduled scheduling    KubeVirt, Velero, VolumeSnapshot
    preparing building configuring         Argo CD, Shipwright
    syncing connecting attaching           Longhorn
    notready unready                       Node, Kafka
    restoring recovering cloning           CloudNativePG, CDI
    submitted                              Spark
    rollingback                            Helm
  `,
  Failed: `
    failed failure fail                    Pod, Job, Velero, OLM
    error errored errors                   Argo Workflows, Percona
    broken crashed crashloopbackoff        Zalando, KubeVirt
    degraded unhealthy red                 Argo CD, Elastic
    invalid rejected denied aborted        Elastic, CertificateSigningRequest
    lost                                   PersistentVolumeClaim
    timeout timedout                       Argo Workflows
    createfailed updatefailed              Zalando
    deletefailed syncfailed                Zalando
    partiallyfailed                        Velero
  `,
  Suspended: `
    suspended suspend paused pausing       Argo CD, Percona, KubeVirt
    stopped hibernated halted              KubeVirt, CloudNativePG
    disabled                               Longhorn
  `,
  Terminating: `
    terminating deleting uninstalling      Namespace, Rook, Helm
  `,
};

/** By the letters and digits of the word, in lower case. */
const statuses: ReadonlyMap<string, HealthStatus> = new Map(
  Object.entries(words).flatMap(([status, table]) =>
    table
      .split('\n')
      .flatMap((line) => line.trim().split(/ {2,}/)[0]?.split(' ') ?? [])
      .filter((word) => word !== '')
      .map((word) => [word, status as HealthStatus]),
  ),
);

/** The status that a phase stands for; Unknown for a word that is not known. */
export function phaseStatus(phase: string): HealthStatus {
  return statuses.get(phase.replace(/[\s_-]+/g, '').toLowerCase()) ?? 'Unknown';
}
