import type { Prompt } from '../models.types.ts';

/** Words observations about a portfolio anew. */
export const insightsPrompt: Prompt = {
  name: 'insights',
  version: 1,
  system: `\`insights\` in the data are observations about an organisation's applications, computed from its inventory, each with a key and the figures that it rests on. Word the observation and the recommendation of each anew for a manager who has a minute: one or two plain sentences each, without links and markup.
- Say nothing that the data does not say. Use no other numbers than those of the observation, written in digits.
- Give each insight back under its key, once. Leave out what you cannot word better.`,
};
