import { createHash } from 'node:crypto';
import { embed, inTransaction, query, type Sql } from '../../../platform/database.ts';
import { compileApplies } from '../../governance/compliance/rules/rules.compile.ts';
import type { ReadingRule } from '../../governance/compliance/rules/rules.types.ts';
import { command } from '../../kernel/command.ts';
import type { Work } from '../../kernel/context.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { readSetting } from '../../kernel/settings/settings.read.ts';
import { type OutgoingCard, readOutgoingCards } from '../ai/ai.outgoing.ts';
import type { AnalysisJob } from '../runs/runs.ts';
import type { RunModelState } from '../runs/runs.types.ts';
import {
  reconcileFindings,
  type ScannedContent,
  type ScannedFinding,
  type Source,
} from './scans.reconcile.ts';
import {
  FIRST,
  findingContent,
  nextKnownPage,
  type RulePlace,
  type RuleStep,
  readKnownFindings,
} from './scans.rule.ts';

/** Number of cards that are processed before their findings are stored. */
const PAGE = 200;
/** Number of cards in one request to the model. */
const AT_ONCE = 20;

/** The model's result for one card. */
export interface Reading {
  card_id: string;
  applies: boolean;
  /** A quotation from the card, and the reason; null if the rule does not apply. */
  quote: string | null;
  reason: string | null;
}

/** Evaluates cards for rules that need a language model. */
export interface CardReader {
  /** Identifies the model and the version of the instructions: if it changes, cards are evaluated again. */
  version: string;
  /** The valid results for cards. */
  read(rule: ReadingRule, cards: readonly OutgoingCard[]): Promise<Reading[]>;
  state(): RunModelState;
}

/** The number of cards that a rule applies to, of cards sent to the model in this scan, and of cards without a result. */
export interface ReadCounts {
  cards: number;
  asked: number;
  unread: number;
}

export interface ReadStep extends RuleStep {
  counts: ReadCounts;
}

/**
 * Processes the next cards by a rule that needs a language model. The stored result of a card is used as long as its
 * texts are unchanged; findings of cards without a result are not changed.
 * @param asked called in the transaction that stores the results of a request.
 * @param ended called in the transaction that stores the findings.
 * @throws EstateError `validation_failed` if the metamodel lacks names that the rule uses.
 */
export async function executeReadingPage(
  job: AnalysisJob,
  reader: CardReader,
  source: Source,
  rule: ReadingRule,
  { today, place: { after, gaps } }: { today: string; place: RulePlace },
  asked: (work: { sql: Work['sql'] }) => Promise<void>,
  ended: (work: Work, step: ReadStep) => Promise<void>,
): Promise<void> {
  const { ctx } = job;
  const cards = await candidates(ctx.db, ctx.metamodel, rule, today, after ?? FIRST);
  const reached = cards.length === PAGE ? cards.at(-1)!.id : null;
  const outgoing = await outgoingFor(job, rule, cards);
  const known = await readings(ctx.db, source, [...outgoing.keys()]);
  const open: Digested[] = [];
  const read = new Map<string, Reading>();
  for (const card of outgoing.values()) {
    const digest = createHash('sha256')
      .update(JSON.stringify([reader.version, rule.question, card]))
      .digest('base64url');
    const before = known.get(card.id);
    if (before?.digest === digest) read.set(card.id, before);
    else open.push({ card, digest });
  }
  let count = 0;
  for (let from = 0; from < open.length && !reader.state().stopped; from += AT_ONCE) {
    const group = open.slice(from, from + AT_ONCE);
    const sent = group.map(({ card }) => card);
    const said = await reader.read(rule, sent);
    job.signal.throwIfAborted();
    for (const reading of said) read.set(reading.card_id, reading);
    count += said.length;
    await inTransaction(ctx.db, async (sql) => {
      await storeReadings(sql, source, group, said);
      await asked({ sql });
    });
  }
  await command(ctx, async (work) => {
    const upto = (await nextKnownPage(work, source, after ?? FIRST, reached)) ?? reached;
    const within = cards.filter(({ id }) => upto === null || id <= upto);
    const seen = within.flatMap((card): ScannedFinding[] => {
      const reading = read.get(card.id);
      return reading?.applies ? [{ card, content: contentOf(rule, reading) }] : [];
    });
    const unread = new Set(within.filter(({ id }) => !read.has(id)).map(({ id }) => id));
    const before = await readKnownFindings(work, source, after ?? FIRST, upto);
    const known = before.filter(({ card }) => !unread.has(card!.id));
    await ended(work, {
      place: { after: upto, gaps: gaps + seen.length },
      changes: await reconcileFindings(work, source, seen, known),
      counts: { cards: within.length, asked: count, unread: unread.size },
      more: upto !== null,
    });
  });
}

