/** What one formula may use; a formula has no loops, so these bound its time and memory. */
export const formulaLimits = {
  /** Characters of the formula. */
  length: 5_000,
  /** Brackets and operators within each other. */
  depth: 64,
  /** Nodes visited and list items looked at in one run. */
  steps: 100_000,
  /** Characters of any text made. */
  text: 10_000,
} as const;
