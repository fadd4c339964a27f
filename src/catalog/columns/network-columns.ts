/** The columns of Services, endpoints, Ingresses, and of policies and addresses of the network. */

import { list } from '../../base/json.ts';
import { type BuiltInColumn, column, wide } from './built-in-column.ts';
import { at, firstThree, isPresent, joined, memberOf, number, presentOr, size, text } from './cell-values.ts';
import { age, name } from './common-columns.ts';
import { defaultMark } from './default-mark.ts';
import { labelsText, selectorText } from './selector-text.ts';

type Columns = readonly BuiltInColumn[];

const none = '<none>';

/** The addresses or host names of a load balancer, sorted, each once. */
function loadBalancers(ingress: unknown): readonly string[] {
  const names = list(ingress).map((each) => text(memberOf(each, 'ip')) || text(memberOf(each, 'hostname')));
  return [...new Set(names.filter((each) => each !== ''))].sort();
}

function externalIp(type: unknown, ips: unknown, ingress: unknown, externalName: unknown): string {
  const own = list(ips).map(text);
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return own.length > 0 ? own.join(',') : none;
    case 'LoadBalancer':
      return [...loadBalancers(ingress), ...own].join(',') || '<pending>';
    case 'ExternalName':
      return text(externalName);
    default:
      return '<unknown>';
  }
}

/** `80/TCP`, or `80:30080/TCP` with a port of the nodes. */
function servicePorts(ports: unknown): string {
  const shown = list(ports).map((port) => {
    const onNodes = number(memberOf(port, 'nodePort'));
    return `${number(memberOf(port, 'port'))}${onNodes > 0 ? `:${onNodes}` : ''}/${text(memberOf(port, 'protocol'))}`;
  });
  return shown.join(',') || none;
}

const services: Columns = [
  name,
  column('Type', 'string', 'spec.type', text),
  column('Cluster-IP', 'string', 'spec.clusterIPs spec.clusterIP', (ips, ip) => text(list(ips)[0]) || text(ip) || none),
  column(
    'External-IP',
    'string',
    'spec.type spec.externalIPs status.loadBalancer.ingress spec.externalName',
    externalIp,
  ),
  column('Port(s)', 'string', 'spec.ports', servicePorts),
  age,
  ...wide(column('Selector', 'string', 'spec.selector', labelsText)),
];

/** `[::1]:80` or `10.0.0.1:80`. */
function hostPort(host: string, port: unknown): string {
  return `${host.includes(':') ? `[${host}]` : host}:${number(port)}`;
}

/** Every address with every port of its subset. */
function endpointAddresses(subsets: unknown): string {
  if (size(subsets) === 0) return none;
  const texts = list(subsets).flatMap((subset) => {
    const ips = list(memberOf(subset, 'addresses')).map((address) => text(memberOf(address, 'ip')));
    const ports = list(memberOf(subset, 'ports'));
    if (ports.length === 0) return ips;
    return ports.flatMap((port) => ips.map((ip) => hostPort(ip, memberOf(port, 'port'))));
  });
  return firstThree(texts, '');
}

/** The number of a port, else its name; `*` for every port. */
function slicePorts(ports: unknown): string {
  const texts = list(ports).map((port) => {
    const [value, label] = [memberOf(port, 'port'), memberOf(port, 'name')];
    return isPresent(value) ? String(number(value)) : isPresent(label) ? text(label) : '*';
  });
  return firstThree(texts, '<unset>');
}

const endpointSlices: Columns = [
  name,
  column('AddressType', 'string', 'addressType', text),
  column('Ports', 'string', 'ports', slicePorts),
  column('Endpoints', 'string', 'endpoints', (endpoints) =>
    firstThree(
      list(endpoints).flatMap((each) => list(memberOf(each, 'addresses')).map(text)),
      '<unset>',
    ),
  ),
  age,
];

/** The first three hosts, and how many rules there are besides three. */
function ingressHosts(rules: unknown): string {
  const hosts: string[] = [];
  let isCut = false;
  for (const rule of list(rules)) {
    const host = text(memberOf(rule, 'host'));
    if (hosts.length === 3) isCut = true;
    else if (host !== '') hosts.push(host);
  }
  if (hosts.length === 0) return '*';
  return isCut ? `${hosts.join(',')} + ${size(rules) - 3} more...` : hosts.join(',');
}

const ingresses: Columns = [
  name,
  column('Class', 'string', 'spec.ingressClassName', presentOr(none)),
  column('Hosts', 'string', 'spec.rules', ingressHosts),
  column('Address', 'string', 'status.loadBalancer.ingress', (ingress) => loadBalancers(ingress).join(',')),
  column('Ports', 'string', 'spec.tls', (tls) => (size(tls) > 0 ? '80, 443' : '80')),
  age,
];

/** `Kind.group/name` of the object with further parameters. */
function classParameters(parameters: unknown): string {
  if (!isPresent(parameters)) return none;
  const group = memberOf(parameters, 'apiGroup');
  const kind = text(memberOf(parameters, 'kind'));
  return `${isPresent(group) ? `${kind}.${text(group)}` : kind}/${text(memberOf(parameters, 'name'))}`;
}

const ingressClasses: Columns = [
  defaultMark('ingressclass.kubernetes.io/is-default-class'),
  column('Controller', 'string', 'spec.controller', text),
  column('Parameters', 'string', 'spec.parameters', classParameters),
  age,
];

/** `services/shop/web`: what the address belongs to. */
function parentText(parent: unknown): string {
  if (!isPresent(parent)) return none;
  const [group, resource] = [text(memberOf(parent, 'group')), text(memberOf(parent, 'resource'))];
  const namespace = text(at(parent, 'namespace'));
  const kind = (group === '' ? resource : `${resource}.${group}`).toLowerCase();
  return `${kind}/${namespace === '' ? '' : `${namespace}/`}${text(memberOf(parent, 'name'))}`;
}

export const networkColumns: Readonly<Record<string, Columns>> = {
  services,
  endpoints: [name, column('Endpoints', 'string', 'subsets', endpointAddresses), age],
  'endpointslices.discovery.k8s.io': endpointSlices,
  'ingresses.networking.k8s.io': ingresses,
  'ingressclasses.networking.k8s.io': ingressClasses,
  'networkpolicies.networking.k8s.io': [name, column('Pod-Selector', 'string', 'spec.podSelector', selectorText), age],
  'ipaddresses.networking.k8s.io': [name, column('ParentRef', 'string', 'spec.parentRef', parentText)],
  'servicecidrs.networking.k8s.io': [name, column('CIDRs', 'string', 'spec.cidrs', joined), age],
};
