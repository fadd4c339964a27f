/** Polls until an assertion holds; the last failure is what is thrown when it never does. */
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
