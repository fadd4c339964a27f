/**
 * Uids and versions that Portolan makes up for objects that have none (ComponentStatus, metrics): the store needs them to tell
 * objects and their states apart, callers must not see them as if the API server had said them.
 */

/** From the place of the object: a slash never stands in a real uid. */
export function syntheticUid(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** From a digest of the object's text; never compared as a number. */
export function syntheticVersion(digest: string): string {
  return `digest-${digest}`;
}

/** The uid as the API server has it, null for one that was made up. */
export function servedUid(uid: string | null): string | null {
  return uid === null || uid.includes('/') ? null : uid;
}

/** The resourceVersion as the API server has it, null for one that was made up. */
export function servedVersion(version: string): string | null {
  return version.startsWith('digest-') ? null : version;
}
