/**
 * Synthetic uids and versions for objects that have none (ComponentStatus, metrics). The store needs them to distinguish objects
 * and their states. Callers never see them, because they do not come from the API server.
 */

/** Derived from the object's location. Contains a slash, which never occurs in a real uid. */
export function syntheticUid(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** From a digest of the object's text; never compared as a number. */
export function syntheticVersion(digest: string): string {
  return `digest-${digest}`;
}

/** The uid from the API server; null for a synthetic one. */
export function servedUid(uid: string | null): string | null {
  return uid === null || uid.includes('/') ? null : uid;
}

/** The resourceVersion from the API server; null for a synthetic one. */
export function servedVersion(version: string): string | null {
  return version.startsWith('digest-') ? null : version;
}
