import Type, { type Static } from 'typebox';
import { type ErrorCode, EstateError, errorCodes, invalidField } from '../../../platform/errors.ts';
import { createAdrWithin } from '../../governance/adr/adr.commands.ts';
import { checkedContent, insertLinks, MAX_LINKS } from '../../governance/adr/adr.kind.ts';
import { readMadr } from '../../governance/adr/madr.ts';
import { createCardsWithin } from '../../inventory/cards/bulk/bulk.create.ts';
import { patchEachWithin } from '../../inventory/cards/bulk/bulk.each.ts';
import { loadCards, lockCards } from '../../inventory/cards/cards.load.ts';
import type { CardPatch } from '../../inventory/cards/cards.write.ts';
import type { Lifecycle } from '../../inventory/cards/rules/diff.ts';
import { guardDuplicates } from '../../inventory/relations/relations.admit.ts';
import { type BulkOperation, bulkRelationsWithin } from '../../inventory/relations/relations.bulk.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { updateRow } from '../../kernel/resources/rows.ts';
import { object, Uuid } from '../../kernel/shapes.ts';
import { answersOf } from '../architect/architect.answers.ts';
import type { SessionInput } from '../architect/architect.input.ts';
import { optionTitle } from '../architect/architect.options.ts';
import { type OptionId, optionIds } from '../architect/architect.types.ts';
import { findRelationType, INITIATIVE, OBJECTIVE } from '../architect/architect.words.ts';
import { Assessment, assessmentEvent, lockAssessment, requireSaved } from './assessments.commands.ts';
import { type CommitInput, type CommitPlan, planCommit } from './assessments.plan.ts';

/** The result of a commit. */
export const CommittedSchema = object(
  {
    initiative_id: Uuid,
    card_ids: Type.Array(Uuid, { description: 'In the order of `selectedCardIds`' }),
    relation_ids: Type.Array(Uuid, {
      description: 'The chosen relations, then those of the initiative, including existing ones',
    }),
    adr_id: Type.String({ ...Uuid, description: 'The draft as a decision record, linked to the cards' }),
    decision_draft: Type.String({ description: 'Markdown; stored with the session' }),
  },
  { $id: 'CommittedAssessment' },
);
type Committed = Static<typeof CommittedSchema>;

/**
 * Commits a session in one transaction, and so in one mutation batch: it creates an initiative, the chosen cards and
 * relations of its architecture, and the draft of a decision. Rolling the batch back makes it a saved session again.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` the second time, `validation_failed`, `sibling_name_taken`,
 * `cardinality_exceeded`.
 */
export async function commitAssessment(ctx: Ctx, input: CommitInput): Promise<Committed> {
  for (const key of ['ai_analysis.manage', 'inventory.create', 'relations.manage', 'adr.manage'] as const) {
    requirePermission(ctx.caller, key);
  }
  return await guardDuplicates(() =>
    command(ctx, async (work) => {
      const before = await lockAssessment(work, ctx, input.assessmentId);
      requireSaved(before);
      const session = before.session_data;
      const plan = planCommit(input, session);
      const ids = await createNew(work, ctx, input, plan, before.requirement);
      await changeExisting(work, ctx, input, plan);
      const relation_ids = await relate(work, ctx, input, plan, ids);
      const initiative_id = ids.get(INITIATIVE)!;
      const decision_draft = decisionDraft({
        input,
        plan,
        requirement: before.requirement,
        session,
        objectives: await namesOf(work, input.objectiveIds ?? []),
        day: new Date().toISOString().slice(0, 10),
      });
      const values = { status: 'committed', initiative_id, decision_draft } as const;
      work.emit(assessmentEvent(before, await updateRow(work.sql, Assessment, { id: before.id }, values)));
      const card_ids = input.selectedCardIds.map((id) => ids.get(id.toLowerCase()) ?? id.toLowerCase());
      const adr_id = await createDecision(work, ctx, plan.name, decision_draft, [initiative_id, ...card_ids]);
      return { initiative_id, card_ids, relation_ids, adr_id, decision_draft };
    }),
  );
}

