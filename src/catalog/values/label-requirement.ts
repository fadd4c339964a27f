/** One requirement of a label selector. Source: LabelSelectorRequirement of meta/v1. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
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
  }
}
