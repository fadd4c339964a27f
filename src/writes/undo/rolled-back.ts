/**
 * A workload as it was in an earlier revision: `kubectl rollout undo`.
 *
 *   Deployment               its ReplicaSets, each with a revision in an annotation      Pod template and annotations of the ReplicaSet
 *   StatefulSet, DaemonSet   its ControllerRevisions                                     the Pod template in their data
 *
 *   ReplicaSets web-1 (revision 1), web-3 (revision 3), web-4 (revision 4, newest)     revision null -> 3
 *
 * The revisions are read from the API server as the caller. Annotations of the Deployment that belong to it alone stay as they are.
 */
import { records } from '../../base/json.ts';
import { selectorText } from '../../catalog/columns/selector-text.ts';
import { isObject, memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { sealedText } from '../diff/withheld-values.ts';
import { writeError } from '../outcome/write-error.ts';
import { type Json, nameOfTarget, type TargetResource, type WriteTarget } from '../request/write-intent.ts';
import { type Answer, listLive, uidOf, type WriteContext } from '../send/send-write.ts';

const revisionAnnotation = 'deployment.kubernetes.io/revision';
/** Annotations of a Deployment that are not of a revision. */
const ownAnnotations = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  'deployment.kubernetes.io/revision-history',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  'deprecated.deployment.rollback.to',
]);
const hashLabel = 'pod-template-hash';

interface Revision {
  readonly number: number;
  readonly template: Json;
  /** Null where revisions have none. */
  readonly annotations: Json | null;
}

/** The workload with the Pod template of the revision. @param revision null: the one before the newest */
export async function rolledBack(
  context: WriteContext,
  target: WriteTarget,
  live: Json,
  revision: number | null,
): Promise<Answer<{ readonly wanted: Json }>> {
  const name = nameOfTarget(target);
  const refused = (message: string) => ({ error: writeError('UNSUPPORTED', message, 'spec.template') });
  const spec = recordOf(live['spec']) ?? {};
  const isDeployment = target.resource.kind === 'Deployment';
  if (isDeployment && spec['paused'] === true) {
    return refused(`The ${name} is paused: resume it first, or set spec.paused to false.`);
  }
  const listed = await (isDeployment ? replicaSets : controllerRevisions)(context, target, live);
  if (listed.error !== null) return listed;
  const revisions = listed.revisions.toSorted((a, b) => a.number - b.number);
  const wanted = revision === null ? revisions.at(-2) : revisions.find(({ number }) => number === revision);
  if (wanted === undefined) {
    const known = revisions.map(({ number }) => number).join(', ');
    const has = known === '' ? 'it has none' : `it has ${known}`;
    const which = revision === null ? 'no revision before the newest' : `no revision ${revision}`;
    return { error: writeError('NOT_FOUND', `The ${name} has ${which}: ${has}.`) };
  }
  if (isSameTemplate(wanted.template, spec['template'])) return { error: null, wanted: live };
  const metadata = recordOf(live['metadata']) ?? {};
  const annotations = wanted.annotations === null ? {} : annotationsOf(metadata, wanted.annotations);
  return {
    error: null,
    wanted: {
      ...live,
      metadata: { ...metadata, ...annotations },
      spec: { ...spec, template: withoutHash(wanted.template) },
    },
  };
}

type Listed = Answer<{ readonly revisions: readonly Revision[] }>;

const apps = { group: 'apps', version: 'v1', namespaced: true } as const;

async function replicaSets(context: WriteContext, target: WriteTarget, live: Json): Promise<Listed> {
  const listed = await ownedBy(context, target, live, { ...apps, plural: 'replicasets', kind: 'ReplicaSet' });
  if (listed.error !== null) return listed;
  const revisions = listed.objects.flatMap((object): Revision[] => {
    const annotations = recordOf(recordOf(object['metadata'])?.['annotations']) ?? {};
    const number = revisionIn(memberOf(annotations, revisionAnnotation));
    const template = recordOf(recordOf(object['spec'])?.['template']);
    return number === null || template === null ? [] : [{ number, template, annotations }];
  });
  return { error: null, revisions };
}

async function controllerRevisions(context: WriteContext, target: WriteTarget, live: Json): Promise<Listed> {
  const resource = { ...apps, plural: 'controllerrevisions', kind: 'ControllerRevision' };
  const listed = await ownedBy(context, target, live, resource);
  if (listed.error !== null) return listed;
  const revisions = listed.objects.flatMap((object): Revision[] => {
    const number = revisionIn(object['revision']);
    const found = recordOf(recordOf(recordOf(object['data'])?.['spec'])?.['template']);
    if (number === null || found === null) return [];
    const { $patch: _replace, ...template } = found;
    return [{ number, template, annotations: null }];
  });
  return { error: null, revisions };
}

function revisionIn(value: unknown): number | null {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The objects of the kind that the workload controls. */
async function ownedBy(
  context: WriteContext,
  { cluster, namespace }: WriteTarget,
  live: Json,
  resource: TargetResource,
): Promise<Answer<{ readonly objects: readonly Json[] }>> {
  // Without a selector that can be written (`<none>`, `<error>`) all are listed. The owner decides in every case.
  const written = selectorText(recordOf(live['spec'])?.['selector']);
  const text = written.startsWith('<') ? '' : written;
  const listed = await listLive(context, { cluster, namespace, resource }, text);
  if (listed.error !== null) return listed;
  const uid = uidOf(live);
  const isOwned = (object: Json): boolean =>
    records(recordOf(object['metadata'])?.['ownerReferences']).some(
      (owner) => owner['uid'] === uid && owner['controller'] === true,
    );
  return { error: null, objects: listed.objects.filter(isOwned) };
}

function annotationsOf(metadata: Json, ofRevision: Json): Json {
  const own = Object.entries(recordOf(metadata['annotations']) ?? {}).filter(([name]) => ownAnnotations.has(name));
  const others = Object.entries(ofRevision).filter(([name]) => !ownAnnotations.has(name));
  return { annotations: Object.fromEntries([...own, ...others]) };
}

function isSameTemplate(one: Json, other: unknown): boolean {
  return isObject(other) && sealedText(withoutHash(one)) === sealedText(withoutHash(other));
}

/** Without the label that the controller adds, and without the null that older servers write. */
function withoutHash(template: Json): Json {
  const { creationTimestamp: _none, ...metadata } = recordOf(template['metadata']) ?? {};
  const labels = recordOf(metadata['labels']);
  if (labels === null) return { ...template, metadata };
  const { [hashLabel]: _hash, ...rest } = labels;
  return { ...template, metadata: { ...metadata, labels: rest } };
}
