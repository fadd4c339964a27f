/** The metrics of a HorizontalPodAutoscaler with their targets, such as `cpu: 50%/80%, 4/10 (avg) + 1 more...`. */
import { list } from '../../base/json.ts';
import { at, count, isPresent, memberOf, text } from './cell-values.ts';

const unknown = '<unknown>';

/** Where a type of metric has its values. */
const members: Readonly<Record<string, string>> = {
  Resource: 'resource',
  ContainerResource: 'containerResource',
  Pods: 'pods',
  Object: 'object',
  External: 'external',
};

/** Metrics that are shown; the others are counted. */
const mostShown = 2;

/** @param specs, statuses `spec.metrics` and `status.currentMetrics` of autoscaling/v2. A status belongs to the metric of its index. */
export function metricsText(specs: unknown, statuses: unknown): string {
  const metrics = list(specs);
  if (metrics.length === 0) return '<none>';
  const shown = metrics.slice(0, mostShown).map((spec, index) => metricText(spec, list(statuses)[index]));
  const more = metrics.length - mostShown;
  return more > 0 ? `${shown.join(', ')} + ${more} more...` : shown.join(', ');
}

/** Of autoscaling/v1, whose only metric is the CPU. */
export function metricsTextOfV1(target: unknown, current: unknown): string {
  return `cpu: ${percentOr(unknown, current)}/${percentOr('<auto>', target)}`;
}

function metricText(spec: unknown, status: unknown): string {
  const type = text(memberOf(spec, 'type'));
  const member = Object.hasOwn(members, type) ? members[type] : undefined;
  if (member === undefined) return '<unknown type>';
  const target = at(spec, member, 'target');
  const has = isPresent(memberOf(status, member));
  const current = at(status, member, 'current');
  const average = memberOf(current, 'averageValue');
  const wanted = memberOf(target, 'averageValue');
  switch (type) {
    case 'Pods':
      return `${has ? quantity(average) : unknown}/${quantity(wanted)}`;
    case 'Object':
    case 'External':
      return isPresent(wanted)
        ? `${isPresent(average) ? quantity(average) : unknown}/${quantity(wanted)} (avg)`
        : `${has ? quantity(memberOf(current, 'value')) : unknown}/${quantity(memberOf(target, 'value'))}`;
    default: {
      const resource = text(at(spec, member, 'name'));
      return isPresent(wanted)
        ? `${resource}: ${has ? quantity(average) : unknown}/${quantity(wanted)}`
        : `${resource}: ${percentOr(unknown, memberOf(current, 'averageUtilization'))}/${percentOr('<auto>', memberOf(target, 'averageUtilization'))}`;
    }
  }
}

function percentOr(otherwise: string, value: unknown): string {
  return isPresent(value) ? `${count(value)}%` : otherwise;
}

/** An absent quantity is written as Go writes a nil pointer. */
function quantity(value: unknown): string {
  return isPresent(value) ? text(value) : '<nil>';
}
