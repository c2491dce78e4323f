import { embed, query, violatedConstraint } from '../../../platform/database.ts';
import { EstateError, type FieldError } from '../../../platform/errors.ts';
import { retryWhile } from '../../../platform/retry.ts';
import { lockActiveUsers } from '../../access/users.store.ts';
import type { LinkedCard } from '../../collaboration/cards.access.ts';
import {
  closeSystemTodos,
  openNewSystemTodos,
  openSystemTodo,
  type SystemTodo,
} from '../../collaboration/todos/todos.system.ts';
import { RISK_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { type EventDraft, rowChanges, rowEvent } from '../../kernel/events/row-changes.ts';
import { lockItem } from '../../kernel/resources/items.ts';
import { insertRows } from '../../kernel/resources/rows.ts';
import { riskText } from './risks.list.ts';
import {
  type CardRole,
  type OccurrenceRow,
  RISKS_TOPIC,
  Risk,
  RiskCard,
  type RiskCardRow,
  type RiskRow,
  type TaskRow,
} from './risks.model.ts';
import { currentLevel, isSettled } from './risks.rules.ts';

/** The cards in whose histories an event shows. */
const shownOn = (cardIds: readonly string[]) => (cardIds.length === 0 ? {} : { card_ids: cardIds });

/** The members of events that describe a risk. */
const summaryOf = (risk: RiskRow) => ({
  risk_id: risk.id,
  reference: risk.reference,
  title: risk.title,
  status: risk.status,
  level: currentLevel(risk),
  category: risk.category,
  owner_id: risk.owner_id,
  created_by: risk.created_by,
  link: riskLink(risk.id),
  summary: `${risk.reference}: ${risk.title}`,
});

/** The page of the application that shows a risk. */
export const riskLink = (id: string): string => `/risks/${id}`;

/** The event of one written risk, in the histories of the cards that it is linked to. */
export function riskEvent(
  before: RiskRow | null,
  after: RiskRow | null,
  cardIds: readonly string[] = [],
): EventDraft {
  const row = (after ?? before)!;
  return rowEvent('risk', before, after, { id: row.id, ...summaryOf(row), ...shownOn(cardIds) });
}

/**
 * The event of one written link of a risk to a card, in the card's history.
 * @param risk undefined if a merge of cards deletes a link, because only the rows are available.
 */
export function riskCardEvent(
  card: LinkedCard,
  risk: RiskRow | undefined,
  before: RiskCardRow | null,
  after: RiskCardRow | null,
): EventDraft {
  const { id, risk_id, role } = (after ?? before)!;
  const kind = before === null ? 'added' : after === null ? 'removed' : 'role_changed';
  const data = { id, risk_id, ...(risk && summaryOf(risk)), role, changes: rowChanges(before, after) };
  return { event_type: `risk.${kind}`, card_id: card.id, card_type: card.type, data };
}

/** The event of one written mitigation task, in the histories of its risk's cards. */
export function taskEvent(
  before: TaskRow | null,
  after: TaskRow | null,
  cardIds: readonly string[],
): EventDraft {
  const { id, risk_id, reference, title } = (after ?? before)!;
  const data = { id, task_id: id, risk_id, reference, title, ...shownOn(cardIds) };
  return rowEvent('risk_mitigation_task', before, after, data);
}

/** The event of one written occurrence of a task, in the histories of its risk's cards. */
export function occurrenceEvent(
  { id: task_id, risk_id, reference, title }: TaskRow,
  before: OccurrenceRow | null,
  after: OccurrenceRow | null,
  cardIds: readonly string[],
): EventDraft {
  const { id, sequence, status, due_date, assigned_owner_id } = (after ?? before)!;
  const task = { task_id, risk_id, reference, title };
  const occurrence = { id, sequence, status, due_date, assigned_owner_id };
  const data = { ...task, ...occurrence, ...shownOn(cardIds), changes: rowChanges(before, after) };
  return { event_type: `risk_mitigation_task.${occurrenceVerb(before, after)}`, data };
}

const verbs = { open: 'activated', done: 'completed', skipped: 'skipped' } as const;

function occurrenceVerb(before: OccurrenceRow | null, after: OccurrenceRow | null) {
  if (before === null) return 'occurrence_added';
  if (after === null) return 'occurrence_removed';
  const { status } = after;
  return status === before.status || status === 'scheduled' ? 'occurrence_updated' : verbs[status];
}

const NUMBERING_LOCK = 7203058;
/** How often a command is retried when its reference was taken, which only a rollback causes. */
const ATTEMPTS = 3;

const kinds = {
  R: { table: 'risks', index: 'risks_reference' },
  T: { table: 'risk_mitigation_tasks', index: 'risk_mitigation_tasks_reference' },
} as const;

/**
 * The next references of a kind, such as `R-000042`: consecutive, because a lock until the end of the transaction serialises
 * commands that assign one. Commands acquire this lock last.
 */
export async function nextReferences(
  { sql }: Work,
  kind: keyof typeof kinds,
  count: number,
): Promise<string[]> {
  await query(sql).run`select pg_advisory_xact_lock(${NUMBERING_LOCK})`;
  const rows = await query(sql).rows`select coalesce(max(substr(reference, 3)::integer), 0) as last
    from ${embed(kinds[kind].table)}`;
  return Array.from({ length: count }, (_, n) => `${kind}-${String(rows[0].last + n + 1).padStart(6, '0')}`);
}

/** Runs a command that assigns references, and retries it if a rollback has restored one of them. */
export async function withReferences<T>(run: () => Promise<T>): Promise<T> {
  const isTaken = (error: unknown) => {
    const violated = violatedConstraint(error);
    return Object.values(kinds).some(({ index }) => index === violated);
  };
  return await retryWhile(ATTEMPTS, isTaken, run);
}

/** The to-do of the owner of a risk, which is only visible to the owner. */
const ownerTodo = (risk: RiskRow): SystemTodo & { card: null } => ({
  topic: RISK_TOPIC,
  subjectId: risk.id,
  assignedTo: risk.owner_id!,
  description: `See to the risk ${risk.reference}: ${risk.title}`,
  card: null,
  dueDate: risk.target_resolution_date,
  link: riskLink(risk.id),
});

/** Updates the to-do of the owner: withdrawn from a former owner, done when the risk is settled. */
export async function updateOwnerTodo(work: Work, before: RiskRow, after: RiskRow): Promise<void> {
  const subject = { topic: RISK_TOPIC, subjectId: after.id };
  if (before.owner_id !== null && before.owner_id !== after.owner_id) {
    await closeSystemTodos(work, { ...subject, assignedTo: before.owner_id }, 'withdrawn');
  }
  if (after.owner_id === null) return;
  if (!isSettled(after.status)) await openSystemTodo(work, ownerTodo(after));
  else if (!isSettled(before.status)) await closeSystemTodos(work, subject);
}

/** A risk, locked, with the cards that it is linked to. */
export interface LoadedRisk {
  row: RiskRow;
  cardIds: string[];
}

/** A risk, locked. @throws EstateError `not_found`, `precondition_failed`. */
export async function lockRisk(work: Work, ctx: Ctx, id: string): Promise<LoadedRisk> {
  const { sql } = work;
  const row = await lockItem(work, ctx, Risk, { id }, 'risk', (of) => riskText(sql, ctx, of));
  return { row, cardIds: await sql('risk_cards').where({ risk_id: row.id }).orderBy('id').pluck('card_id') };
}

/** @throws EstateError `wrong_state` for a closed risk. */
export function requireOpen({ status }: RiskRow): void {
  if (status !== 'closed') return;
  throw new EstateError('wrong_state', 'The risk is closed; open it again first.', {
    extra: { risk_status: status },
  });
}

/**
 * Normalises the title and the owner of a risk or task in place. Blank titles, and newly assigned owners who are unknown or
 * not active, are validation errors.
 */
export async function checkTitleAndOwner(
  { sql }: Work,
  values: { title?: string; owner_id?: string | null },
  before: { owner_id: string | null } | null,
  errors: FieldError[],
): Promise<void> {
  if (values.title !== undefined) {
    values.title = values.title.trim();
    if (values.title === '') errors.push({ field: 'title', code: 'required', message: 'must not be blank' });
  }
  if (typeof values.owner_id !== 'string') return;
  const id = values.owner_id.toLowerCase();
  values.owner_id = id;
  if (id === before?.owner_id) return;
  if ((await lockActiveUsers(sql, [id])).has(id)) return;
  errors.push({ field: 'owner_id', code: 'unknown_user', message: 'is not an active user' });
}

/** The values of columns that a new risk may leave out. */
const NEW_RISK = {
  description: '',
  category: 'operational',
  source_type: 'manual',
  source_ref: null,
  initial_probability: 'medium',
  initial_impact: 'medium',
  residual_probability: null,
  residual_impact: null,
  owner_id: null,
  target_resolution_date: null,
  status: 'identified',
  acceptance_rationale: null,
  accepted_by: null,
  accepted_at: null,
} as const satisfies Partial<RiskRow>;

/** A risk to be inserted; absent columns get their defaults. */
export interface RiskDraft {
  values: Partial<RiskRow> & { title: string };
  cards: readonly LinkedCard[];
}

/**
 * Inserts risks with their links to cards and the to-dos of their owners, in a fixed number of statements. The cards must be
 * locked.
 * @returns the rows, in the order of the drafts.
 */
export async function addRisks(work: Work, ctx: Ctx, drafts: readonly RiskDraft[]): Promise<RiskRow[]> {
  if (drafts.length === 0) return [];
  const references = await nextReferences(work, 'R', drafts.length);
  const rows = drafts.map(({ values }, n) => ({
    ...NEW_RISK,
    ...values,
    reference: references[n]!,
    created_by: ctx.caller.userId,
  }));
  const risks = await insertRows(work.sql, Risk, rows);
  for (const risk of risks) work.emit(riskEvent(null, risk));
  work.raise(RISKS_TOPIC);
  const links = risks.flatMap((risk, n) => drafts[n]!.cards.map((card) => ({ risk, card })));
  await addLinks(work, links, 'affected');
  await openNewSystemTodos(
    work,
    risks.filter(({ owner_id, status }) => owner_id !== null && !isSettled(status)).map(ownerTodo),
  );
  return risks;
}

/** Links risks to cards with which they are not yet linked. */
export async function addLinks(
  work: Work,
  links: readonly { risk: RiskRow; card: LinkedCard }[],
  role: CardRole,
): Promise<void> {
  if (links.length === 0) return;
  const values = links.map(({ risk, card }) => ({ risk_id: risk.id, card_id: card.id, role }));
  const rows = await insertRows(work.sql, RiskCard, values);
  const risks = new Map(links.map(({ risk }) => [risk.id, risk]));
  const cards = new Map(links.map(({ card }) => [card.id, card]));
  for (const row of rows) {
    work.emit(riskCardEvent(cards.get(row.card_id)!, risks.get(row.risk_id)!, null, row));
  }
}
