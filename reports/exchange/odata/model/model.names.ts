/** Names that the schema itself uses. */
const CONTAINER = 'EstateContainer';

/** Returns a function that returns unique names, compared without case: the first free of the wanted ones, else numbered. */
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

/** A type name from a key: the first letter is upper case. */
export const pascal = (key: string): string => key.charAt(0).toUpperCase() + key.slice(1);
