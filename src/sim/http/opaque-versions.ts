/**
 * F53: resourceVersions that look like numbers and have no order, as an aggregated server may give them. The digits stand in reverse
 * behind a zero, which keeps every version different and can be read back.
 */

/** A text of JSON with all its resourceVersions hidden. */
export function hideVersions(text: string): string {
  return text.replace(
    /"resourceVersion":"(\d+)"/g,
    (_, version: string) => `"resourceVersion":"0${[...version].reverse().join('')}"`,
  );
}

/** The version behind a hidden one; anything else as it is. */
export function revealVersion(version: string): string {
  return /^0\d+$/.test(version) ? [...version.slice(1)].reverse().join('') : version;
}
