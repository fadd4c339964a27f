/**
 * Which rights of a role an account has used, by the API server's audit log.
 *
 *   { apiGroups: [apps], resources: [deployments], verbs: [list, watch] }   list deployments.apps, watch deployments.apps
 *   { apiGroups: [''], resources: [namespaces], resourceNames: [a], … }     get namespaces a
 *   { nonResourceURLs: [/apis, /apis/*], verbs: [get] }                     get /apis, get /apis/*
 */
import type { AuditEvent } from '../kit/audit-events.ts';

export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

/** One verb on one resource, name or path in each line. */
export function unusedRights(rules: readonly Rule[], events: readonly AuditEvent[]): readonly string[] {
  return rules.flatMap(rightsOf).flatMap(({ text, allows }) => (events.some(allows) ? [] : [text]));
}

interface Right {
  readonly text: string;
  allows(event: AuditEvent): boolean;
}

function rightsOf(rule: Rule): readonly Right[] {
  const { apiGroups = [], resources = [], resourceNames = [undefined], nonResourceURLs = [], verbs } = rule;
  return verbs.flatMap((verb) => [
    ...nonResourceURLs.map((url) => onPath(verb, url)),
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) => resourceNames.map((name) => onResource(verb, group, resource, name))),
    ),
  ]);
}

function onPath(verb: string, url: string): Right {
  const matches = url.endsWith('*')
    ? (path: string) => path.startsWith(url.slice(0, -1))
    : (path: string) => path === url;
  return {
    text: `${verb} ${url}`,
    allows: (event) =>
      event.verb === verb && event.objectRef === undefined && matches(event.requestURI.split('?')[0] ?? ''),
  };
}

function onResource(verb: string, group: string, resource: string, name: string | undefined): Right {
  return {
    text: `${verb} ${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : ` ${name}`}`,
    allows: ({ verb: used, objectRef }) =>
      used === verb &&
      (objectRef?.apiGroup ?? '') === group &&
      [objectRef?.resource, objectRef?.subresource].filter(Boolean).join('/') === resource &&
      (name === undefined || objectRef?.name === name),
  };
}
