import Type, { type Static } from 'typebox';
import type { WorkspaceSettings } from '../../../domain/kernel/settings/settings.read.ts';
import { arrayOf, object } from '../../../domain/kernel/shapes.ts';
import { completeNow } from './models.complete.ts';
import { numbersIn } from './models.data.ts';
import { ModelFailure, type ModelFailureKind, type ModelServices } from './models.types.ts';

/** The texts of an insight. */
interface Worded {
  key: string;
  title: string;
  observation: string;
  recommendation: string;
  severity: string;
}

/** Insights, some of them rephrased by a model. */
export interface Reworded<T> {
  insights: (T & { reworded: boolean })[];
  /** The used model; null: none. */
  model: string | null;
  /** Why the configured model rephrased nothing. */
  model_failure: ModelFailureKind | null;
}

/** Insights with names of cards, values of attributes or costs are not sent. */
const NOT_SENT = new Set(['costs', 'crowded_capabilities', 'groups', 'colors', 'empty']);
const LONGEST = 600;

/**
 * Rephrases insights by a model, if the settings enable it. If the model fails, the computed texts are used.
 */
export async function rewordInsights<T extends Worded>(
  services: ModelServices,
  { values: { ai } }: WorkspaceSettings,
  insights: readonly T[],
): Promise<Reworded<T>> {
  const plain = insights.map((insight) => ({ ...insight, reworded: false }));
  const outgoing = insights.filter(({ key }) => !NOT_SENT.has(key));
  if (!ai.enabled || !ai.portfolio_insights_enabled || outgoing.length === 0) {
    return { insights: plain, model: null, model_failure: null };
  }
  const byKey = new Map(outgoing.map((insight) => [insight.key, insight]));
  try {
    const { answer, model } = await completeNow(services, 'insights', {
      data: {
        insights: outgoing.map(({ key, title, severity, observation, recommendation }) => ({
          key,
          title,
          severity,
          observation,
          recommendation,
        })),
      },
      schema: answerSchema([...byKey.keys()]),
    });
    const words = usable(answer, byKey);
    return {
      insights: plain.map((insight) => {
        const wording = words.get(insight.key);
        return wording ? { ...insight, ...wording, reworded: true } : insight;
      }),
      model,
      model_failure: null,
    };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    return { insights: plain, model: null, model_failure: error.kind };
  }
}

function answerSchema(keys: string[]) {
  const text = Type.String({ minLength: 1, maxLength: LONGEST });
  const key = Type.Union(keys.map((one) => Type.Literal(one)));
  const insights = arrayOf({ key, observation: text, recommendation: text }, { maxItems: 50 });
  return object({ insights });
}

/** The first text of each insight without new numbers and without links. */
function usable({ insights }: Static<ReturnType<typeof answerSchema>>, byKey: ReadonlyMap<string, Worded>) {
  const words = new Map<string, { observation: string; recommendation: string }>();
  for (const { key, observation, recommendation } of insights) {
    const known = byKey.get(key)!;
    const numbers = new Set(numbersIn(`${known.observation} ${known.recommendation}`));
    const text = `${observation} ${recommendation}`;
    const isTrue = numbersIn(text).every((number) => numbers.has(number));
    if (words.has(key) || !isTrue || /https?:|www\.|[<>\p{Cc}\p{Cf}]/u.test(text)) continue;
    words.set(key, { observation: observation.trim(), recommendation: recommendation.trim() });
  }
  return words;
}
