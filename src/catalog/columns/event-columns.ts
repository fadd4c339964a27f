/**
 * The columns of Events. A writer of the API events.k8s.io leaves `firstTimestamp`, `lastTimestamp`, `source` and `count` empty. The
 * values are in `eventTime`, `series`, `reportingComponent` and `reportingInstance`.
 */
import { type BuiltInColumn, column, wide } from './built-in-column.ts';
import { at, count, isPresent, memberOf, text, time } from './cell-values.ts';
import { name } from './common-columns.ts';

/** `pod/web-1`. */
function objectText(object: unknown): string {
  const kind = text(memberOf(object, 'kind')).toLowerCase();
  const of = text(memberOf(object, 'name'));
  return of === '' ? kind : `${kind}/${of}`;
}

/** The component that reports, and where it runs. */
function sourceText(source: unknown, reporter: unknown, instance: unknown): string {
  const component = text(memberOf(source, 'component')) || text(reporter);
  const host = text(memberOf(source, 'host')) || text(instance);
  return host === '' ? component : `${component}, ${host}`;
}

function firstTime(times: readonly unknown[]): string | null {
  return time(times.find((each) => time(each) !== null));
}

export const eventColumns: readonly BuiltInColumn[] = [
  column('Last Seen', 'date', 'series lastTimestamp firstTimestamp eventTime', (series, ...times) =>
    isPresent(series) ? time(at(series, 'lastObservedTime')) : firstTime(times),
  ),
  column('Type', 'string', 'type', text),
  column('Reason', 'string', 'reason', text),
  column('Object', 'string', 'involvedObject', objectText),
  ...wide(
    column('Subobject', 'string', 'involvedObject.fieldPath', text),
    column('Source', 'string', 'source reportingComponent reportingInstance', sourceText),
  ),
  column('Message', 'string', 'message', (value) => text(value).trim()),
  ...wide(
    column('First Seen', 'date', 'firstTimestamp eventTime', (...times) => firstTime(times)),
    column('Count', 'integer', 'series count', (series, value) =>
      isPresent(series) ? count(memberOf(series, 'count')) : count(value) || 1,
    ),
    name,
  ),
];
