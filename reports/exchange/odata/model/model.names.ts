/** Names that are taken by the schema itself. */
const CONTAINER = 'EstateContainer';

/** Hands out names that differ in more than case from all that it has handed out before. */
export function createNames(taken: Iterable<string> = [CONTAINER]): (...wanted: string[]) => string {
  const used = new Set([...taken].map((name) => name.toLowerCase()));
  return (...wanted) => {
    const last = wanted.at(-1)!;
    for (let n = 0; ; n += 1) {
      const name = n < wanted.length ? wanted[n]! : `${last}_${n - wanted.length + 2}`;
      if (used.has(name.toLowerCase())) continue;
      used.add(name.toLowerCase());
      return name;
    }
  };
}

export const containerName = CONTAINER;

/** A key as the name of a type: with a capital. */
export const pascal = (key: string): string => key.charAt(0).toUpperCase() + key.slice(1);
