/** Quantities such as `250m`, `2`, `512Mi` as whole thousandths, and back. */

const suffixes: Readonly<Record<string, number>> = {
  m: 1,
  '': 1000,
  k: 1e6,
  M: 1e9,
  G: 1e12,
  T: 1e15,
  Ki: 1000 * 2 ** 10,
  Mi: 1000 * 2 ** 20,
  Gi: 1000 * 2 ** 30,
  Ti: 1000 * 2 ** 40,
};

/** The value in thousandths, rounded up: 250 for `250m`, 2000 for `2`. 0 for anything that is no quantity. */
export function quantityOf(value: unknown): number {
  const [, digits, suffix = ''] = /^([0-9.]+(?:e[0-9]+)?)(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/.exec(String(value)) ?? [];
  return digits === undefined ? 0 : Math.ceil(Number(digits) * (suffixes[suffix] ?? 0));
}

/** Thousandths as text: `250m`, `2`; with `binary` in the greatest unit that leaves a whole number: `512Mi`. */
export function quantityText(thousandths: number, form: 'decimal' | 'binary'): string {
  if (thousandths === 0) return '0';
  if (form === 'decimal') return thousandths % 1000 === 0 ? String(thousandths / 1000) : `${thousandths}m`;
  for (const unit of ['Ti', 'Gi', 'Mi', 'Ki']) {
    const size = suffixes[unit] ?? 1;
    if (thousandths % size === 0) return `${thousandths / size}${unit}`;
  }
  return String(Math.ceil(thousandths / 1000));
}
