import { readSetting } from '../../../domain/kernel/settings/settings.read.ts';
import type { Sql } from '../../../platform/database.ts';
import type { Vocabulary } from '../matching/matching.types.ts';
import { vocabularyOf } from '../matching/own-words.ts';

/** The workspace's vocabulary; undefined if it is empty. */
export const readVocabulary = async (sql: Sql): Promise<Vocabulary | undefined> =>
  vocabularyOf(await readSetting(sql, 'matching_vocabulary'));
