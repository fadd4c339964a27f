/**
 * A float as Go writes it: with an exponent of two digits or more from 10^6 on and below 10^-4.
 *
 *   goFloat('1.5e+6')   1.5e+06
 *   goFloat('1.5e+5')   150000
 *   goFloat('1e-5')     1e-05
 *
 * @param exponential the float as Number.prototype.toExponential writes it
 */
export function goFloat(exponential: string): string {
  const [digits = '', exponent = ''] = exponential.split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(Number(exponential));
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}
