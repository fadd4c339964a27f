/** Metadata that the server sets and checks: names, uids, times. */
import type { Clock, Random } from '../../src/base/clock.ts';
import type { StatusCause } from '../objects/status-error.ts';

const suffixLetters = 'bcdfghjklmnpqrstvwxz2456789';
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const pathSegment = /^(?!\.{1,2}$)[^/%]+$/;

/** Five letters, as the server appends them to generateName. */
export function randomSuffix(random: Random, length = 5): string {
  return Array.from({ length }, () => suffixLetters[Math.floor(random() * suffixLetters.length)]).join('');
}

/** A version 4 UUID. */
export function randomUid(random: Random): string {
  const hex = (digits: number): string =>
    Math.floor(random() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  const variant = (8 + Math.floor(random() * 4)).toString(16);
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${variant}${hex(3)}-${hex(8)}${hex(4)}`;
}

/** RFC 3339 with whole seconds, as metav1.Time. */
export function timeText(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** RFC 3339 with microseconds, as metav1.MicroTime. */
export function microTimeText(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 23)}000Z`;
}

/** The current time as metav1.Time. */
export function nowText(clock: Clock): string {
  return timeText(clock.now());
}

const pathNamed = new Set(['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding', 'ComponentStatus']);

/** The causes (422) for which a name is rejected. */
export function nameCauses(kind: string, name: string): StatusCause[] {
  const field = 'metadata.name';
  if (name === '') {
    return [{ reason: 'FieldValueRequired', message: 'Required value: name or generateName is required', field }];
  }
  if (pathNamed.has(kind)) return pathSegment.test(name) ? [] : [bad(name, 'must be a path segment name', field)];
  const asLabel = kind === 'Namespace' || kind === 'Service';
  const rule = asLabel ? label : subdomain;
  if (rule.test(name) && name.length <= (asLabel ? 63 : 253)) return [];
  const words = asLabel ? 'a lowercase RFC 1123 label' : 'a lowercase RFC 1123 subdomain';
  return [
    bad(
      name,
      `${words} must consist of lower case alphanumeric characters${asLabel ? " or '-'" : ", '-' or '.'"}`,
      field,
    ),
  ];
}

function bad(name: string, message: string, field: string): StatusCause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(name)}: ${message}`, field };
}