interface Digested {
  card: OutgoingCard;
  digest: string;
}

async function candidates(
  sql: Sql,
  metamodel: Metamodel,
  rule: ReadingRule,
  today: string,
  after: string,
): Promise<{ id: string; type: string }[]> {
  const applies = compileApplies(metamodel, rule.applies, today);
  return await query(sql).rows`select c.id, c.type from cards c
    where c.status = 'ACTIVE' and (${embed(applies)}) and c.id > ${after}::uuid
     order by c.id limit ${embed(PAGE)}`;
}

/**
 * The cards with the fields for the rule that may be sent to a model; never costs, since findings are visible without
 * `costs.view`.
 */
async function outgoingFor(
  { ctx }: AnalysisJob,
  rule: ReadingRule,
  cards: readonly { id: string }[],
): Promise<Map<string, OutgoingCard>> {
  const ai = await readSetting(ctx.db, 'ai');
  const ids = cards.map(({ id }) => id);
  const outgoing = await readOutgoingCards(ctx, ai, ids);
  return new Map(
    outgoing
      .filter(({ name, description }) => (rule.needsDescription ? description : (name ?? description)))
      .map((card) => [card.id, withoutCosts(ctx.metamodel, card)]),
  );
}

function withoutCosts(metamodel: Metamodel, { attributes, ...card }: OutgoingCard): OutgoingCard {
  const costs = metamodel.cardTypes.get(card.type)!.costKeys;
  const left = Object.entries(attributes ?? {}).filter(([key]) => !costs.includes(key));
  return left.length === 0 ? card : { ...card, attributes: Object.fromEntries(left) };
}

async function readings(
  sql: Sql,
  { regulation, rule_key }: Source,
  ids: readonly string[],
): Promise<Map<string, Reading & { digest: string }>> {
  const rows = await query(sql).rows`select card_id, digest, applies, quote, reason from compliance_readings
     where regulation = ${regulation} and rule_key = ${rule_key} and card_id = any(${ids}::uuid[])`;
  return new Map(rows.map((row: Reading & { digest: string }) => [row.card_id, row]));
}

async function storeReadings(
  sql: Work['sql'],
  { regulation, rule_key }: Source,
  group: readonly Digested[],
  said: readonly Reading[],
): Promise<void> {
  const digests = new Map(group.map(({ card, digest }) => [card.id, digest]));
  const rows = said.map((reading) => ({ ...reading, digest: digests.get(reading.card_id) }));
  await query(sql).run`insert into compliance_readings (regulation, rule_key, card_id, digest, applies, quote,
    reason)
     select ${regulation}, ${rule_key}, card_id, digest, applies, quote, reason
     from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(card_id uuid, digest text, applies boolean,
     quote text, reason text)
     on conflict (regulation, rule_key, card_id) do update set digest = excluded.digest,
     applies = excluded.applies,
       quote = excluded.quote, reason = excluded.reason, read_at = now()`;
}

const contentOf = (rule: ReadingRule, { quote, reason }: Reading): ScannedContent =>
  findingContent(rule, {
    status: 'review_needed',
    severity: rule.severity,
    gap_description: reason === null ? rule.gap : `${rule.gap} ${reason}`,
    evidence: `read by a language model: “${quote}”`,
    remediation: rule.remediation,
  });
