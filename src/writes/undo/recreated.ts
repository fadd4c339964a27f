/**
 * The manifest that makes a deleted object again. It gets a new uid, and its status comes from its controllers.
 *
 *   left out                                why
 *   status, uid, resourceVersion, …         the API server sets them
 *   finalizers                              their controllers add them again; of one that is gone, the object could not be deleted
 *   ownerReferences whose owner is gone     the garbage collector would delete the object at once
 *   nodeName of a Pod                       the scheduler finds a node
 *   selector and labels of a Job            the API server makes them from the uid, unless spec.manualSelector
 */
import { records } from '../../base/json.ts';
import { memberOf, recordOf } from '../../catalog/values/displayed-value.ts';
import { serverFieldsOfDeleted } from '../diff/server-fields.ts';
import type { Json } from '../request/write-intent.ts';

/** The labels that Jobs had in several versions of Kubernetes. */
const jobLabels = ['controller-uid', 'job-name', 'batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name'];

/** @param isOwner does the object that an ownerReference names still exist? */
export function recreated(body: Json, isOwner: (reference: Json) => boolean = () => true): Json {
  const { status: _status, ...rest } = body;
  const given = recordOf(body['metadata']) ?? {};
  const owners = records(given['ownerReferences']).filter(isOwner);
  const metadata = Object.entries(given).filter(([name]) => !serverFieldsOfDeleted.has(name) && !replaced.has(name));
  return withoutChosen({
    ...rest,
    metadata: { ...Object.fromEntries(metadata), ...(owners.length === 0 ? {} : { ownerReferences: owners }) },
  });
}

const replaced = new Set(['finalizers', 'ownerReferences']);

/** Without what the API server or the scheduler has chosen for the former object. */
function withoutChosen(object: Json): Json {
  const spec = recordOf(object['spec']);
  if (spec === null) return object;
  const kind = `${object['kind']} ${object['apiVersion']}`;
  if (kind === 'Pod v1') return { ...object, spec: without(spec, ['nodeName']) };
  if (!kind.startsWith('Job batch/') || memberOf(spec, 'manualSelector') === true) return object;
  const template = recordOf(spec['template']);
  const made = template === null ? {} : { template: withoutJobLabels(template) };
  return { ...withoutJobLabels(object), spec: { ...without(spec, ['selector']), ...made } };
}

function withoutJobLabels(object: Json): Json {
  const metadata = recordOf(object['metadata']) ?? {};
  const labels = recordOf(metadata['labels']);
  return labels === null ? object : { ...object, metadata: { ...metadata, labels: without(labels, jobLabels) } };
}

function without(object: Json, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
