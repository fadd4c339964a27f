/** What the caller may see and do: `viewer`, `viewerCan` and `whoCan`, and the scope of a list. */
import { type ResourceAttributes, resourceOf } from '../../access/policy-rule.ts';
import type { GrantedSubject } from '../../access/rights.ts';
import { PortolanError } from '../../base/errors.ts';
import { requireClusters } from '../../operation/list-readiness.ts';
import type { Operation } from '../../operation/operation.ts';
import { requireRoles } from '../../operation/require-visible.ts';
import type { ConnectionScope } from '../../reads/lists/list-scope.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import { type VisibleNamespace, visibleNamespaces } from '../../reads/lists/visible-namespaces.ts';
import type { Builder } from '../builder/builder.ts';
import { countOf } from '../selection/cost.ts';
import { facts } from '../selection/field-facts.ts';

/** Namespaces of a scope without `first`. */
const defaultNamespaces = 100;
/** The most namespaces of a viewer. */
const mostNamespaces = 10_000;
/** Kinds of a namespace without `first`. */
const defaultKinds = 20;

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
  const args = requestArgs(builder);
  const viewer = viewerType(builder, args);
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
  addWhoCan(builder, args);
}

function requestArgs(builder: Builder) {
  return builder.args((t) => ({
    verb: t.string({ required: true }),
    resource: t.string({ required: true, description: 'plural.group, such as deployments.apps.' }),
    subresource: t.string({ defaultValue: '' }),
    namespace: t.string({ defaultValue: '', description: 'Empty for the whole cluster.' }),
    name: t.string({ defaultValue: '', description: 'Empty for all objects.' }),
    cluster: t.string({ description: 'Needed where there are several.' }),
  }));
}

function viewerType(builder: Builder, requestArgs: RequestArgsRef) {
  const namespace = viewerNamespaceType(builder);
  return builder.objectRef<Operation>('Viewer').implement({
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
      namespaces: t.field({
        type: [namespace],
        nullable: { list: false, items: false },
        description:
          'The namespaces in which lists may show the caller something, sorted by cluster and name. It takes no right to list namespaces.',
        args: {
          cluster: t.arg.string({ description: 'Only those of this cluster.' }),
          first: t.arg.int({
            defaultValue: defaultNamespaces,
            description: `At most this many; at most ${mostNamespaces}.`,
          }),
        },
        extensions: facts({ cost: { own: 50, repeats: ({ first }) => countOf(first, defaultNamespaces) } }),
        resolve: (operation, { cluster, first }) => namespacesOf(operation, cluster, first ?? defaultNamespaces),
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
}

function viewerNamespaceType(builder: Builder) {
  return builder.objectRef<VisibleNamespace>('ViewerNamespace').implement({
    description: 'A namespace in which the caller may see objects.',
    fields: (t) => ({
      cluster: t.exposeString('cluster', { nullable: false }),
      name: t.exposeString('name', { nullable: false, description: 'An asterisk stands for all namespaces.' }),
      kinds: t.stringList({
        nullable: { list: false, items: false },
        description:
          'Kinds of which something may be visible, as plural.group, sorted. Those of the asterisk are not repeated.',
        args: { first: t.arg.int({ defaultValue: defaultKinds, description: 'At most this many.' }) },
        extensions: facts({ cost: { own: ({ first }) => 1 + countOf(first, defaultKinds) } }),
        resolve: ({ kinds }, { first }) => kinds.slice(0, Math.max(0, first ?? defaultKinds)),
      }),
      kindCount: t.int({ nullable: false, resolve: ({ kinds }) => kinds.length }),
    }),
  });
}

/** The namespaces in which the caller may see objects, at most `first`. */
function namespacesOf(
  operation: Operation,
  cluster: string | null | undefined,
  first: number,
): Promise<VisibleNamespace[]> {
  const { generation } = operation;
  const clusters = cluster == null ? [...generation.clusters] : [clusterOf(operation, cluster)];
  const most = Math.min(Math.max(0, first), mostNamespaces);
  return operation.readCells(
    async (cells) =>
      clusters
        .toSorted()
        .flatMap((of) =>
          operation.loader(`visible namespaces ${of}`, () =>
            visibleNamespaces(operation.viewIn(cells, of), generation.all, of),
          ),
        )
        .slice(0, most),
    [],
    clusters,
  );
}

function addWhoCan(builder: Builder, requestArgs: RequestArgsRef): void {
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
      resolve: (_root, args, { portolan }) => grantedSubjects(portolan, args),
    }),
  );
}

/** @throws PortolanError NOT_FOUND if the roles are not known. */
function grantedSubjects(
  operation: Operation,
  args: RequestArgs & { readonly cluster?: string | null | undefined },
): Promise<GrantedSubject[]> {
  operation.noteMore();
  const of = clusterOf(operation, args.cluster);
  return operation.at(of).read(async (_lease, view) => {
    requireRoles(view, of);
    const found = operation.source.rights.whoCan(of, requestOf(args));
    if (found !== null) return [...found];
    throw new PortolanError(
      'NOT_FOUND',
      `The roles and bindings of ${of} are not known to this gateway; start it with --auth.`,
    );
  });
}

type RequestArgsRef = ReturnType<typeof requestArgs>;

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

/** @throws PortolanError as requireClusters, and BAD_USER_INPUT for none of several. */
function clusterOf(operation: Operation, given: string | null | undefined): string {
  const clusters = [...operation.generation.clusters];
  const [only = ''] = clusters;
  if (given != null) {
    requireClusters(operation, [given]);
    return given;
  }
  if (clusters.length === 1) return only;
  throw new PortolanError('BAD_USER_INPUT', `Say which cluster: ${clusters.join(', ')}.`);
}
