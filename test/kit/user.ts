import { type Caller, noExtra, type UserInfo } from '../../src/access/caller.ts';

/** A user without uid and extra, unless they are given. */
export function userOf(user: string, groups: readonly string[] = [], more: Partial<UserInfo> = {}): UserInfo {
  return { user, groups, uid: '', extra: noExtra, ...more };
}

/** A caller whose credentials never end. */
export function callerOf(user: string, groups: readonly string[] = [], more: Partial<UserInfo> = {}): Caller {
  return { name: user, user: userOf(user, groups, more), validUntil: null };
}
