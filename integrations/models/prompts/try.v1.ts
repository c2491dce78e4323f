import type { Prompt } from '../models.types.ts';

/** Shows whether a model follows prompt and schema. */
export const tryPrompt: Prompt = {
  name: 'try',
  version: 1,
  system: 'The data holds two numbers, a and b. Answer with their sum.',
};
