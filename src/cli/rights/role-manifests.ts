/** Writes roles and their bindings as YAML for `kubectl apply`. */
import { Document, isCollection, isMap } from 'yaml';
import type { NeededRole, NeededRule } from '../../access/gateway-rules.ts';
import { rbacGroup } from '../../access/rbac-objects.ts';
import { kubernetesYaml } from '../../base/text/kubernetes-yaml.ts';

interface ManifestOptions {
  readonly name: string;
  /** The service account of the bindings; null: no bindings. */
  readonly account: { readonly namespace: string; readonly name: string } | null;
  /** Lines of a comment above all. */
  readonly header: string;
}

/** One YAML document for each role and each binding. */
export function roleManifests(roles: readonly NeededRole[], { name, account, header }: ManifestOptions): string {
  const documents = roles.flatMap((role) => [
    roleDocument(role, name),
    ...(account === null || role.isBound === false ? [] : [bindingDocument(role, name, account)]),
  ]);
  const [first] = documents;
  if (first !== undefined) first.commentBefore = `${comment(header)}\n\n${first.commentBefore ?? ''}`;
  return documents
    .map((document) => document.toString({ ...kubernetesYaml, flowCollectionPadding: false }))
    .join('---\n');
}

const apiVersion = `${rbacGroup}/v1`;

function roleDocument({ suffix, namespace, why, labels, rules }: NeededRole, name: string): Document {
  const manifest = {
    apiVersion,
    kind: kindOf(namespace),
    metadata: { ...metadataOf(`${name}${suffix}`, namespace), ...(labels === undefined ? {} : { labels }) },
    rules: rules.map(memberOf),
  };
  const document = new Document(manifest, { ...kubernetesYaml, aliasDuplicateObjects: false });
  document.commentBefore = comment(why);
  rules.forEach((rule, index) => {
    const node = document.getIn(['rules', index], true);
    if (!isMap(node)) return;
    node.commentBefore = comment(rule.why);
    // Resources have a line each, so that a later version of the file shows what was added.
    for (const { key, value } of node.items) {
      if (isCollection(value)) value.flow = String(key) !== 'resources' || value.items.length === 1;
    }
  });
  return document;
}

function memberOf({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: NeededRule): object {
  return Object.fromEntries(
    Object.entries({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }).filter(
      ([, member]) => member !== undefined,
    ),
  );
}

function bindingDocument(
  { suffix, namespace }: NeededRole,
  name: string,
  account: { readonly namespace: string; readonly name: string },
): Document {
  const kind = kindOf(namespace);
  return new Document(
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata: metadataOf(`${name}${suffix}`, namespace),
      roleRef: { apiGroup: rbacGroup, kind, name: `${name}${suffix}` },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
    kubernetesYaml,
  );
}

function kindOf(namespace: string): 'ClusterRole' | 'Role' {
  return namespace === '' ? 'ClusterRole' : 'Role';
}

function metadataOf(name: string, namespace: string): object {
  return namespace === '' ? { name } : { name, namespace };
}

/** The text as the parts of a comment: the writer puts # before each line. */
function comment(text: string): string {
  return text
    .split('\n')
    .map((line) => ` ${line}`)
    .join('\n');
}
