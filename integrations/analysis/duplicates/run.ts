import { createHash } from 'node:crypto';
import {
  type ComparedField,
  comparedFields,
  valuedFields,
} from '../../../domain/analysis/duplicates/duplicates.fields.ts';
import type { DuplicateParameters } from '../../../domain/analysis/duplicates/duplicates.model.ts';
import { type CardRecord, recordPages } from '../../../domain/analysis/duplicates/duplicates.records.ts';
import type { ActiveRun, AnalysisJob } from '../../../domain/analysis/runs/runs.ts';
import { command } from '../../../domain/kernel/command.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { type Db, query, READER_IDLE_TIMEOUT } from '../../../platform/database.ts';
import { unpack } from '../../../platform/pack.ts';
import { type MatchModel, MODEL_FORMAT, type Vocabulary } from '../matching/matching.types.ts';
import { isSameVocabulary } from '../matching/own-words.ts';
import { decidedPairs, trainingDecisions, versionOf as versionOfDecided } from './decisions.ts';
import { type Find, openSearch } from './find.ts';
import type { Packed } from './find.types.ts';
import { storeFound, type TypeFigures } from './run.store.ts';
import { readVocabulary } from './vocabulary.ts';

/** Stored figures with the version of the decisions that they are based on. */
type LastFigures = TypeFigures & { decided: string };

/** By searched type. */
type Done = Record<string, TypeFigures>;

/**
 * Executes a run: finds, type by type, cards that represent the same object, and stores the results. After a
 * worker's death it resumes with the current type.
 */
export async function findDuplicateCards(
  job: AnalysisJob,
  run: ActiveRun,
  { db }: Pick<Services, 'db'>,
): Promise<void> {
  const { mode, card_types } = run.parameters as unknown as DuplicateParameters;
  const { metamodel } = job.ctx;
  const types = (card_types ?? metamodel.visibleTypes).filter((type) => metamodel.cardTypes.has(type));
  const done: Done = (job.resume as { done: Done } | null)?.done ?? {};
  const counts = await countCards(db, types);
  const cards = types.reduce((sum, type) => sum + (counts.get(type) ?? 0), 0);
  const all = Math.max(1, cards);
  const searched = new Set(await db('duplicate_states').pluck('card_type'));
  const vocabulary = await readVocabulary(db);
  const search = openSearch(job.signal);
  try {
    let before = 0;
    for (const type of types) {
      const cards = counts.get(type) ?? 0;
      // nothing to compare; stored results remain
      if (!done[type] && (cards > 1 || searched.has(type))) {
        const from = before;
        const share = (part: number) => Math.min(0.99, (from + part * cards) / all);
        const { find } = search;
        await searchType(job, run, db, { metamodel, key: type, cards, mode, vocabulary, share, done, find });
      }
      before += cards;
    }
  } finally {
    search.close();
  }
  await command(job.ctx, async (work) => {
    const sum = (of: (figures: TypeFigures) => number) =>
      Object.values(done).reduce((total, figures) => total + of(figures), 0);
    await run.finish(work, {
      modelVersion: versionOf(done),
      results: {
        cards: sum(({ cards }) => cards),
        changed: sum(({ changed }) => changed),
        compared_now: sum(({ compared_now }) => compared_now),
        pairs: sum(({ pairs }) => pairs),
        matches: sum(({ matches }) => matches),
        clusters: sum(({ clusters }) => clusters),
        pending: sum(({ pending }) => pending),
        learn_advised: Object.keys(done).filter((type) => done[type]!.learn_advised),
        types: done,
      },
    });
  });
}

/** One version for the models of all types. */
function versionOf(done: Done): string | null {
  const models = Object.entries(done)
    .map(([type, { model }]) => `${type} ${model}`)
    .sort();
  if (models.length === 0) return null;
  return createHash('sha256').update(models.join('\n')).digest('hex').slice(0, 32);
}

