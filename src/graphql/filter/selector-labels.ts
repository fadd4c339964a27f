/**
 * Labels of field selectors that API servers take for their own kinds, and that are not the path of a value.
 *
 *   source=kubelet of an Event     source.component, or reportingComponent where that is empty
 *   status.podIPs=10.0.0.1         no Pod: API servers take this label and compare it with the empty text
 */

/** By resourceKey and label: the paths whose first value that is not empty is compared. */
const pathsOfLabels: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  events: { source: ['source.component', 'reportingComponent'] },
  'jobs.batch': { 'status.successful': ['status.succeeded'] },
  pods: { 'spec.host': ['spec.nodeName'], 'status.podIPs': [] },
};

/** The paths that stand for a label in objects of this kind; null if the label is a path itself. */
export function pathsOfLabel(key: string, label: string): readonly string[] | null {
  const labels = Object.hasOwn(pathsOfLabels, key) ? pathsOfLabels[key] : undefined;
  return labels !== undefined && Object.hasOwn(labels, label) ? (labels[label] ?? null) : null;
}
