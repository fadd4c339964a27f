/**
 * F53: resourceVersions that look like numbers and have no order, as an aggregated server may return them. The hidden form is a
 * zero and the digits in reverse. This keeps all versions different and is reversible.
 */

/** JSON text with all its resourceVersions hidden. */
export function hideVersions(text: string): string {
  return text.replace(
    /"resourceVersion":"(\d+)"/g,
    (_, version: string) => `"resourceVersion":"0${[...version].reverse().join('')}"`,
  );
}

/** The real version of a hidden one; any other text is returned unchanged. */
export function revealVersion(version: string): string {
  return /^0\d+$/.test(version) ? [...version.slice(1)].reverse().join('') : version;
}