async function countCards(db: Db, types: readonly string[]): Promise<Map<string, number>> {
  const rows = await query(db).rows`select type, count(*)::int as n from cards
     where status = 'ACTIVE' and type = any(${types}::text[]) group by type`;
  return new Map(rows.map(({ type, n }: { type: string; n: number }) => [type, n]));
}

interface Searched {
  metamodel: Metamodel;
  key: string;
  cards: number;
  mode: DuplicateParameters['mode'];
  vocabulary: Vocabulary | undefined;
  /** Maps the progress of this type to the progress of the run. */
  share(part: number): number;
  done: Done;
  find: Find;
}

async function searchType(job: AnalysisJob, run: ActiveRun, db: Db, type: Searched): Promise<void> {
  const { metamodel, key, share, done, cards } = type;
  const { ctx } = job;
  const label = metamodel.cardTypes.get(key)!.label;
  job.progress(share(0), `Reads ${label}`);
  const facts = comparedFields(metamodel, metamodel.cardTypes.get(key)!);
  const { base, previous, fields, figures: last } = await known(db, type, facts);
  const decided = await decidedPairs(db, metamodel, key, facts);
  const found = await type.find({
    fields,
    base,
    previous,
    vocabulary: type.vocabulary,
    records: inSnapshot(db, metamodel, key, fields),
    decisions: trainingDecisions(decided),
    maySkip: last?.decided === versionOfDecided(decided),
    onProgress: (progress) => job.progress(share(0.9 * progress), `Compares ${label}`),
  });
  job.progress(share(0.9), `Storing the results of ${label}`);
  await command(ctx, async (work) => {
    await job.lock(work);
    const figures = found
      ? await storeFound(work, run, { key, cards, fields: facts }, found, () => job.signal.throwIfAborted())
      : unchanged(last!);
    done[key] = figures;
    await job.checkpoint(work, { progress: share(1), checkpoint: { done } });
  });
}

/** The figures of a run with the same result as the previous one. */
function unchanged({ decided: _, ...figures }: LastFigures): TypeFigures {
  return { ...figures, changed: 0, compared_now: 0 };
}

/**
 * The model and snapshot of earlier runs for the type, unless this run learns a new model. Another vocabulary changes the
 * similarities, so that all cards are compared.
 */
async function known(
  db: Db,
  { key, mode, vocabulary }: Searched,
  all: readonly ComparedField[],
): Promise<{
  base: Packed | null;
  previous: Packed | null;
  fields: ComparedField[];
  figures: LastFigures | undefined;
}> {
  const state =
    mode === 'learn'
      ? undefined
      : await db('duplicate_states').where({ card_type: key }).first('base_model', 'snapshot', 'figures');
  const model = unpack<MatchModel>(state?.base_model);
  // a model of another version of the service is learned again
  const fields = model?.format === MODEL_FORMAT ? sameFields(model, all) : undefined;
  if (!fields)
    return { base: null, previous: null, fields: await valuedFields(db, key, all), figures: undefined };
  const isIncremental = mode === 'changes' && isSameVocabulary(model!.vocabulary, vocabulary);
  const figures = isIncremental ? state.figures : undefined;
  return { base: state.base_model, previous: isIncremental ? state.snapshot : null, fields, figures };
}

/** The fields of a model, if all of them still exist. */
function sameFields(model: MatchModel, all: readonly ComparedField[]): ComparedField[] | undefined {
  const found = model.fields.map(({ name, kind }) =>
    all.find((field) => field.name === name && field.kind === kind),
  );
  return found.every((field) => field !== undefined) ? found : undefined;
}

/** All cards of the type in one snapshot. */
async function* inSnapshot(
  db: Db,
  metamodel: Metamodel,
  type: string,
  fields: readonly ComparedField[],
): AsyncGenerator<CardRecord[]> {
  const sql = await db.transaction({ isolationLevel: 'repeatable read', readOnly: true });
  try {
    await sql.raw(READER_IDLE_TIMEOUT);
    yield* recordPages(sql, metamodel, type, fields);
  } finally {
    await sql.commit();
  }
}
