/**
 * Which kinds changed, according to the writer's commit signals. A kind that did not change needs no read.
 *
 * The signals cover one stretch of the change log, from the beginning of the first signal to the newest revision. Within the
 * stretch a kind changed only where a signal names it. A signal that does not connect to the stretch begins a new one.
 *
 * Example: the signals are (10, 12] with Pods and (12, 15] with Events.
 *   Nodes read up to 11   unchanged until 15
 *   Pods read up to 12    unchanged until 15
 *   Pods read up to 11    unknown: the change may be the one at 12
 *   Nodes read up to 9    unknown: no signal covers the change at 10
 */
import type { CommittedChanges } from '../../store/types/change.ts';

export class CommittedKinds {
  #epoch: string | null = null;
  /** Null when the newest commits are unknown. */
  #stretch: { readonly from: number; readonly to: number } | null = null;
  /** The revision of the newest signal that names the kind, by id of the kind. */
  readonly #newest = new Map<number, number>();

  /** Records a commit signal. Without one, every kind may have changed. */
  note(committed: CommittedChanges | undefined): void {
    if (committed === undefined) {
      this.#stretch = null;
      return;
    }
    const { epoch, after, revision, kindIds } = committed;
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#stretch = null;
      this.#newest.clear();
    }
    const known = this.#stretch;
    const connects = known !== null && after <= known.to && revision >= known.from;
    this.#stretch = connects
      ? { from: Math.min(known.from, after), to: Math.max(known.to, revision) }
      : { from: after, to: revision };
    for (const kindId of kindIds) {
      this.#newest.set(kindId, Math.max(revision, this.#newest.get(kindId) ?? 0));
    }
  }

  /** The revision up to which the kind has no change after `sequence`; null when that is unknown. */
  unchangedUntil(kindId: number, epoch: string, sequence: number): number | null {
    const known = this.#stretch;
    if (known === null || epoch !== this.#epoch || sequence < known.from) return null;
    if ((this.#newest.get(kindId) ?? 0) > sequence) return null;
    return Math.max(sequence, known.to);
  }
}
