/**
 * Runs a command again while it fails by what concurrent ones have done.
 * @param isTransient whether it can succeed the next time.
 * @param pause is awaited before each further attempt.
 * @throws the error of the last attempt, and at once one that is not transient.
 */
export async function retryWhile<T>(
  attempts: number,
  isTransient: (error: unknown) => boolean,
  run: () => Promise<T>,
  pause?: () => Promise<unknown>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === attempts || !isTransient(error)) throw error;
      await pause?.();
    }
  }
}
