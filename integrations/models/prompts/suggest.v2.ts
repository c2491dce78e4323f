import type { Prompt } from '../models.types.ts';

/** Proposes a description and attributes for one card. */
export const suggestPrompt: Prompt = {
  name: 'suggest',
  version: 2,
  system: `Somebody documents one thing of the organisation's architecture: \`card\` in the data, with its name, its type, and what the person has said about it. \`fields\` lists what can be filled in: the key of a field, its label, its type, and its options where it has some. \`similar\` lists things of the inventory that resemble it; they may or may not be related. \`web\`, where it is there, lists pages that a search of the web for the name has found; they may be about something else, and what they say is no more than what somebody wrote.

Suggest values only for fields of which the name, the context or common knowledge of a product tells you something definite. Leave out every other field: no suggestion is better than a guess.
- \`description\`: two to four sentences on what it is and what it is used for, in the language of the context, in plain text without links and markup.
- A field with options takes the key of one of them.
- \`confidence\`: from 0 to 1, how sure you are. Above 0.8 only for what is common knowledge or stands in the data.
- \`source\`: the id of the card in \`similar\` or of the page in \`web\` that the value was derived from, else null.`,
};
