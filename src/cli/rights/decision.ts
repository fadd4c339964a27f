/** A decision about a request with its reason, as text and as JSON. */
import type { UserInfo } from '../../access/caller.ts';
import type { Grants } from '../../access/grants.ts';
import { superusers } from '../../access/grants.ts';
import type { PolicyRule, RequestAttributes } from '../../access/policy-rule.ts';
import { matchingSubject, type Subject } from '../../access/rbac-objects.ts';
import { shortList } from '../../base/text/short-list.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import { resourceKey } from '../../catalog/resources/resource.ts';

interface NamedObject {
  readonly kind: string;
  /** Absent for an object of the whole cluster. */
  readonly namespace?: string;
  readonly name: string;
}

/** The objects that allow a request. */
type Reason =
  | { readonly binding: NamedObject; readonly role: NamedObject; readonly subject: NamedObject; readonly rule: object }
  /** A group whose members may do everything. */
  | { readonly group: string };

interface Decision {
  readonly allowed: boolean;
  readonly user: UserInfo;
  readonly request: RequestAttributes;
  /** Null when nothing allows it. */
  readonly reason: Reason | null;
  /** Namespaces in which the request would be allowed; empty where it is allowed, or names a namespace. */
  readonly allowedIn: readonly string[];
}

export function decide(grants: Grants, user: UserInfo, request: RequestAttributes): Decision {
  const found = grants.allow(request);
  const allowedIn = found === null ? namespacesFor(grants, request) : [];
  return { allowed: found !== null, user, request, reason: found === null ? null : reasonOf(found, user), allowedIn };
}

function reasonOf(found: NonNullable<ReturnType<Grants['allow']>>, user: UserInfo): Reason {
  if (found.by === superusers) return { group: superusers };
  const { by, rule } = found;
  const { namespace, role } = by;
  const subject = matchingSubject(by, user) ?? { kind: 'User', namespace: '', name: user.user };
  return {
    binding: objectOf({ kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding', namespace, name: by.name }),
    role: objectOf({ ...role, namespace: role.kind === 'Role' ? namespace : '' }),
    subject: objectOf(subject),
    rule: withoutEmpty(rule),
  };
}

function objectOf({ kind, namespace, name }: Omit<Subject, 'kind'> & { readonly kind: string }): NamedObject {
  return namespace === '' ? { kind, name } : { kind, namespace, name };
}

function withoutEmpty(rule: PolicyRule): object {
  return Object.fromEntries(Object.entries(rule).filter(([, members]) => members.length > 0));
}

/** For a request to all namespaces: those in which a RoleBinding would allow it. */
function namespacesFor(grants: Grants, request: RequestAttributes): readonly string[] {
  if ('path' in request || request.namespace !== '') return [];
  const namespaces = grants.namespaces.filter((namespace) => grants.allow({ ...request, namespace }) !== null);
  return namespaces.toSorted();
}

/** Namespaces that a line names at most. */
const mostNamed = 10;

/** `yes` or `no`, and a line with the reason. */
export function decisionText(decision: Decision): string {
  const { allowed, user, request, reason, allowedIn } = decision;
  const what = requestText(request);
  if (!allowed) {
    const elsewhere =
      allowedIn.length === 0 ? '' : `It is allowed in ${shortList([...allowedIn], mostNamed).join(', ')}.`;
    return lines('no', `No role of ${user.user} allows ${what}.`, elsewhere);
  }
  if (reason === null || 'group' in reason) {
    return lines('yes', `The API server allows members of ${superusers} everything.`);
  }
  const { binding, role, subject, rule } = reason;
  return lines(
    'yes',
    `${objectText(binding)} gives ${objectText(subject)} the ${objectText(role)}, which allows ${what}:`,
    `  ${JSON.stringify(rule)}`,
  );
}

function lines(...texts: readonly string[]): string {
  return texts
    .filter((text) => text !== '')
    .map((text) => `${text.startsWith('  ') ? '  ' : ''}${oneLine(text)}\n`)
    .join('');
}

function objectText({ kind, namespace, name }: NamedObject): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}

/** `get pods/log web in shop`, `list pods in all namespaces`, `get /metrics`. */
function requestText(request: RequestAttributes): string {
  if ('path' in request) return `${request.verb} ${request.path}`;
  const { verb, group, resource, subresource, namespace, name } = request;
  const target = `${resourceKey({ group, plural: resource })}${subresource === '' ? '' : `/${subresource}`}`;
  return `${verb} ${target}${name === '' ? '' : ` ${name}`}${namespace === '' ? '' : ` in ${namespace}`}`;
}
