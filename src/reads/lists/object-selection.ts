/** The selection of the objects of a list. */
import type { Projection } from '../../query/plan/plan.ts';

export interface ObjectSelection {
  /** The parts of each object. */
  readonly projection: Projection;
  /** Values of one object. */
  readonly cost: number;
  /**
   * Equal keys in one operation mean the same selection and the same arguments. The objects of a list are related to others by one
   * statement for each key.
   */
  readonly key: string;
}
