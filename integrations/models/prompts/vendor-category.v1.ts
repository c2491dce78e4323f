import type { Prompt } from '../models.types.ts';

/** Says what suppliers supply, of whom nothing but their names may be known. */
export const vendorCategoryPrompt: Prompt = {
  name: 'vendor-category',
  version: 1,
  system: `\`suppliers\` in the data are companies from which the organisation has software, hardware or services, each with what is known of it. \`categories\` lists what suppliers supply.

Say of each supplier which of the categories fits best what it mainly supplies, by its exact name in the list. Answer null where you do not know the company, or where none of them fits: no category is better than a guess. \`confidence\` is from 0 to 1, how sure you are. Answer each supplier once, by its \`id\`.`,
};
