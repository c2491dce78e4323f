import { setTimeout as delay } from 'node:timers/promises';

const LOOK_MS = 25;
const LIMIT_MS = 45_000;

/**
 * Looks again and again until there is a value, and answers it.
 * @throws Error that says what was waited for and what was seen last.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false | null>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  let seen: unknown;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false && value !== null) return value;
    seen = value;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}; saw ${JSON.stringify(seen)}`);
    await delay(LOOK_MS);
  }
}
