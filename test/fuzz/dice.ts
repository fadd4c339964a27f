/** Choices that follow from a seed. */
import { seededRandom } from '../kit/seeded-random.ts';

export class Dice {
  readonly #next: () => number;

  /** The same seeds make the same choices. */
  constructor(...seeds: readonly number[]) {
    let seed = 0;
    for (const each of seeds) seed = Math.imul(seed ^ (each + 0x9e3779b9), 0x85ebca6b) ^ (seed >>> 13);
    this.#next = seededRandom(seed);
  }

  /** An integer from 0 to `below`, without it. */
  below(below: number): number {
    return Math.floor(this.#next() * below);
  }

  /** An integer from `least` to `most`, with both. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    const found = list[this.below(list.length)];
    if (found === undefined && list.length === 0) throw new Error('nothing to choose from');
    return found as T;
  }

  /** Up to `most` different ones, in a random order. */
  sample<T>(list: readonly T[], most: number): T[] {
    const left = [...list];
    const taken: T[] = [];
    while (taken.length < most && left.length > 0) taken.push(...left.splice(this.below(left.length), 1));
    return taken;
  }

  times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }

  /** What one of the choices makes, each as often as its weight says. */
  choose<T>(choices: readonly (readonly [weight: number, make: () => T])[]): T {
    let at = this.#next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, make] of choices) {
      at -= weight;
      if (at < 0) return make();
    }
    throw new Error('the choices have no weight');
  }
}
