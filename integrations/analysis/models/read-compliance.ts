import Type, { type Static } from 'typebox';
import type { OutgoingCard } from '../../../domain/analysis/ai/ai.outgoing.ts';
import { missingForAi } from '../../../domain/analysis/ai/ai.provider.ts';
import type { CardReader, Reading } from '../../../domain/analysis/compliance/scans.read.ts';
import type { RunModelState } from '../../../domain/analysis/runs/runs.types.ts';
import type { ReadingRule } from '../../../domain/governance/compliance/rules/rules.types.ts';
import { loadSettings } from '../../../domain/kernel/settings/settings.read.ts';
import { arrayOf, Nullable, object } from '../../../domain/kernel/shapes.ts';
import { numbersIn, plainText, promptNamed, shortenCard } from './models.data.ts';
import { askBySplitting, createRunModel } from './models.run.ts';
import type { ModelRetryPolicy, ModelServices, Prompt } from './models.types.ts';

const complianceReadingPrompt = promptNamed('compliance-reading');

const LONGEST_QUOTE = 300;
const LONGEST_REASON = 400;

const text = (maxLength: number) => Nullable(Type.String({ maxLength }));
const schema = object({
  cards: arrayOf(
    {
      id: Type.String({ maxLength: 40 }),
      applies: Type.Boolean(),
      quote: text(LONGEST_QUOTE),
      reason: text(LONGEST_REASON),
    },
    { maxItems: 50 },
  ),
});

type Said = Static<typeof schema>['cards'][number];

/**
 * Creates the reader of cards for a scan with the configured model; undefined if none is configured.
 * @param before state of an earlier worker of the scan.
 */
export async function createCardReader(
  services: ModelServices,
  runId: string,
  signal: AbortSignal,
  before: RunModelState | undefined,
  retryPolicy?: ModelRetryPolicy,
): Promise<CardReader | undefined> {
  const settings = await loadSettings(services.db);
  if (missingForAi(settings).length > 0) return undefined;
  const model = createRunModel(services, runId, signal, retryPolicy, before);
  const { ai } = settings.values;
  const { name, version } = complianceReadingPrompt;
  return {
    version: `${name}@${version} ${ai.provider_type} ${ai.model}`,
    async read(rule, all) {
      return await askBySplitting(model, all.map(shortenCard), async (cards, isPart) => {
        const answer = await model.ask(
          'compliance readings',
          { purpose: 'compliance', prompt: promptOf(rule), data: { cards }, schema, maxOutputTokens: 4_000 },
          isPart,
        );
        return answer && usable(answer.cards, cards);
      });
    },
    state: () => model.state(),
  };
}

/** The question is part of the instructions, since it comes from our rules. */
const promptOf = ({ requirement, question }: ReadingRule): Prompt => ({
  ...complianceReadingPrompt,
  system: `${complianceReadingPrompt.system}\n\nThe requirement: ${requirement}\nThe question: ${question}`,
});

/**
 * The usable parts of an answer, checked per card: each card once, and quotations only if the card contains them.
 */
function usable(answers: readonly Said[], cards: readonly OutgoingCard[]): Reading[] {
  const texts = new Map(cards.map((card) => [card.id, textsOf(card).map(plain)]));
  const given = new Map<string, Reading>();
  for (const { id, applies, quote, reason } of answers) {
    const said = texts.get(id);
    if (!said || given.has(id)) continue;
    if (!applies) {
      given.set(id, { card_id: id, applies, quote: null, reason: null });
      continue;
    }
    const words = plain(quote ?? '');
    if (words === '' || !said.some((one) => one.includes(words))) continue;
    given.set(id, { card_id: id, applies, quote: words, reason: usableReason(reason, said) });
  }
  return [...given.values()];
}

/** A reason without links and without numbers that the card does not contain. */
function usableReason(reason: string | null, said: readonly string[]): string | null {
  const words = plain(reason ?? '');
  if (words === '' || /https?:|www\.|[<>]/u.test(words)) return null;
  return numbersIn(words).every((number) => said.some((one) => one.includes(number))) ? words : null;
}

const plain = (value: string): string => plainText(value).replace(/\s+/g, ' ').trim();

/** All texts of a card, as they were sent. */
function textsOf({ name, alias, description, subtype, attributes = {} }: OutgoingCard): string[] {
  return [name, alias, description, subtype, ...Object.values(attributes)].filter(
    (value): value is string => typeof value === 'string',
  );
}
