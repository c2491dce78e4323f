import { aiNotConfigured, missingForAi } from '../../../domain/analysis/ai/ai.provider.ts';
import { noteQuery } from '../../../domain/inventory/metamodel/usage/requests.ts';
import type { ReportQuery } from '../../../domain/inventory/reports/report.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { JsonText } from '../../../domain/kernel/lists/lists.types.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { WorkspaceSettings } from '../../../domain/kernel/settings/settings.read.ts';
import { type ModelReading, readByModel } from '../../../integrations/analysis/models/question.ts';
import { EstateError } from '../../../platform/errors.ts';
import { planQuery } from '../../../reports/analysis/query/query.plan.ts';
import { runQuery } from '../../../reports/analysis/query/query.run.ts';
import type { UnreadQuestion } from '../../../reports/analysis/question/question.draft.ts';
import { readInventoryQuestion } from '../../../reports/analysis/question/question.read.ts';
import { QuestionTexts } from '../../../reports/analysis/question/question.says.ts';
import type { ChartLanguage } from '../../../reports/kernel/charts/charts.texts.ts';

/** Default number of groups in the response. */
const PAGE_SIZE = 1_000;

/** A question and the options for answering it. */
export interface AskedQuestion {
  question: string;
  run: boolean;
  use_model: boolean;
  /** Of the interpretation. */
  language: ChartLanguage | undefined;
}

/**
 * Converts a question into a query, by rules or else by a model, and runs it with the caller's rights.
 * @throws EstateError `question_not_understood`, `ai_not_configured`, and as readByModel and runQuery.
 */
export async function answerQuestion(
  ctx: Ctx,
  services: Services,
  settings: WorkspaceSettings,
  { question, run, use_model, language }: AskedQuestion,
): Promise<JsonText> {
  const { found, tags, similar } = await readInventoryQuestion(ctx, question, language);
  const byRules = 'query' in found;
  if (!byRules)
    await requireModel(ctx, settings, use_model, found, new QuestionTexts(language ?? 'en'), () =>
      similar((query) => canRun(ctx, query)),
    );
  const read: Omit<ModelReading, 'model'> & Partial<ModelReading> = byRules
    ? found
    : await readByModel(ctx, services, { question, tags, errorsOf: (query) => errorsOf(ctx, query) });
  noteQuery(ctx, read.query);
  const page = { page: 1, page_size: read.limit ?? PAGE_SIZE };
  // check the caller's rights even if the query is not run
  if (!run) await planQuery(ctx, read.query);
  const answer = run ? await runQuery(ctx, read.query, page) : 'null';
  const members = {
    query: { ...read.query, ...page },
    translated_by: byRules ? 'rules' : 'model',
    reading: read.reading,
    limit: read.limit ?? null,
    model: read.model ?? null,
  };
  return `${JSON.stringify(members).slice(0, -1)},"answer":${answer}}`;
}

/** @throws EstateError if no model may or can be used, with what the rules did not understand and a similar question. */
async function requireModel(
  { caller }: Ctx,
  settings: WorkspaceSettings,
  wanted: boolean,
  unread: UnreadQuestion,
  texts: QuestionTexts,
  similar: () => Promise<string | undefined>,
): Promise<void> {
  const missing = missingForAi(settings);
  if (wanted && missing.length === 0) return;
  const { unknown, ambiguous } = unread;
  const suggestion = await similar();
  const extra = {
    unknown: unknown.slice(0, 50),
    ambiguous: ambiguous.slice(0, 20),
    suggestion: suggestion ?? null,
  };
  const detail = refusalDetail(texts, unread, suggestion);
  if (!wanted) throw new EstateError('question_not_understood', detail, { extra });
  const refusal = aiNotConfigured(missing);
  // how to set one up is of use to those alone who can
  const advice = may(caller, 'admin.settings')
    ? texts.say('question.setUp', { missing: texts.join(missing, 'and') })
    : texts.say('question.noModel');
  throw new EstateError('ai_not_configured', `${detail} ${advice}`, {
    extra: { ...refusal.extra, ...extra },
  });
}

/** What was not understood, and what is instead. */
function refusalDetail(
  texts: QuestionTexts,
  { unknown, ambiguous }: UnreadQuestion,
  suggestion: string | undefined,
): string {
  const parts = ambiguous
    .slice(0, 3)
    .map(({ text, meanings }) =>
      texts.say('question.canMean', { text, meanings: texts.join(meanings, 'or') }),
    );
  if (unknown.length > 0)
    parts.unshift(texts.say('question.notUnderstood', { words: unknown.slice(0, 10).join(', ') }));
  if (parts.length === 0) parts.push(texts.say('question.nothing'));
  if (suggestion !== undefined) parts.push(texts.say('question.understood', { question: suggestion }));
  return parts.join(' ');
}

/** Whether the caller may run the query. */
async function canRun(ctx: Ctx, query: ReportQuery): Promise<boolean> {
  try {
    await planQuery(ctx, query);
    return true;
  } catch (error) {
    if (error instanceof EstateError) return false;
    throw error;
  }
}

/** The errors of a model's query, which the model gets to correct it. */
async function errorsOf(ctx: Ctx, query: ReportQuery): Promise<string[]> {
  try {
    await planQuery(ctx, query);
    return [];
  } catch (error) {
    if (!(error instanceof EstateError) || !error.errors) throw error;
    return error.errors.map(({ field, message }) => `${field}: ${message}`);
  }
}
