/** The version of a Kubernetes server, and conditions on it. */

export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  /** Without the leading v: `1.37.2`. */
  readonly text: string;
}

/**
 * Reads the version from what `kube-apiserver --version` prints (`Kubernetes v1.37.2`) or from `gitVersion` of /version.
 * Throws for a text without a version.
 */
export function parseServerVersion(text: string): ServerVersion {
  const [, version = '', major = '', minor = ''] = /\bv((\d+)\.(\d+)\.\S+)/.exec(text) ?? [];
  if (version === '') throw new Error(`no version in ${JSON.stringify(text)}`);
  return { major: Number(major), minor: Number(minor), text: version };
}

/** Whether a server is of this minor version or of a newer one. */
export function isSince(version: ServerVersion, major: number, minor: number): boolean {
  return version.major > major || (version.major === major && version.minor >= minor);
}
