import { orderKey } from './values.ts';

/**
 * One requirement of a label selector. Source: LabelSelectorRequirement of meta/v1, and Requirement of k8s.io/apimachinery/pkg/labels, which
 * has `Gt` and `Lt` for the text of a selector.
 */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  /** One for `Gt` and `Lt`, an integer of 64 bits. */
  readonly values: readonly string[];
}

/** @param found the value of the label `key`; null without the label. */
export function meetsRequirement({ operator, values }: LabelRequirement, found: string | null): boolean {
  switch (operator) {
    case 'In':
      return found !== null && values.includes(found);
    case 'NotIn':
      return found === null || !values.includes(found);
    case 'Exists':
      return found !== null;
    case 'DoesNotExist':
      return found === null;
    case 'Gt':
    case 'Lt': {
      const number = labelNumber(found);
      const bound = labelNumber(values[0]);
      return number !== null && bound !== null && (operator === 'Gt' ? number > bound : number < bound);
    }
  }
}

/** The label as an integer of 64 bits; null for another text. */
export function labelNumber(text: string | null | undefined): bigint | null {
  const key = orderKey('Int64', text ?? null);
  return typeof key === 'bigint' ? key : null;
}
