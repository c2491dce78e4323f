import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { ReadQuestion, UnreadQuestion } from './question.draft.ts';
import { readQuestion } from './question.read.ts';
import { createVocabulary, type NamedTag, readTagNames, type Vocabulary } from './question.vocabulary.ts';

/** By metamodel, with the tags that it was made with: most questions come under those of the question before. */
const made = new WeakMap<Metamodel, { tags: string; vocabulary: Vocabulary }>();

function vocabularyOf(metamodel: Metamodel, tags: readonly NamedTag[]): Vocabulary {
  const names = JSON.stringify(tags);
  const known = made.get(metamodel);
  if (known?.tags === names) return known.vocabulary;
  const vocabulary = createVocabulary(metamodel, tags);
  made.set(metamodel, { tags: names, vocabulary });
  return vocabulary;
}

/** Reads a question with the names of the metamodel in force and of the tags. */
export async function readInventoryQuestion(
  ctx: Ctx,
  question: string,
): Promise<{ found: ReadQuestion | UnreadQuestion; tags: NamedTag[] }> {
  const tags = await readTagNames(ctx.db);
  const today = new Date().toISOString().slice(0, 10);
  return { found: readQuestion(vocabularyOf(ctx.metamodel, tags), question, today), tags };
}
