/** What the caller may see and do: `viewer`, `viewerCan` and `whoCan`, and the scope of a list. */
import { type ResourceAttributes, resourceOf } from '../../access/policy-rule.ts';
import type { GrantedSubject } from '../../access/rights.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Operation } from '../../operation/operation.ts';
import { requireRoles } from '../../operation/require-visible.ts';
import type { ConnectionScope } from '../../reads/lists/list-scope.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import { facts } from '../selection/field-facts.ts';
import type { Builder } from './builder.ts';

/** Namespaces of a scope without `first`. */
const defaultNamespaces = 100;

/** Adds VisibleScope. Returns its reference for the connections. */
export function addVisibleScope(builder: Builder) {
  return builder.objectRef<ConnectionScope>('VisibleScope').implement({
    description: 'Which objects of a kind in a cluster the caller may see. A list has no others.',
    fields: (t) => ({
      key: t.exposeString('key', { nullable: false, description: 'The kind as plural.group.' }),
      cluster: t.exposeString('cluster', { nullable: false }),
      all: t.exposeBoolean('all', { nullable: false, description: 'Every object is visible.' }),
      namespaces: t.stringList({
        nullable: { list: false, items: false },
        description: 'Namespaces of which every object is visible, sorted. Empty if `all`.',
        args: { first: t.arg.int({ defaultValue: defaultNamespaces, description: 'At most this many.' }) },
        resolve: ({ namespaces }, { first }) => namespaces.slice(0, Math.max(0, first ?? defaultNamespaces)),
      }),
      namespaceCount: t.int({ nullable: false, resolve: ({ namespaces }) => namespaces.length }),
      names: t.exposeInt('names', {
        nullable: false,
        description: 'The number of names that are visible besides: a role tells each of them.',
      }),
    }),
  });
}

/** Adds the type Viewer and the roots `viewer` and `whoCan`. */
export function addAccess(builder: Builder): void {
  const requestArgs = builder.args((t) => ({
    verb: t.string({ required: true }),
    resource: t.string({ required: true, description: 'plural.group, such as deployments.apps.' }),
    subresource: t.string({ defaultValue: '' }),
    namespace: t.string({ defaultValue: '', description: 'Empty for the whole cluster.' }),
    name: t.string({ defaultValue: '', description: 'Empty for all objects.' }),
    cluster: t.string({ description: 'Needed where there are several.' }),
  }));
  const viewer = builder.objectRef<Operation>('Viewer').implement({
    description: 'The caller, as the API server knows the user.',
    fields: (t) => ({
      name: t.string({
        description: 'Null on a gateway without authentication.',
        resolve: ({ caller }) => caller.user?.user ?? null,
      }),
      groups: t.stringList({
        nullable: { list: false, items: false },
        resolve: ({ caller }) => [...(caller.user?.groups ?? [])],
      }),
      can: t.boolean({
        description: 'May the caller do this? Null where it is not known.',
        args: requestArgs,
        extensions: facts({ cost: { own: 10 } }),
        resolve: (operation, args) =>
          operation.source.rights.allows(operation.caller, clusterOf(operation, args.cluster), requestOf(args)),
      }),
    }),
  });
  builder.queryField('viewer', (t) =>
    t.field({
      type: viewer,
      description: 'The caller.',
      resolve: (_root, _args, { portolan }) => {
        portolan.noteMore();
        return portolan;
      },
    }),
  );

  const subject = builder.objectRef<GrantedSubject>('WhoCan').implement({
    description: 'A user, group or service account, with the binding that allows something.',
    fields: (t) => ({
      kind: t.exposeString('kind', { nullable: false, description: 'User, Group or ServiceAccount.' }),
      namespace: t.string({
        description: 'Of a service account.',
        resolve: ({ namespace }) => (namespace === '' ? null : namespace),
      }),
      name: t.exposeString('name', { nullable: false }),
      bindingNamespace: t.string({
        description: 'Null for a ClusterRoleBinding.',
        resolve: ({ binding }) => (binding.namespace === '' ? null : binding.namespace),
      }),
      binding: t.string({ nullable: false, resolve: ({ binding }) => binding.name }),
      roleKind: t.string({ nullable: false, resolve: ({ binding }) => binding.role.kind }),
      role: t.string({ nullable: false, resolve: ({ binding }) => binding.role.name }),
    }),
  });
  builder.queryField('whoCan', (t) =>
    t.field({
      type: [subject],
      nullable: { list: true, items: false },
      description:
        'Who is allowed this by roles and bindings, for callers who may list them all. Other authorizers are not asked, and members of system:masters are not listed.',
      args: requestArgs,
      extensions: facts({ cost: { own: 500 } }),
      resolve: (_root, args, { portolan }) => {
        portolan.noteMore();
        return portolan.read(async (_lease, view) => {
          const of = clusterOf(portolan, args.cluster);
          requireRoles(view, of);
          const found = portolan.source.rights.whoCan(of, requestOf(args));
          if (found !== null) return [...found];
          throw new PortolanError(
            'NOT_FOUND',
            `The roles and bindings of ${of} are not known to this gateway; start it with --auth.`,
          );
        });
      },
    }),
  );
}

/** A request as `can` and `whoCan` take it. */
interface RequestArgs {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string | null | undefined;
  readonly namespace?: string | null | undefined;
  readonly name?: string | null | undefined;
}

function requestOf({ verb, resource, subresource, namespace, name }: RequestArgs): ResourceAttributes {
  return {
    verb,
    ...resourceOf(resource),
    subresource: subresource ?? '',
    namespace: namespace ?? '',
    name: name ?? '',
  };
}

/** `viewerCan` of an object. */
export function viewerCan(
  { operation, row, kind }: ObjectSource,
  verb: string,
  subresource: string,
): Promise<boolean | null> {
  const of = operation.generation.origin(kind, row);
  const { group, plural: resource, namespaced } = of?.kind.resource ?? kind.resource;
  const { cluster, namespace, name } = of?.identity ?? row;
  operation.noteMore();
  return operation.source.rights.allows(operation.caller, cluster, {
    verb,
    group,
    resource,
    subresource,
    // For a request to one Namespace, its name is the namespace of the request.
    namespace: namespaced ? (namespace ?? '') : kind.key === 'namespaces' ? name : '',
    name,
  });
}

/** @throws PortolanError BAD_USER_INPUT for an unknown cluster, and for none of several. */
function clusterOf({ generation }: Operation, given: string | null | undefined): string {
  const clusters = [...generation.clusters];
  const [only = ''] = clusters;
  if (given == null && clusters.length === 1) return only;
  if (given != null && generation.clusters.has(given)) return given;
  const names = clusters.join(', ');
  throw new PortolanError(
    'BAD_USER_INPUT',
    given == null ? `Say which cluster: ${names}.` : `There is no cluster ${JSON.stringify(given)}; there is ${names}.`,
  );
}
