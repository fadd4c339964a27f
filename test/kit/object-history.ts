/** Each change of the objects of a collection, in the order in which the API server stored them, by a watch. */
import { createInterface, type Interface } from 'node:readline';
import { expect } from 'vitest';
import type { RestClient } from '../../src/kube/client/rest-client.ts';
import { eventually } from './eventually.ts';
import type { ReadObject } from './planned-changes.ts';

/** One write of an object. */
export interface StoredChange {
  /** Null: there was none. */
  readonly before: ReadObject | null;
  /** Null: it was deleted. */
  readonly after: ReadObject | null;
}

interface List {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly ReadObject[];
}

export class ObjectHistory {
  readonly #list: () => Promise<List>;
  readonly #changes = new Map<string, StoredChange[]>();
  readonly #states: Map<string, ReadObject>;
  readonly #lines: Interface;

  private constructor(list: () => Promise<List>, states: Map<string, ReadObject>, lines: Interface) {
    this.#list = list;
    this.#states = states;
    this.#lines = lines;
    lines.on('line', (line) => {
      const event = JSON.parse(line) as { type: string; object: ReadObject };
      const { name } = event.object.metadata;
      const before = this.#states.get(name) ?? null;
      const after = event.type === 'DELETED' ? null : event.object;
      if (after === null) this.#states.delete(name);
      else this.#states.set(name, after);
      this.#changes.set(name, [...this.of(name), { before, after }]);
    });
  }

  /** From now on. @param head what the elements of a list lack */
  static async start(
    api: RestClient,
    path: string,
    head: { readonly apiVersion: string; readonly kind: string },
  ): Promise<ObjectHistory> {
    const list = () => api.get<List>(path);
    const { metadata, items } = await list();
    const { body } = await api.stream(path, { watch: true, resourceVersion: metadata.resourceVersion });
    const states = new Map(items.map((item) => [item.metadata.name, { ...head, ...item }]));
    return new ObjectHistory(list, states, createInterface({ input: body }));
  }

  /** The changes of an object until now. */
  of(name: string): readonly StoredChange[] {
    return this.#changes.get(name) ?? [];
  }

  /** Waits until the watch has brought what is stored, and ends. Nothing may be written meanwhile. */
  async end(): Promise<void> {
    const { items } = await this.#list();
    const versions = (objects: Iterable<ReadObject>) =>
      [...objects].map(({ metadata: { name, resourceVersion } }) => `${name} ${resourceVersion}`).toSorted();
    await eventually(() => expect(versions(this.#states.values())).toEqual(versions(items)));
    this.#lines.close();
  }
}
