/**
 * Example documents made from kinds of the catalog. They use only fields that every kind has, so they are valid for each kind.
 */
import { legalName } from '../../catalog/names/field-names.ts';
import type { CatalogKind, KindRelation } from '../../catalog/resources/catalog.ts';

/** The newest objects of a kind, with kubectl's columns. */
export function listExample(kind: CatalogKind): string {
  return `# The newest ${kind.key}, with the columns that kubectl shows.
# The next page is \`after\` the endCursor of this one.
query ${titleOf(kind)}List($first: Int = 20, $after: String) {
  ${kind.names.list}(
    orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }]
    first: $first
    after: $after
  ) {
    totalCount
    nodes {
      id
      health {
        status
        reason
      }
      columns {
        name
        value
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`;
}

/** Objects of a kind with a condition and everything they own, two steps down. */
export function ownedExample(kind: CatalogKind): string {
  return `# The newest ${kind.key}, each with a condition
# and everything that it owns, two steps down, in one answer.
query ${titleOf(kind)}Tree {
  ${kind.names.list}(
    orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }]
    first: 5
  ) {
    totalCount
    nodes {
      metadata {
${kind.resource.namespaced ? '        namespace\n' : ''}        name
      }
      condition(type: ${JSON.stringify(conditionOf(kind))}) {
        status
        reason
        message
      }
      owned {
        nodes {
          kind
          metadata {
            name
          }
          owned {
            nodes {
              kind
              metadata {
                name
              }
            }
          }
        }
      }
    }
  }
}
`;
}

/** The objects of a kind, and then every change. */
export function watchExample(kind: CatalogKind): string {
  return `# All ${kind.key}, and then every change of them, pushed.
subscription Watch${titleOf(kind)} {
  ${kind.names.subscription} {
    phase
    reset
    cursor
    totalCount
    removedIds
    changes {
      type
      id
      changedPaths
      object {
        metadata {
${kind.resource.namespaced ? '          namespace\n' : ''}          name
        }
        health {
          status
        }
      }
    }
  }
}
`;
}

/** One list over several kinds. */
export function objectsExample(kinds: readonly CatalogKind[]): string {
  return `# One ordered list over several kinds, with the columns that kubectl shows.
query SeveralKinds($first: Int = 20, $after: String) {
  objects(
    kinds: ${listOf(kinds.map(({ key }) => key))}
    orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }]
    first: $first
    after: $after
  ) {
    totalCount
    nodes {
      id
      kind
      columns {
        name
        value
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`;
}

/** The groups of a kind by namespace, or by health where it has no namespaces. */
export function groupsExample(kind: CatalogKind): string {
  const path = kind.resource.namespaced ? 'metadata.namespace' : 'health.status';
  return `# How many ${kind.key} there are,
# and since when; the largest groups first.
# The next page of groups is \`after\` the cursor of the last one.
query ${titleOf(kind)}Groups($first: Int = 10, $after: String) {
  ${kind.names.list} {
    aggregate {
      count
      groups(by: ["${path}"], first: $first, after: $after) {
        keys
        cursor
        aggregate {
          count
          oldest: min(path: "metadata.creationTimestamp")
        }
      }
    }
  }
}
`;
}

/** The choices of a filter menu. */
export function menuExample(kind: CatalogKind): string {
  const paths = ['health.status', ...(kind.resource.namespaced ? ['metadata.namespace'] : []), 'health.reason'];
  return `# The choices of a filter menu, each without what the filter says of it;
# and what completes the typed text.
query FilterMenu($filter: ${kind.names.filter}, $typed: String! = "a") {
  ${kind.names.list}(filter: $filter) {
    totalCount
    facets(paths: ${listOf(paths)}, first: 5) {
      path
      more
      values {
        value
        count
      }
    }
    completion: facets(paths: ["metadata.name"], contains: $typed, first: 5) {
      values {
        value
        count
      }
    }
  }
}
`;
}

/**
 * Objects of a kind with what its relations lead to: those with the most related objects first, or the newest if each has one.
 * @param relations at least one, to kinds of the schema.
 */
export function relatedExample(kind: CatalogKind, relations: readonly KindRelation[]): string {
  const many = relations.find((each) => each.many);
  const path = many === undefined ? 'metadata.creationTimestamp' : `count(${many.name})`;
  const fields = relations.map(({ name, many }) =>
    many
      ? `      ${name}(first: 3) {
        totalCount
        nodes {
          id
          metadata {
            name
          }
        }
      }`
      : `      ${name} {
        id
        metadata {
          name
        }
      }`,
  );
  return `# ${kind.key}, and the objects that they are related to.
query ${titleOf(kind)}Related($first: Int = 10) {
  ${kind.names.list}(
    orderBy: [{ path: "${path}", direction: DESC }]
    first: $first
  ) {
    totalCount
    nodes {
      id
      metadata {
${kind.resource.namespaced ? '        namespace\n' : ''}        name
      }
${fields.join('\n')}
    }
  }
}
`;
}

/** An example: the users of the objects of a kind. */
export function usersExample(kind: CatalogKind): string {
  return `# What uses the ${kind.key}, and at which path.
query WhatUses${titleOf(kind)}($first: Int = 5) {
  ${kind.names.list}(filter: { usedBy: { exists: true } }, first: $first) {
    totalCount
    nodes {
      id
      metadata {
${kind.resource.namespaced ? '        namespace\n' : ''}        name
      }
      usedBy {
        totalCount
        edges {
          via
          node {
            id
            kind
            metadata {
              name
            }
          }
        }
      }
    }
  }
}
`;
}

/** The Kind as a part of an operation's name, which is the title of its tab. */
function titleOf({ resource }: CatalogKind): string {
  return legalName(resource.kind);
}

function listOf(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(', ')}]`;
}

/** The type of the condition that the kind's printer columns show; Ready if they show none. */
function conditionOf({ printerColumns }: CatalogKind): string {
  const shown = printerColumns.map(({ path }) => /^status\.conditions\[type="?([\w.-]+)"?\]/.exec(path ?? '')?.[1]);
  return shown.find((type) => type !== undefined) ?? 'Ready';
}