/** Creates a decision record with the draft, linked to the cards. @returns its id. */
async function createDecision(
  work: Work,
  ctx: Ctx,
  title: string,
  draft: string,
  cardIds: string[],
): Promise<string> {
  const adr = await createAdrWithin(work, ctx, checkedContent({ ...readMadr(draft).input, title }));
  const cards = await work
    .sql('cards')
    .whereIn('id', cardIds)
    .orderBy('id')
    .limit(MAX_LINKS)
    .select('id', 'type');
  await insertLinks(work, ctx, adr, cards);
  return adr.id;
}

/** Creates the initiative and the new cards. @returns their ids by proposed id, the initiative's by its type. */
async function createNew(
  work: Work,
  ctx: Ctx,
  { startDate, endDate }: CommitInput,
  plan: CommitPlan,
  requirement: string,
): Promise<Map<string, string>> {
  const fields = work.metamodel.cardTypes.get(INITIATIVE)?.fields;
  const dates = Object.entries({ startDate, endDate }).filter(([key]) => {
    const field = fields?.get(key);
    return field?.type === 'date' && !field.readonly;
  });
  const rows = [
    {
      type: INITIATIVE,
      name: plan.name,
      description: requirement,
      attributes: Object.fromEntries(dates),
      lifecycle: { plan: startDate, active: startDate, endOfLife: endDate },
    },
    ...plan.made.map(({ card, name }) => ({
      type: card.type,
      subtype: card.subtype ?? null,
      name,
      description: card.description ?? null,
      attributes: card.attributes ?? {},
      lifecycle: { plan: startDate, active: endDate },
    })),
  ];
  const drafts = rows.map((row, row_index) => ({ ...row, row_index }));
  const results = await createCardsWithin(work, ctx, drafts);
  const fieldAt = (n: number) => (n === 0 ? 'initiativeName' : plan.made[n - 1]!.field);
  const ids = new Map<string, string>();
  for (const [n, { id, code, error }] of results.entries()) {
    if (id === null) throw refused(fieldAt(n), rows[n]!.name, code!, error!);
    ids.set(n === 0 ? INITIATIVE : plan.made[n - 1]!.card.id.toLowerCase(), id);
  }
  return ids;
}

/** The error of a refused part: conflicts keep their code, others become validation errors. */
function refused(field: string, what: string, code: string, message: string): EstateError {
  const known = code in errorCodes && errorCodes[code as ErrorCode].status !== 422;
  const text = `${what}: ${message}`;
  return known
    ? new EstateError(code as ErrorCode, text, { extra: { field } })
    : invalidField(field, code, text);
}

/** Changes the chosen existing cards; the end of life of retired ones is the end of the initiative. */
async function changeExisting(work: Work, ctx: Ctx, input: CommitInput, plan: CommitPlan): Promise<void> {
  const ids = plan.touched.map(({ id }) => id);
  if (ids.length === 0) return;
  await lockCards(work, ids);
  const stored = await loadCards(work, ctx, ids);
  const rows = plan.touched.map(({ card, id, field }) => {
    const present = stored.get(id);
    if (!present) throw invalidField(field, 'unknown_card', `${card.name} no longer exists`);
    const patch: CardPatch = {};
    if (Object.keys(card.attributes ?? {}).length > 0) patch.attributes = card.attributes!;
    if (card.change === 'retired') patch.lifecycle = endingPhases(present.lifecycle, input);
    return { card_id: id, patch };
  });
  for (const [n, error] of (await patchEachWithin(work, ctx, rows)).entries()) {
    if (!error) continue;
    const { field, card } = plan.touched[n]!;
    if (error.status !== 422) throw error;
    throw refused(field, card.name, error.errors?.[0]?.code ?? error.code, error.message);
  }
}

/** The phases of a retired card: its end of life is the end of the initiative, or its present one if earlier. */
function endingPhases(
  present: Lifecycle | null,
  { startDate, endDate }: CommitInput,
): Record<string, string> {
  const endOfLife =
    present?.endOfLife !== undefined && present.endOfLife < endDate ? present.endOfLife : endDate;
  const phaseOut = present?.phaseOut ?? (startDate < endOfLife ? startDate : endOfLife);
  return { phaseOut: phaseOut < endOfLife ? phaseOut : endOfLife, endOfLife };
}

