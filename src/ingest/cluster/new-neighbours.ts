/**
 * Custom resources that must be described again, because kinds of their API came or went: relations to these are inferred from their names.
 *
 *   a round sees other kinds of an API -> the API waits until its kinds stay the same for `quietMs` -> its custom resources are due once
 *
 * An API is what groups with the same last two labels have in common: aws.upbound.io and ec2.aws.upbound.io. Definitions are often
 * installed one after the other, and each description reads one definition from the server.
 */
import type { Clock } from '../../base/clock.ts';
import { isOwnGroup } from '../../catalog/names/reserved-names.ts';
import type { Resource } from '../../catalog/resources/resource.ts';

/** Milliseconds without another kind of the API. */
const quietMs = 30_000;

export class NewNeighbours {
  readonly #clock: Clock;
  /** The kinds of each API, as one text. */
  #kinds: ReadonlyMap<string, string> | null = null;
  /** When the kinds of an API changed last, in milliseconds of the monotonic clock. */
  readonly #changed = new Map<string, number>();
  #due: ReadonlySet<string> = new Set();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes the kinds that the cluster serves. The first call only remembers them. */
  see(resources: readonly Resource[]): void {
    const kinds = new Map<string, string>();
    for (const [api, some] of Map.groupBy(resources.filter(isCustom), ({ group }) => apiOf(group))) {
      kinds.set(
        api,
        some
          .map(({ group, kind }) => `${kind}.${group}`)
          .sort()
          .join(),
      );
    }
    for (const [api, text] of kinds) {
      if (this.#kinds !== null && this.#kinds.get(api) !== text) this.#changed.set(api, this.#clock.monotonic());
    }
    this.#kinds = kinds;
    const now = this.#clock.monotonic();
    this.#due = new Set([...this.#changed].flatMap(([api, at]) => (now - at >= quietMs ? [api] : [])));
  }

  /** Whether the resource must be described again in this round. */
  isDue(resource: Resource): boolean {
    return isCustom(resource) && this.#due.has(apiOf(resource.group));
  }

  /** The resources that were due have been described. */
  done(): void {
    for (const api of this.#due) this.#changed.delete(api);
  }
}

function isCustom({ group }: Resource): boolean {
  return group.includes('.') && !isOwnGroup(group);
}

function apiOf(group: string): string {
  return group.split('.').slice(-2).join('.');
}
