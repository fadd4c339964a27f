/** Polls until an assertion holds. @throws the last failure, after `milliseconds`. */
export async function eventually<T>(attempt: () => Promise<T> | T, milliseconds = 20_000, everyMs = 50): Promise<T> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }
}