/** Creates the chosen relations, and those of the initiative to its objectives and to the cards that it changes. */
async function relate(
  work: Work,
  ctx: Ctx,
  { objectiveIds }: CommitInput,
  plan: CommitPlan,
  ids: ReadonlyMap<string, string>,
): Promise<string[]> {
  const idOf = (id: string) => ids.get(id.toLowerCase()) ?? id.toLowerCase();
  const fields: string[] = [];
  const operations: BulkOperation[] = [];
  const add = (field: string, type: string, source: string, target: string) => {
    operations.push({
      row_index: operations.length,
      action: 'upsert',
      type,
      source: { id: source },
      target: { id: target },
    });
    fields.push(field);
  };
  for (const { relation, field } of plan.relations) {
    add(field, relation.type, idOf(relation.source_id), idOf(relation.target_id));
  }
  const initiative = ids.get(INITIATIVE)!;
  const join = (field: string, type: string, id: string) => {
    // A changed initiative is not related to the new one.
    const way = type === INITIATIVE ? undefined : findRelationType(work.metamodel, INITIATIVE, type);
    if (way)
      add(field, way.type.key, ...((way.forward ? [initiative, id] : [id, initiative]) as [string, string]));
  };
  for (const [n, id] of [...new Set((objectiveIds ?? []).map(idOf))].entries()) {
    join(`objectiveIds.${n}`, OBJECTIVE, id);
  }
  for (const { card, field } of [...plan.made, ...plan.touched]) join(field, card.type, idOf(card.id));
  const results = await bulkRelationsWithin(work, ctx, operations);
  for (const [n, { status, code, error }] of results.entries()) {
    if (status === 'failed') throw refused(fields[n]!, 'The relation', code!, error!);
  }
  return [...new Set(results.flatMap(({ relation_id }) => relation_id ?? []))];
}

async function namesOf({ sql }: Work, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  return await sql('cards').whereIn('id', ids).orderBy(['name_key', 'id']).pluck('name');
}

/** The contents of a draft. */
interface DraftSource {
  input: CommitInput;
  plan: CommitPlan;
  requirement: string;
  session: Record<string, unknown>;
  objectives: string[];
  /** YYYY-MM-DD */
  day: string;
}

/** User input within a line of Markdown, with markup escaped. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>#|~!]/g, '\\$&');

const list = (items: string[], none: string): string =>
  items.length > 0 ? items.map((item) => `* ${item}`).join('\n') : none;

/**
 * The draft of a decision record in Markdown, with the sections of MADR 4. It contains no costs, since all readers of
 * sessions can read it.
 */
function decisionDraft({ input, plan, requirement, session, objectives, day }: DraftSource): string {
  const answers = answersOf(session as SessionInput);
  const stored = session as {
    selectedOption?: { id?: string } | null;
    architecture?: { option?: string } | null;
  };
  const chosen = stored.selectedOption?.id ?? stored.architecture?.option;
  const option = optionIds.find((id) => id === chosen);
  const drivers = [
    ...objectives.map((name) => `Objective: ${plain(name)}`),
    ...(answers.get('drivers') ?? []).map(plain),
    ...(answers.get('success') ?? []).map((text) => `Success is seen by: ${plain(text)}`),
  ];
  const cards = (change: string): string[] =>
    [
      ...plan.made.map(({ card, name }) => ({ ...card, name })),
      ...plan.touched.map(({ card }) => card),
    ].flatMap((card) =>
      card.change === change
        ? `${plain(card.name)}${card.reasons?.length ? `: ${card.reasons.map(plain).join(' ')}` : ''}`
        : [],
    );
  const consequences = [
    ...cards('new').map((text) => `New: ${text}`),
    ...cards('changed').map((text) => `Changed: ${text}`),
    ...cards('retired').map((text) => `Retired by ${input.endDate}: ${text}`),
  ];
  const paragraphs = requirement.split(/\n\s*\n/).map(plain);
  return `---
status: proposed
date: ${day}
---

# ${plain(plan.name)}

## Context and Problem Statement

${paragraphs.join('\n\n')}

## Decision Drivers

${list(drivers, 'None was named.')}

## Considered Options

${list(optionIds.map(optionTitle), '')}

## Decision Outcome

${outcome(option)} It is carried out as the initiative ${plain(plan.name)} from ${input.startDate} to ${input.endDate}.

### Consequences

${list(consequences, 'No card changes.')}

### Confirmation

${list((answers.get('success') ?? []).map(plain), 'The initiative ends with every chosen card as planned.')}
`;
}

const outcome = (option: OptionId | undefined): string =>
  option ? `Chosen option: "${optionTitle(option)}".` : 'The option is the one that the session proposes.';
