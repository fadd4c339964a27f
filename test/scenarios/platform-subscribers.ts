/** Subscribers that were there before the kinds of the platform, and stay until the end. */
import { type Collected, subscribe } from '../kit/graphql-client.ts';
import { comparedKinds } from './platform-agreement.ts';
import { namespace } from './platform-manifests.ts';
import type { Named } from './platform-pages.ts';

/** Of all kinds: a word for a kind that is not served is refused. */
const objectChanges = /* GraphQL */ `
  subscription ($namespace: String!) {
    objectChanges(kinds: ["*"], filter: { namespaces: [$namespace] }) {
      phase reset removedIds
      changes { type id object { kind metadata { name resourceVersion } } }
    }
  }
`;

interface ObjectsMessage {
  readonly phase: string;
  readonly reset: boolean;
  readonly removedIds: readonly string[];
  readonly changes: readonly {
    readonly id: string;
    readonly object: (Named & { readonly metadata: { readonly resourceVersion: string } }) | null;
  }[];
}

const resourceChanges = /* GraphQL */ `
  subscription {
    resourceChanges { changes { type resource { key synced } } }
  }
`;

interface ResourcesMessage {
  readonly changes: readonly { readonly resource: { readonly key: string; readonly synced: boolean } | null }[];
}

export class PlatformSubscribers {
  readonly #objects: Collected<ObjectsMessage>;
  readonly #resources: Collected<ResourcesMessage>;

  constructor(url: string) {
    this.#objects = subscribe(url, objectChanges, { namespace }, (found) => found['objectChanges'] as ObjectsMessage);
    this.#resources = subscribe(url, resourceChanges, {}, (found) => found['resourceChanges'] as ResourcesMessage);
  }

  /** Resolves when the first snapshot of objects is complete. */
  async synced(): Promise<void> {
    await this.#objects.until((messages) => messages.some(({ phase }) => phase === 'SYNCED'));
  }

  /** Resolves when the subscriber of resources has heard that these are synced. */
  async serves(keys: readonly string[]): Promise<void> {
    await this.#resources.until((messages) => {
      const told = messages.flatMap(({ changes }) => changes.map(({ resource }) => resource));
      const synced = new Set(told.flatMap((resource) => (resource?.synced === true ? [resource.key] : [])));
      return keys.every((key) => synced.has(key));
    });
  }

  /** The objects of the compared kinds after the newest message, such as `Pod east-db-0 1234`. */
  held(): readonly string[] {
    const byId = new Map<string, string>();
    for (const { reset, removedIds, changes } of this.#objects.messages) {
      if (reset) byId.clear();
      for (const id of removedIds) byId.delete(id);
      for (const { id, object } of changes) {
        if (object === null || !comparedKinds.has(object.kind)) continue;
        byId.set(id, `${object.kind} ${object.metadata.name} ${object.metadata.resourceVersion}`);
      }
    }
    return [...byId.values()].toSorted();
  }

  async stop(): Promise<void> {
    await this.#objects.stop();
    await this.#resources.stop();
  }
}
