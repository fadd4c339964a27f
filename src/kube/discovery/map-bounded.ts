/** Runs `task` for all items, at most `limit` at a time. The results have the order of the items. */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  task: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const run = async (): Promise<void> => {
    // The iterator is shared: each runner takes the next unclaimed item.
    for (const [index, item] of queue) results[index] = await task(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, run));
  return results;
}
