/** What one formula may use; a formula has no loops, so these bound its time and memory. */
export const formulaLimits = {
  /** Characters of the formula. */
  length: 5_000,
  /** Brackets within each other. */
  brackets: 64,
  /** Operations within each other; a row of sums or of `and` counts as one. */
  depth: 200,
  /** Nodes visited and list items looked at in one run. */
  steps: 100_000,
  /** Characters of any text made. */
  text: 10_000,
} as const;
