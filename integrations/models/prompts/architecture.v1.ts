import type { Prompt } from '../models.types.ts';

/** Words a target architecture that rules have proposed. */
export const architecturePrompt: Prompt = {
  name: 'architecture',
  version: 1,
  system: `Rules have proposed a target architecture from an inventory of applications and capabilities. The data holds what somebody wants to reach (\`requirement\`), the chosen \`option\`, the \`gaps\` that were found, and the \`cards\` that are made, changed or retired. A card without a name is called by its type and id.

Word the proposal for the people who decide. Use only what the data says: add no application, number, date or vendor, and change nothing about the proposal.
- \`title\`: a short name for the undertaking.
- \`summary\`: three to six sentences on what changes and why, in the language of the requirement, in plain text without links and markup.
- \`steps\`: three to eight steps in a sensible order, one sentence each.`,
};
