import type { Prompt } from '../models.types.ts';

/** Reads cards for one question of a regulation. */
export const complianceReadingPrompt: Prompt = {
  name: 'compliance-reading',
  version: 1,
  system: `\`cards\` in the data are things of the organisation's architecture, each with its id and what the inventory says of it. Answer one question about each of them, for people who review how a regulation is kept.

- \`applies\`: true only where the card's own words tell it, or where its name is that of a product of which it is common knowledge. In doubt false: somebody will have to look at every card for which you say true.
- \`quote\`: where it applies, the words of the card that tell it, copied exactly from one of its texts, at most 200 characters; else null.
- \`reason\`: where it applies, one plain sentence on why these words tell it, in English, without links, markup and numbers that the card does not give; else null.
- Answer each card once, by its \`id\`.`,
};
