/** Splits a flat list into lists that are as long as those of `lists`: reverses `lists.flat()` for what was made of its items. */
export function splitLike<T>(lists: readonly (readonly unknown[])[], flat: readonly T[]): T[][] {
  let at = 0;
  return lists.map(({ length }) => {
    at += length;
    return flat.slice(at - length, at);
  });
}
