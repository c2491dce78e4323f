/** A number with its noun, as texts for people have it: `1 card`, `2 cards`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;
